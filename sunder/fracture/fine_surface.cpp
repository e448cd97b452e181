#include "sunder/fracture/fine_surface.h"

#include "sunder/base/error.h"
#include "sunder/cut/cut.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/sdf/mesh_field.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace sunder::fracture {

namespace {

using Group = CrackSheets::Group;

constexpr int kSamples = 10, kRounds = 24, kEvenings = 3;
constexpr double kFarthest = 3;  // edges that a rim goes on at most
// One try after the other: edges that a rim goes on beyond the mesh; how much it keeps the sheet's direction;
// into how many parts its edges are cut, as between their ends the mesh may bulge; and how far the whole
// sheet is moved, which helps where a mesh folds over by rounding just there.
struct Attempt {
  double margin, straight;
  uint32_t parts;
  double move;
};
constexpr Attempt kAttempts[] = {{0.04, 1, 4, 0},    {0.02, 0.3, 6, 1e-5}, {0.1, 3, 2, -2e-4},
                                 {0.04, 0, 3, 1e-4}, {0.01, 1, 8, -1e-5},  {0.03, 6, 1, 1e-3},
                                 {0.2, 1, 1, -1e-3}};

// Triangles of a cut's result in the order of the result, for the fragments that are chosen.
FinePiece collect(const cut::CutResult& result, const FinePiece& from, std::span<const uint8_t> chosen,
                  uint8_t which) {
  FinePiece out;
  std::vector<uint32_t> number(result.mesh.positions.size(), kNoIndex);
  const auto& corners = result.mesh.corners;
  for (size_t f = 0; f < result.fragment.size(); ++f) {
    if (chosen[result.fragment[f]] != which) continue;
    geometry::Triangle triangle;
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t v = corners[3 * f + k];
      if (number[v] == kNoIndex) {
        number[v] = uint32_t(out.mesh.positions.size());
        out.mesh.positions.push_back(result.mesh.positions[v]);
      }
      triangle[k] = number[v];
    }
    out.mesh.triangles.push_back(triangle);
    out.interior.push_back(result.fromCutter[f] ? 1 : from.interior[result.sourceFace[f]]);
  }
  return out;
}

// Which way rims go on: the shortest one out of the mesh, seen from a little further on, mixed with that of
// the sheet. Where cracks cross and a piece beyond is gone already, the way straight on would run along the
// face of the next one; this one turns away from it. Made even along the rim, so that a skirt does not cross
// itself.
std::vector<Vec3> directions(const CrackSheet& sheet, const sdf::Field& field, double margin,
                             double straight) {
  std::vector<Vec3> out(sheet.rim.size());
  for (size_t r = 0; r < out.size(); ++r) {
    const CrackSheet::RimVertex& v = sheet.rim[r];
    const Vec3 shortest = field.sample(sheet.mesh.positions[v.vertex] + 0.5 * margin * v.outward).gradient;
    out[r] = (shortest + straight * v.outward).normalized();
  }
  std::vector<Vec3> sum;
  for (int round = 0; round < kEvenings; ++round) {
    sum = out;
    for (const auto& [a, b] : sheet.rimEdges) {
      sum[a] += 0.5 * out[b];
      sum[b] += 0.5 * out[a];
    }
    for (size_t r = 0; r < out.size(); ++r)
      if (sum[r].squaredNorm() > 0) out[r] = sum[r].normalized();
  }
  return out;
}

// The sheet with a skirt along its rim that ends outside of the mesh.
geometry::TriMesh cutter(const CrackSheet& sheet, const sdf::Field& field, const Attempt& attempt,
                         double edge) {
  const double margin = attempt.margin * edge;
  geometry::TriMesh out = sheet.mesh;
  const auto first = uint32_t(out.positions.size());
  const std::vector<Vec3> outward = directions(sheet, field, margin, attempt.straight);
  for (size_t r = 0; r < outward.size(); ++r)
    out.positions.push_back(sheet.mesh.positions[sheet.rim[r].vertex] + margin * outward[r]);
  // What is still inside goes on along its own shortest way.
  struct Push {
    double way = 0;
    Vec3 along = Vec3::Zero();
  };
  std::vector<Push> pushes(outward.size());
  std::vector<uint8_t> moved(outward.size(), 1);
  bool some = true;
  for (int round = 0; some && round < kRounds; ++round) {
    std::fill(pushes.begin(), pushes.end(), Push{});
    some = false;
    for (const auto& [a, b] : sheet.rimEdges) {
      if (!moved[a] && !moved[b]) continue;
      for (int k = 0; k < kSamples; ++k) {  // the other end is the next edge's
        const double part = double(k) / kSamples;
        const sdf::FieldSample at =
            field.sample((1 - part) * out.positions[first + a] + part * out.positions[first + b]);
        if (at.value >= 0.5 * margin) continue;
        const double way = margin - at.value;
        if (way > pushes[a].way) pushes[a] = {way, at.gradient};
        if (k > 0 && way > pushes[b].way) pushes[b] = {way, at.gradient};
        some = true;
      }
    }
    for (size_t r = 0; r < pushes.size(); ++r) {
      moved[r] = pushes[r].way > 0;
      if (!moved[r]) continue;
      const Vec3 from = sheet.mesh.positions[sheet.rim[r].vertex];
      Vec3& p = out.positions[first + r];
      p += pushes[r].way * (pushes[r].along + attempt.straight * outward[r]).normalized();
      if ((p - from).norm() > kFarthest * edge) p = from + kFarthest * edge * (p - from).normalized();
    }
  }
  for (const auto& [a, b] : sheet.rimEdges) {
    const uint32_t u = sheet.rim[a].vertex, v = sheet.rim[b].vertex;
    out.triangles.push_back({v, u, first + a});
    out.triangles.push_back({v, first + a, first + b});
  }
  return out;
}

// How much of a part of a mesh lies where the first group is, by the cells nearest to some of its vertices.
double shareOfFirst(std::span<const uint32_t> vertices, std::span<const Vec3> positions,
                    const CrackSheets& sheets, std::span<const Group> groups) {
  constexpr size_t kVotes = 48;
  const size_t stride = 1 + vertices.size() / kVotes;
  size_t all = 0, first = 0;
  for (size_t i = 0; i < vertices.size(); i += stride, ++all)
    first += groups[sheets.nearest(positions[vertices[i]], groups)] == Group::First;
  return all == 0 ? 0 : double(first) / double(all);
}

// Moves the connected parts of `rest` that lie where the first group is: most of their vertices do, or more
// than of any other part.
bool takePart(FinePiece& rest, FinePiece& piece, const CrackSheets& sheets, std::span<const Group> groups) {
  const geometry::Components parts =
      geometry::faceComponents(geometry::MeshView(rest.mesh), geometry::Connect::Vertices);
  if (parts.count < 2) return false;
  std::vector<std::vector<uint32_t>> vertices(parts.count);
  for (size_t t = 0; t < rest.mesh.triangles.size(); ++t)
    vertices[parts.label[t]].push_back(rest.mesh.triangles[t][0]);
  std::vector<double> share;
  for (const std::vector<uint32_t>& v : vertices)
    share.push_back(shareOfFirst(v, rest.mesh.positions, sheets, groups));
  const double least = std::min(0.5, *std::max_element(share.begin(), share.end()));
  if (least <= 0) return false;
  FinePiece out[2];
  std::vector<uint32_t> number(rest.mesh.positions.size(), kNoIndex);
  for (size_t t = 0; t < rest.mesh.triangles.size(); ++t) {
    FinePiece& to = out[share[parts.label[t]] >= least];
    geometry::Triangle triangle = rest.mesh.triangles[t];
    for (uint32_t& v : triangle) {
      if (number[v] == kNoIndex) {
        number[v] = uint32_t(to.mesh.positions.size());
        to.mesh.positions.push_back(rest.mesh.positions[v]);
      }
      v = number[v];
    }
    to.mesh.triangles.push_back(triangle);
    to.interior.push_back(rest.interior[t]);
  }
  if (out[0].mesh.triangles.empty()) return false;
  rest = std::move(out[0]);
  piece = std::move(out[1]);
  return true;
}

}  // namespace

FineSurface::FineSurface(geometry::TriMesh mesh, double edge) : whole_{std::move(mesh), {}}, edge_(edge) {
  const geometry::MeshReport report = geometry::meshReport(geometry::MeshView(whole_.mesh));
  if (!report.watertight || !report.consistentlyOriented || report.insideOut)
    throw Error(ErrorKind::Geometry, "the mesh is not closed with its faces outward")
        .hint("repair it, or do without a fine surface");
  whole_.interior.assign(whole_.mesh.triangles.size(), 0);
}

bool FineSurface::partOff(FinePiece& rest, const sdf::Field& field, FinePiece& piece,
                          const CrackSheets& sheets, std::span<const Group> groups, uint32_t attempt) const {
  const Attempt& how = kAttempts[attempt];
  const CrackSheet sheet = sheets.between(groups, how.parts);
  // Those around it are gone: it is a part of its own already.
  if (sheet.mesh.triangles.empty()) return takePart(rest, piece, sheets, groups);
  geometry::TriMesh knife = cutter(sheet, field, how, edge_);
  for (Vec3& p : knife.positions) p += how.move * edge_ * Vec3(0.36, 0.48, 0.8);
  cut::CutResult result;
  try {
    result = cut::cut(rest.mesh, knife, {.op = cut::Op::Split, .triangles = true});
  } catch (const Error&) {
    return false;
  }
  // Fragments that only a skirt touches, or nothing, are where they are; the others lie below the sheet or
  // above. One that is on both sides has not been parted.
  std::vector<uint8_t> touched(result.fragments, 0);
  std::vector<std::vector<uint32_t>> vertices(result.fragments);
  for (size_t f = 0; f < result.fragment.size(); ++f) {
    vertices[result.fragment[f]].push_back(result.mesh.corners[3 * f]);
    if (result.fromCutter[f] && result.sourceFace[f] < sheet.mesh.triangles.size())
      touched[result.fragment[f]] = 1;
  }
  std::vector<uint8_t> first(result.fragments);
  bool both[2] = {false, false};
  for (uint32_t k = 0; k < result.fragments; ++k) {
    if (!touched[k])
      first[k] = shareOfFirst(vertices[k], result.mesh.positions, sheets, groups) >= 0.5;
    else if (result.above[k] && result.below[k])
      return false;
    else
      first[k] = result.below[k];
    both[first[k]] = true;
  }
  if (!both[0] || !both[1]) return false;
  piece = collect(result, rest, first, 1);
  rest = collect(result, rest, first, 0);
  return true;
}

std::vector<FinePiece> FineSurface::split(const FinePiece& parent, const CrackSheets& sheets) const {
  // One order may fail where another does not.
  std::vector<FinePiece> best;
  size_t fewest = 0;
  for (const Order order : {Order::Neighbours, Order::Number, Order::Area}) {
    size_t coarse = 0;
    std::vector<FinePiece> pieces = split(parent, sheets, order, coarse);
    if (best.empty() || coarse < fewest) {
      best = std::move(pieces);
      fewest = coarse;
    }
    if (fewest == 0) break;
  }
  return best;
}

std::vector<FinePiece> FineSurface::split(const FinePiece& parent, const CrackSheets& sheets, Order order,
                                          size_t& coarse) const {
  std::vector<FinePiece> pieces(sheets.pieces());
  std::vector<Group> groups(sheets.pieces(), Group::Second);
  std::vector<uint32_t> left(sheets.pieces());
  for (uint32_t p = 0; p < left.size(); ++p) left[p] = p;
  FinePiece rest = parent;
  std::unique_ptr<sdf::MeshField> field;  // of what is left
  const auto renew = [&] {
    field = std::make_unique<sdf::MeshField>(rest.mesh, sdf::SignRule::PseudoNormal);
  };
  renew();
  const auto before = [&](uint32_t a, uint32_t b) {
    const CrackSheets::Contact p = sheets.contact(a, groups), q = sheets.contact(b, groups);
    if (order == Order::Neighbours && p.pieces != q.pieces) return p.pieces < q.pieces;
    return order != Order::Number && p.area < q.area;
  };
  // Where a piece cannot be parted from the others another may have to go before it.
  while (left.size() > 1) {
    std::stable_sort(left.begin(), left.end(), before);
    auto gone = left.end();
    for (uint32_t attempt = 0; attempt < std::size(kAttempts) && gone == left.end(); ++attempt)
      gone = std::find_if(left.begin(), left.end(), [&](uint32_t p) {
        groups[p] = Group::First;
        const bool parted = partOff(rest, *field, pieces[p], sheets, groups, attempt);
        groups[p] = parted ? Group::None : Group::Second;
        return parted;
      });
    if (gone == left.end()) break;
    left.erase(gone);
    if (left.size() > 1) renew();
  }
  coarse = left.size() == 1 ? 0 : left.size();
  if (left.size() == 1) pieces[left[0]] = std::move(rest);
  return pieces;
}

}  // namespace sunder::fracture
