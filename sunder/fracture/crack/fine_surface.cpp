#include "sunder/fracture/crack/fine_surface.h"

#include "sunder/base/error.h"
#include "sunder/cut/cut.h"
#include "sunder/fracture/crack/crack_knife.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mesh_report.h"

#include <algorithm>
#include <iterator>

namespace sunder::fracture {

namespace {

using Group = CrackSheets::Group;

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

bool FineSurface::partOff(FinePiece& rest, FinePiece& piece, const CrackSheets& sheets,
                          std::span<const Group> groups, uint32_t attempt) const {
  const Attempt& how = kAttempts[attempt];
  const CrackSheet sheet = sheets.between(groups, how.parts);
  // Those around it are gone: it is a part of its own already.
  if (sheet.mesh.triangles.empty()) return takePart(rest, piece, sheets, groups);
  geometry::TriMesh knife =
      crackKnife(sheet, rest.mesh,
                 {.margin = how.margin * edge_, .farthest = kFarthest * edge_, .straight = how.straight});
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
        const bool parted = partOff(rest, pieces[p], sheets, groups, attempt);
        groups[p] = parted ? Group::None : Group::Second;
        return parted;
      });
    if (gone == left.end()) break;
    left.erase(gone);
  }
  coarse = left.size() == 1 ? 0 : left.size();
  if (left.size() == 1) pieces[left[0]] = std::move(rest);
  return pieces;
}

}  // namespace sunder::fracture
