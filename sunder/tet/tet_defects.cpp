// What is wrong with a tetrahedral mesh, by index, and reading one from a file.
#include "sunder/base/error.h"
#include "sunder/base/index.h"
#include "sunder/geometry/duplicates.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/tet/tet_report.h"

#include <algorithm>
#include <iterator>

namespace sunder::tet {

namespace {

constexpr size_t kNamed = 5;  // numbers in a sentence

template <class List, class Name>
std::string firstFew(const List& list, Name&& name) {
  std::string text;
  for (size_t i = 0; i < std::min(list.size(), kNamed); ++i) text += (i ? ", " : "") + name(list[i]);
  if (list.size() > kNamed) text += ", ...";
  return text;
}

std::string plain(uint32_t i) { return std::to_string(i); }

struct FaceOf {
  geometry::Triangle face;  // ascending
  uint32_t tet;
  bool operator<(const FaceOf& o) const { return face != o.face ? face < o.face : tet < o.tet; }
};

}  // namespace

std::vector<std::string> TetDefects::problems() const {
  std::vector<std::string> text;
  const auto say = [&](size_t count, const std::string& what, const std::string& which) {
    if (count != 0) text.push_back(std::to_string(count) + " " + what + " (" + which + ")");
  };
  say(crowdedFaces.size(), "faces belong to more than two tetrahedra",
      firstFew(crowdedFaces, [](const auto& f) {
        return std::to_string(f.first[0]) + "-" + std::to_string(f.first[1]) + "-" +
               std::to_string(f.first[2]);
      }));
  say(duplicateTets.size(), "tetrahedra repeat an earlier one", firstFew(duplicateTets, plain));
  say(flat.size(), "tetrahedra are flat", firstFew(flat, plain));
  say(inverted.size(), "tetrahedra are inverted", firstFew(inverted, plain));
  say(duplicateVertices.size(), "vertices lie where an earlier one does",
      firstFew(duplicateVertices,
               [](const auto& p) { return std::to_string(p[0]) + " at " + std::to_string(p[1]); }));
  say(unusedVertices.size(), "vertices are in no tetrahedron", firstFew(unusedVertices, plain));
  return text;
}

TetDefects findDefects(const geometry::TetMesh& mesh) {
  geometry::requireValid(mesh);
  TetDefects found;
  std::vector<uint8_t> used(mesh.positions.size(), 0);
  std::vector<FaceOf> faces;
  faces.reserve(4 * mesh.tets.size());
  std::vector<std::pair<geometry::Tetrahedron, uint32_t>> sorted;
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    const geometry::Tetrahedron& tet = mesh.tets[t];
    for (const uint32_t v : tet) used[v] = 1;
    const int sign = geometry::sign(geometry::orient3d(mesh.positions[tet[0]], mesh.positions[tet[1]],
                                                       mesh.positions[tet[2]], mesh.positions[tet[3]]));
    if (sign < 0) found.inverted.push_back(t);
    if (sign == 0) found.flat.push_back(t);
    for (size_t side = 0; side < 4; ++side) {
      geometry::Triangle f = geometry::tetFace(tet, side);
      std::sort(f.begin(), f.end());
      faces.push_back({f, t});
    }
    sorted.emplace_back(tet, t);
    std::sort(sorted.back().first.begin(), sorted.back().first.end());
  }
  std::sort(faces.begin(), faces.end());
  for (size_t i = 0; i < faces.size();) {
    size_t j = i + 1;
    while (j < faces.size() && faces[j].face == faces[i].face) ++j;
    if (j - i > 2) {
      found.crowdedFaces.emplace_back(faces[i].face, std::vector<uint32_t>{});
      for (size_t k = i; k < j; ++k) found.crowdedFaces.back().second.push_back(faces[k].tet);
    }
    i = j;
  }
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].first == sorted[i - 1].first) found.duplicateTets.push_back(sorted[i].second);
  std::sort(found.duplicateTets.begin(), found.duplicateTets.end());
  const std::vector<uint32_t> same = geometry::coincidentVertices(mesh.positions);
  for (uint32_t v = 0; v < same.size(); ++v) {
    if (same[v] != v) found.duplicateVertices.push_back({v, same[v]});
    if (used[v] == 0) found.unusedVertices.push_back(v);
  }
  return found;
}

geometry::TetMesh readTetMesh(const std::filesystem::path& path, InvertedTets inverted,
                              TetFileReport& report) {
  report = {};
  meshio::MeshFile file = meshio::readMesh(path);
  report.notes = std::move(file.notes);
  geometry::TetMesh mesh = std::move(file.volume);
  if (mesh.tets.empty())
    throw Error(ErrorKind::Geometry, "there are no tetrahedra in the file")
        .inFile(path.string())
        .hint("a surface is filled with tetrahedra by fill()");
  report.defects = findDefects(mesh);
  // Readers turn what is inverted beyond rounding and remember which; the exact sign finds the rest.
  std::vector<uint32_t> hidden = std::move(report.defects.inverted);
  for (const uint32_t t : hidden) std::swap(mesh.tets[t][2], mesh.tets[t][3]);
  std::set_symmetric_difference(hidden.begin(), hidden.end(), file.turnedTets.begin(), file.turnedTets.end(),
                                std::back_inserter(report.defects.inverted));
  const TetDefects& d = report.defects;
  const auto refuse = [&](const std::string& what, const std::string& advice) {
    throw Error(ErrorKind::Geometry, what).inFile(path.string()).hint(advice);
  };
  if (!d.flat.empty())
    refuse("flat tetrahedra: " + firstFew(d.flat, plain), "remove them and mend their neighbours");
  if (!d.duplicateTets.empty())
    refuse("tetrahedra that repeat earlier ones: " + firstFew(d.duplicateTets, plain), "remove the copies");
  if (!d.crowdedFaces.empty())
    refuse("more than two tetrahedra share a face: " + firstFew(d.crowdedFaces.front().second, plain),
           "keep two of them");
  if (!d.inverted.empty() && inverted == InvertedTets::Refuse)
    refuse("inverted tetrahedra: " + firstFew(d.inverted, plain), "let them be turned, or swap two vertices");
  report.turned = d.inverted.size();
  return mesh;
}

}  // namespace sunder::tet
