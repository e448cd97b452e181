// The file format .sdf of hp-adaptive fields; its layout is in docs/file-formats.md.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/hash.h"
#include "sunder/sdf/hp/hp_field.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace sunder::sdf {

namespace {

constexpr std::string_view kMagic = "SUNDSDF\n";
constexpr uint32_t kVersion = 1;
constexpr uint8_t kDeepest = 20;
constexpr size_t kHeader =
    kMagic.size() + 2 * sizeof(uint32_t) + sizeof(uint64_t);  // before the checked part
static_assert(HpField::kChecksumAt + sizeof(uint64_t) == kHeader);

void writeBox(ByteWriter& out, const Box3& box) {
  for (int d = 0; d < 3; ++d) out.f64(box.lower[d]);
  for (int d = 0; d < 3; ++d) out.f64(box.upper[d]);
}

Box3 readBox(ByteReader& in, const char* what) {
  Box3 box;
  for (int d = 0; d < 3; ++d) box.lower[d] = in.f64(what);
  for (int d = 0; d < 3; ++d) box.upper[d] = in.f64(what);
  return box;
}

template <class T>
std::vector<T> readArray(ByteReader& in, uint64_t count, const char* what) {
  in.need(count, sizeof(T), what);
  std::vector<T> values(count);
  in.readArray(std::span(values), what);
  return values;
}

// Whatever a damaged or hostile file says, queries must stay inside the arrays and end.
void checkForest(const ByteReader& in, const HpForest& f) {
  if (!f.domain.lower.allFinite() || !f.domain.upper.allFinite() || !(f.domain.extent().minCoeff() > 0))
    in.fail("the domain of the field is not a finite box with a volume");
  for (int d = 0; d < 3; ++d) {
    // Points are found by multiplying with cells per length, of the smallest cells too.
    const double perLength = std::ldexp(double(f.base[size_t(d)]), kDeepest) / f.domain.extent()[d];
    if (!std::isfinite(f.domain.extent()[d]) || !std::isfinite(perLength))
      in.fail("the cells of the field are too small or too large for double precision");
  }
  uint64_t base = 1;  // checked after each factor: the product of all three may not fit into 64 bits
  for (const uint32_t n : f.base) base = base > f.child.size() ? base : base * n;
  if (base == 0 || base > f.child.size() || (f.child.size() - base) % 8 != 0)
    in.fail("the number of nodes does not fit the base grid");
  const size_t leaves = f.leafCount();
  std::vector<uint8_t> used((f.child.size() - base) / 8, 0);
  size_t seen = 0;
  for (size_t node = 0; node < f.child.size(); ++node) {
    const int32_t c = f.child[node];
    if (c < 0) {
      if (static_cast<size_t>(-1 - int64_t(c)) != seen++)
        in.fail("node " + std::to_string(node) + " has a wrong leaf");
    } else {
      const auto first = static_cast<uint64_t>(c);
      if (first <= node || first < base || (first - base) % 8 != 0 || first + 8 > f.child.size() ||
          used[(first - base) / 8]++)
        in.fail("node " + std::to_string(node) + " has wrong children");
    }
  }
  std::vector<uint8_t> level(f.child.size(), 0);  // children come after their parents
  for (size_t node = 0; node < f.child.size(); ++node) {
    if (f.child[node] < 0) continue;
    if (level[node] >= kDeepest) in.fail("node " + std::to_string(node) + " is deeper than fields may be");
    std::fill_n(level.begin() + f.child[node], 8, static_cast<uint8_t>(level[node] + 1));
  }
  if (seen != leaves) in.fail("the number of leaves does not fit the nodes");
  uint64_t at = 0;
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    if (f.degree[leaf] > kLargestDegree) in.fail("leaf " + std::to_string(leaf) + " has too high a degree");
    if (f.begin[leaf] != at) in.fail("leaf " + std::to_string(leaf) + " has a wrong number of coefficients");
    at += coefficientCount(f.degree[leaf]);
  }
  if (f.begin[leaves] != at || at != f.coefficients.size())
    in.fail("the number of coefficients does not fit the leaves");
  for (size_t i = 0; i < f.coefficients.size(); ++i)
    if (!std::isfinite(f.coefficients[i])) in.fail("coefficient " + std::to_string(i) + " is not finite");
}

}  // namespace

void HpField::write(const std::filesystem::path& path) const {
  std::string body;
  ByteWriter out(body);
  writeBox(out, forest_.domain);
  writeBox(out, solid_);
  out.f64(targetError);
  out.f64(measuredError);
  out.f64(measuredMax);
  for (const uint32_t n : forest_.base) out.u32(n);
  out.u32(0);
  out.u64(forest_.child.size());
  out.u64(forest_.leafCount());
  out.u64(forest_.coefficients.size());
  out.writeArray(std::span(forest_.coefficients));
  out.writeArray(std::span(forest_.child));
  out.writeArray(std::span(forest_.begin));
  out.writeArray(std::span(forest_.degree));

  std::string head;
  ByteWriter header(head);
  header.string(kMagic);
  header.u32(kVersion);
  header.u32(0);
  header.u64(hash64(std::string_view(body)));
  OutputFile file(path);
  file.write(head);
  file.write(body);
  file.commit();
}

HpField HpField::read(const std::filesystem::path& path) {
  const InputFile file(path);
  return read(file.bytes(), path.string());
}

HpField HpField::read(std::span<const std::byte> bytes, const std::string& name) {
  ByteReader in(bytes, name);
  if (in.size() < kHeader || in.string(kMagic.size(), "the magic number") != kMagic)
    throw Error(ErrorKind::Format, "this is not a field of Sunder")
        .inFile(name)
        .atByte(0)
        .hint("fields are made by 'sunder sdf MESH -o FIELD.sdf'");
  if (const uint32_t version = in.u32("the version"); version != kVersion)
    in.fail("the field has version " + std::to_string(version) + ", this program reads version " +
            std::to_string(kVersion));
  in.u32("the header");
  const uint64_t checksum = in.u64("the checksum");
  if (hash64(bytes.subspan(kHeader)) != checksum)
    in.fail("the checksum does not fit: the file is damaged or cut off");

  HpField field;
  HpForest& f = field.forest_;
  f.domain = readBox(in, "the domain");
  field.solid_ = readBox(in, "the bounds");
  field.targetError = in.f64("the target error");
  field.measuredError = in.f64("the measured error");
  field.measuredMax = in.f64("the largest error");
  for (uint32_t& n : f.base) n = in.u32("the base grid");
  in.u32("the base grid");
  const uint64_t nodes = in.u64("the number of nodes"), leaves = in.u64("the number of leaves"),
                 coefficients = in.u64("the number of coefficients");
  f.coefficients = readArray<double>(in, coefficients, "the coefficients");
  f.child = readArray<int32_t>(in, nodes, "the nodes");
  in.need(leaves, sizeof(uint32_t), "the leaves");
  f.begin = readArray<uint32_t>(in, leaves + 1, "the leaves");
  f.degree = readArray<uint8_t>(in, leaves, "the degrees");
  if (!in.atEnd()) in.fail("there is more in the file than the field");
  checkForest(in, f);
  if (!field.solid_.lower.allFinite() || !field.solid_.upper.allFinite() ||
      !(field.solid_.extent().minCoeff() >= 0))
    in.fail("the bounds of the field are not a finite box");
  for (const double error : {field.targetError, field.measuredError, field.measuredMax})
    if (!(error >= 0) || !std::isfinite(error)) in.fail("an error of the field is not a length");
  field.prepare();
  return field;
}

}  // namespace sunder::sdf
