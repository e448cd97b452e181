#include "sunder/geometry/mesh_report.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/duplicates.h"
#include "sunder/geometry/fans.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/orientation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::geometry {

namespace {

size_t note(Tally found, std::vector<uint32_t>& examples) {
  examples = std::move(found.first);
  return found.count;
}

size_t note(const Tally& found, const EdgeAdjacency& edges, std::vector<MeshReport::Edge>& examples) {
  for (uint32_t e : found.first) examples.push_back(edges.edges[e]);
  return found.count;
}

void countFaces(const MeshView& mesh, MeshReport& report) {
  auto withCorners = [&](auto&& test) {
    return tally(mesh.faceCount(), [&](size_t f) { return test(mesh.end(f) - mesh.begin(f)); }).count;
  };
  report.triangles = withCorners([](uint32_t n) { return n == 3; });
  report.quads = withCorners([](uint32_t n) { return n == 4; });
  report.polygons = withCorners([](uint32_t n) { return n > 4; });
  report.degenerateFaces =
      note(tally(mesh.faceCount(), [&](size_t f) { return repeatsVertex(mesh, f) || hasNoArea(mesh, f); }),
           report.examples.degenerateFaces);
}

void countVertices(const MeshView& mesh, MeshReport& report) {
  std::vector<uint8_t> used(mesh.positions.size(), 0);
  for (uint32_t v : mesh.corners) used[v] = 1;
  report.isolatedVertices =
      note(tally(used.size(), [&](size_t v) { return used[v] == 0; }), report.examples.isolatedVertices);
  const std::vector<uint32_t> same = coincidentVertices(mesh.positions);
  report.duplicateVertices =
      note(tally(same.size(), [&](size_t v) { return same[v] != v; }), report.examples.duplicateVertices);
  report.nonFiniteVertices =
      note(tally(used.size(), [&](size_t v) { return !mesh.positions[v].allFinite(); }),
           report.examples.nonFiniteVertices);
}

size_t countBoundaryLoops(const MeshView& mesh, const EdgeAdjacency& edges, const VertexFans& fans) {
  // Boundary edges that end at the same fan follow each other.
  DisjointSets sets(edges.size());
  std::vector<uint32_t> firstAtFan(fans.first.back(), kNoIndex);
  auto meet = [&](uint32_t fan, uint32_t edge) {
    if (firstAtFan[fan] == kNoIndex) {
      firstAtFan[fan] = edge;
    } else {
      sets.unite(firstAtFan[fan], edge);
    }
  };
  for (uint32_t e = 0; e < edges.size(); ++e) {
    const auto uses = edges.uses.row(e);
    if (uses.size() != 1) continue;
    meet(fans.cornerFan[uses[0].corner], e);
    meet(fans.cornerFan[mesh.next(uses[0].face, uses[0].corner)], e);
  }
  size_t loops = 0;
  for (uint32_t e = 0; e < edges.size(); ++e)
    loops += edges.uses.row(e).size() == 1 && sets.find(e) == e ? 1 : 0;
  return loops;
}

void examineEdges(const MeshView& mesh, const EdgeAdjacency& edges, MeshReport& report) {
  auto edgesWhere = [&](auto&& test, std::vector<MeshReport::Edge>& examples) {
    return note(tally(edges.size(), test), edges, examples);
  };
  report.edges = edges.size();
  report.boundaryEdges =
      edgesWhere([&](size_t e) { return edges.uses.row(e).size() == 1; }, report.examples.boundaryEdges);
  report.nonManifoldEdges =
      edgesWhere([&](size_t e) { return edges.uses.row(e).size() > 2; }, report.examples.nonManifoldEdges);
  report.flippedEdges =
      edgesWhere([&](size_t e) { return edges.uses.row(e).size() == 2 && !isRegular(mesh, edges, e); },
                 report.examples.flippedEdges);
  report.consistentlyOriented = report.flippedEdges == 0;
  report.orientable = report.consistentlyOriented || orientation(mesh, edges).orientable();

  const VertexFans fans = vertexFans(mesh, edges, FanEdges::All);
  report.nonManifoldVertices = note(tally(mesh.positions.size(), [&](size_t v) { return fans.count(v) > 1; }),
                                    report.examples.nonManifoldVertices);
  if (report.boundaryEdges != 0) report.boundaryLoops = countBoundaryLoops(mesh, edges, fans);

  struct Lengths {
    double least = std::numeric_limits<double>::infinity(), most = 0, sum = 0;
  };
  const Lengths lengths = parallelReduce(
      edges.size(), Lengths{},
      [&](size_t begin, size_t end) {
        Lengths l;
        for (size_t e = begin; e < end; ++e) {
          const double length =
              (mesh.positions[edges.edges[e][1]] - mesh.positions[edges.edges[e][0]]).norm();
          l.least = std::min(l.least, length);
          l.most = std::max(l.most, length);
          l.sum += length;
        }
        return l;
      },
      [](Lengths a, const Lengths& b) {
        return Lengths{std::min(a.least, b.least), std::max(a.most, b.most), a.sum + b.sum};
      });
  if (edges.size() != 0) {
    report.minEdge = lengths.least;
    report.maxEdge = lengths.most;
    report.meanEdge = lengths.sum / static_cast<double>(edges.size());
  }
}

Vec3 areaCentre(const MeshView& mesh, const Vec3& middle) {
  struct Sum {
    double area = 0;
    Vec3 moment = Vec3::Zero();
  };
  const Sum sum = parallelReduce(
      mesh.faceCount(), Sum{},
      [&](size_t begin, size_t end) {
        Sum s;
        for (size_t f = begin; f < end; ++f) {
          const Vec3 normal = vectorArea(mesh, f).stableNormalized();
          // Signed parts of the fan, so that concave polygons come out right.
          for (uint32_t c = mesh.begin(f) + 1; c + 1 < mesh.end(f); ++c) {
            const Vec3 p = mesh.at(mesh.begin(f)) - middle, q = mesh.at(c) - middle,
                       r = mesh.at(c + 1) - middle;
            const double area = (q - p).cross(r - p).dot(normal) / 2;
            s.area += area;
            s.moment += area / 3 * (p + q + r);
          }
        }
        return s;
      },
      [](Sum a, const Sum& b) {
        a.area += b.area;
        a.moment += b.moment;
        return a;
      });
  return sum.area > 0 ? Vec3(middle + sum.moment / sum.area) : middle;
}

std::string sentence(size_t count, const char* one, const char* many, const std::string& examples) {
  return fmt::format("{} {} ({}{})", count, count == 1 ? one : many, examples,
                     count > Tally::kExamples ? ", ..." : "");
}

std::string list(const std::vector<uint32_t>& items) { return fmt::format("{}", fmt::join(items, ", ")); }

std::string list(const std::vector<MeshReport::Edge>& edges) {
  std::string text;
  for (const auto& e : edges) text += fmt::format("{}{}-{}", text.empty() ? "" : ", ", e[0], e[1]);
  return text;
}

}  // namespace

MeshReport meshReport(const MeshView& mesh) {
  requireValid(mesh);
  MeshReport report;
  report.vertices = mesh.positions.size();
  report.faces = mesh.faceCount();
  countFaces(mesh, report);
  countVertices(mesh, report);
  const EdgeAdjacency edges = edgeAdjacency(mesh);
  examineEdges(mesh, edges, report);
  const std::vector<uint32_t> same = coincidentFaces(mesh, edges);
  report.duplicateFaces =
      note(tally(same.size(), [&](size_t f) { return same[f] != f; }), report.examples.duplicateFaces);
  report.components = faceComponents(mesh, edges).count;

  report.eulerCharacteristic = static_cast<int64_t>(report.vertices - report.isolatedVertices) -
                               static_cast<int64_t>(report.edges) + static_cast<int64_t>(report.faces);
  const bool closed = report.edges != 0 && report.boundaryEdges == 0 && report.nonManifoldEdges == 0;
  report.watertight = closed && report.flippedEdges == 0;
  const bool polygons = tally(mesh.faceCount(), [&](size_t f) {
                          return mesh.end(f) - mesh.begin(f) < 3 || repeatsVertex(mesh, f);
                        }).count == 0;
  if (closed && polygons && report.nonManifoldVertices == 0 && report.orientable) {
    report.genus = static_cast<int64_t>(report.components) - report.eulerCharacteristic / 2;
  }

  report.bounds = bounds(mesh.positions);
  report.area = surfaceArea(mesh);
  const MassProperties solid = massProperties(mesh);
  report.volume = solid.volume;
  report.insideOut = report.watertight && solid.volume < 0;
  if (report.watertight && solid.volume != 0) {
    report.centre = solid.centre;
  } else if (!report.bounds.empty()) {
    report.centre = areaCentre(mesh, report.bounds.center());
  }
  return report;
}

std::vector<std::string> problems(const MeshReport& r) {
  std::vector<std::string> lines;
  auto add = [&](size_t count, const char* one, const char* many, const auto& examples) {
    if (count != 0) lines.push_back(sentence(count, one, many, list(examples)));
  };
  if (r.faces == 0) lines.emplace_back("the mesh has no faces");
  add(r.nonFiniteVertices, "vertex is not finite", "vertices are not finite", r.examples.nonFiniteVertices);
  add(r.nonManifoldEdges, "edge has more than two faces", "edges have more than two faces",
      r.examples.nonManifoldEdges);
  add(r.nonManifoldVertices, "vertex joins faces that share no edge there",
      "vertices join faces that share no edge there", r.examples.nonManifoldVertices);
  if (!r.orientable)
    lines.emplace_back("the surface has only one side: no turning of faces makes neighbours agree");
  add(r.flippedEdges, "edge lies between faces of opposite orientation",
      "edges lie between faces of opposite orientation", r.examples.flippedEdges);
  if (r.boundaryEdges != 0) {
    lines.push_back(fmt::format("{} in {} {}",
                                sentence(r.boundaryEdges, "edge has only one face",
                                         "edges have only one face", list(r.examples.boundaryEdges)),
                                r.boundaryLoops, r.boundaryLoops == 1 ? "loop" : "loops"));
  }
  if (r.insideOut) lines.emplace_back("the surface is inside out: its volume is negative");
  add(r.degenerateFaces, "face has no area", "faces have no area", r.examples.degenerateFaces);
  add(r.duplicateFaces, "face repeats an earlier one", "faces repeat earlier ones",
      r.examples.duplicateFaces);
  add(r.duplicateVertices, "vertex lies exactly on an earlier one", "vertices lie exactly on earlier ones",
      r.examples.duplicateVertices);
  add(r.isolatedVertices, "vertex is in no face", "vertices are in no face", r.examples.isolatedVertices);
  return lines;
}

}  // namespace sunder::geometry
