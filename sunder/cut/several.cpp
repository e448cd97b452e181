#include "sunder/base/error.h"
#include "sunder/cut/arrangement/fragments.h"
#include "sunder/cut/finish/attributes.h"
#include "sunder/cut/finish/rounding.h"
#include "sunder/cut/kernel/self_check.h"
#include "sunder/cut/resolve.h"
#include "sunder/geometry/components.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

using geometry::PolygonSoup;

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Adds the cut of one piece of `before` to what the cutter `number` makes of the others.
void addCut(const CutResult& cut, const geometry::SoupPart& piece, const CutResult& before,
            const Resolved& cutter, uint32_t number, CutResult& out) {
  const uint32_t firstVertex = u32(out.mesh.positions.size()), firstPoint = u32(out.seamPoints.size()),
                 firstCorner = u32(out.mesh.corners.size());
  append(out.mesh.positions, cut.mesh.positions);
  for (const uint32_t v : cut.mesh.corners) out.mesh.corners.push_back(firstVertex + v);
  for (size_t f = 0; f < cut.mesh.faceCount(); ++f) {
    out.mesh.faceOffsets.push_back(firstCorner + cut.mesh.faceOffsets[f + 1]);
    const uint32_t source = cut.sourceFace[f];
    const uint32_t old = cut.fromCutter[f] ? kNoIndex : piece.faceSource[source];
    out.sourceFace.push_back(old == kNoIndex ? cutter.sourceFace[source] : before.sourceFace[old]);
    out.fromCutter.push_back(old == kNoIndex ? 1 : before.fromCutter[old]);
    out.cutter.push_back(old == kNoIndex ? number : before.cutter[old]);
    out.fragment.push_back(out.fragments + cut.fragment[f]);
  }
  append(out.mesh.faceGroup, cut.mesh.faceGroup);
  append(out.mesh.cornerNormals, cut.mesh.cornerNormals);
  append(out.mesh.cornerUvs, cut.mesh.cornerUvs);
  append(out.mesh.vertexColours, cut.mesh.vertexColours);
  out.mesh.groupNames = cut.mesh.groupNames;
  for (size_t v = 0; v < cut.sourceVertex.size(); ++v) {
    const uint32_t source = cut.sourceVertex[v];
    VertexFrom from = cut.vertexFrom[v];
    uint32_t to = source;
    if (from == VertexFrom::Mesh) {
      from = before.vertexFrom[piece.vertexSource[source]];
      to = before.sourceVertex[piece.vertexSource[source]];
    } else if (from == VertexFrom::Cutter) {
      to = cutter.sourceVertex[source];
      if (to == kNoIndex) from = VertexFrom::Seam;
    } else if (source != kNoIndex) {
      to = u32(before.seamPoints.size()) + firstPoint + source;
    }
    out.vertexFrom.push_back(from);
    out.sourceVertex.push_back(to);
  }
  append(out.seamPoints, cut.seamPoints);
  for (const auto& [a, b] : cut.seam) out.seam.push_back({firstPoint + a, firstPoint + b});
  append(out.volume, cut.volume);
  append(out.above, cut.above);
  append(out.below, cut.below);
  out.fragments += cut.fragments;
  out.statistics += cut.statistics;
}

}  // namespace

CutStatistics& CutStatistics::operator+=(const CutStatistics& s) {
  candidates += s.candidates;
  seamPoints += s.seamPoints;
  seamSegments += s.seamSegments;
  prepare += s.prepare;
  intersect += s.intersect;
  trace += s.trace;
  sort += s.sort;
  write += s.write;
  return *this;
}

CutResult cut(const PolygonSoup& mesh, std::span<const PolygonSoup> cutters, const CutOptions& options) {
  if (cutters.empty()) throw Error(ErrorKind::Usage, "nothing to cut with");
  CutOptions step = options;
  step.checkInput = step.checkRounding = step.mendRounding = step.resolve = false;
  const auto nameOf = [&](size_t i) {
    return cutters.size() == 1 ? std::string("cutter") : fmt::format("cutter {}", i + 1);
  };
  const auto input = [&](const PolygonSoup& soup, const std::string& name) {
    if (options.resolve) return resolveOverlaps(soup, name, options.mostPairs);
    if (options.checkInput) refuseSelfIntersection(makeKernelMesh(soup, name), name, options.mostPairs);
    Resolved same{soup, std::vector<uint32_t>(soup.faceCount()),
                  std::vector<uint32_t>(soup.positions.size())};
    for (uint32_t f = 0; f < same.sourceFace.size(); ++f) same.sourceFace[f] = f;
    for (uint32_t v = 0; v < same.sourceVertex.size(); ++v) same.sourceVertex[v] = v;
    return same;
  };

  CutResult result;
  {
    Resolved start = input(mesh, "mesh");
    result.mesh = std::move(start.mesh);
    result.sourceFace = std::move(start.sourceFace);
    result.sourceVertex = std::move(start.sourceVertex);
    result.fromCutter.assign(result.mesh.faceCount(), 0);
    result.cutter.assign(result.mesh.faceCount(), 0);
    result.fragment.assign(result.mesh.faceCount(), 0);
    result.fragments = 1;
    for (const uint32_t v : result.sourceVertex)
      result.vertexFrom.push_back(v == kNoIndex ? VertexFrom::Seam : VertexFrom::Mesh);
  }
  for (uint32_t i = 0; i < cutters.size(); ++i) {
    const Resolved cutter = input(cutters[i], nameOf(i));
    if (result.mesh.faceCount() == 0 && i > 0) {
      if (options.op != Op::Union && options.op != Op::SymmetricDifference) break;
      throw Error(ErrorKind::Geometry, fmt::format("nothing is left before cutter {}", i + 1))
          .hint("leave out cutters that undo each other");
    }
    // Lids of fragments lie on each other, so a split goes on with each fragment alone.
    geometry::Components pieces{result.fragments, result.fragment};
    if (options.op != Op::Split) pieces = {1, std::vector<uint32_t>(result.mesh.faceCount(), 0)};
    CutResult next;
    for (const geometry::SoupPart& piece : geometry::splitComponents(result.mesh, pieces)) {
      const uint64_t looked = result.statistics.candidates + next.statistics.candidates;
      step.mostPairs = options.mostPairs - std::min(options.mostPairs, looked);
      CutResult one = cutNamed(piece.mesh, cutter.mesh, nameOf(i), step);
      transferAttributes(piece.mesh, cutter.mesh, one);
      addCut(one, piece, result, cutter, i, next);
    }
    // Points of earlier seams keep their numbers.
    const uint32_t before = u32(result.seamPoints.size());
    next.seamPoints.insert(next.seamPoints.begin(), result.seamPoints.begin(), result.seamPoints.end());
    for (auto& [a, b] : next.seam) {
      a += before;
      b += before;
    }
    next.seam.insert(next.seam.begin(), result.seam.begin(), result.seam.end());
    next.statistics += result.statistics;
    result = std::move(next);
  }
  lookForCrossings(options, result);
  return result;
}

}  // namespace sunder::cut
