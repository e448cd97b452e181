// The reader of fields (.sdf) on random bytes: it may return a field or throw sunder::Error, nothing else,
// and what it returns must answer anywhere without leaving its arrays. The checksum is made to fit, or no
// random bytes would get past it.
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/sdf/hp/hp_field.h"

#include <cstring>
#include <vector>

using namespace sunder;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  constexpr size_t kBody = sdf::HpField::kChecksumAt + sizeof(uint64_t);
  if (size >= kBody) {
    const uint64_t checksum = hash64(std::span<const std::byte>(bytes).subspan(kBody));
    std::memcpy(bytes.data() + sdf::HpField::kChecksumAt, &checksum, sizeof checksum);
  }
  try {
    const sdf::HpField field = sdf::HpField::read(bytes, "fuzz.sdf");
    const Box3& box = field.domain();
    std::vector<Vec3> points;
    for (int i = 0; i < 27; ++i) {
      const Vec3 share(0.5 * (i % 3), 0.5 * (i / 3 % 3), 0.5 * (i / 9));
      points.push_back(box.lower + share.cwiseProduct(box.extent()));
      points.push_back(box.lower + (1.37 * share - Vec3::Constant(0.21)).cwiseProduct(box.extent()));
    }
    for (const double far : {-1e300, -3.0, 0.0, 0.1, 1e300}) points.push_back(Vec3::Constant(far));
    std::vector<double> values(points.size());
    std::vector<sdf::FieldSample> samples(points.size());
    field.values(points, values);
    field.samples(points, samples);
  } catch (const Error&) {
  }
  return 0;
}
