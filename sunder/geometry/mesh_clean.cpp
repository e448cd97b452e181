#include "sunder/geometry/mesh_clean.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/duplicates.h"
#include "sunder/geometry/fans.h"
#include "sunder/geometry/orientation.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::geometry {

namespace {

// The mesh on its way through the steps, with where everything came from.
struct Cleaning {
  PolygonSoup soup;
  std::vector<uint32_t> vertexSource;  // per vertex: input vertex, kNoIndex when added
  std::vector<uint32_t> faceSource;    // per face: input face, kNoIndex when added
  std::vector<uint32_t> welded;        // per input vertex: the input vertex it became
  std::vector<uint8_t> flipped;        // per face: turned around so far
};

void requireComplete(size_t have, size_t need, const char* what) {
  if (have != 0 && have != need) {
    throw Error(ErrorKind::Geometry, fmt::format("{} {} where the mesh needs {} or none", have, what, need));
  }
}

// Makes the faces anew from rows of present corners; face i of the new ones is `faces[i]` of the old.
void takeCorners(Cleaning& work, const std::vector<uint32_t>& faces, Rows rows) {
  auto pick = [](auto& array, const std::vector<uint32_t>& which) {
    if (array.empty()) return;
    std::remove_reference_t<decltype(array)> picked(which.size());
    parallelFor(which.size(), [&](size_t i) { picked[i] = array[which[i]]; });
    array = std::move(picked);
  };
  pick(work.soup.corners, rows.items);
  pick(work.soup.cornerNormals, rows.items);
  pick(work.soup.cornerUvs, rows.items);
  pick(work.soup.faceGroup, faces);
  pick(work.faceSource, faces);
  pick(work.flipped, faces);
  work.soup.faceOffsets = std::move(rows.offsets);
}

void keepFaces(Cleaning& work, const std::vector<uint8_t>& keep) {
  std::vector<uint32_t> faces;
  Rows rows;
  for (uint32_t f = 0; f < keep.size(); ++f) {
    if (keep[f] == 0) continue;
    faces.push_back(f);
    for (uint32_t c = work.soup.faceOffsets[f]; c < work.soup.faceOffsets[f + 1]; ++c)
      rows.items.push_back(c);
    rows.offsets.push_back(u32(rows.items.size()));
  }
  if (faces.size() != keep.size()) takeCorners(work, faces, std::move(rows));
}

void weld(Cleaning& work, double distance, CleanReport& report) {
  work.welded = closeVertices(work.soup.positions, distance);
  report.weldedVertices = tally(work.welded.size(), [&](size_t v) { return work.welded[v] != v; }).count;
  parallelFor(work.soup.corners.size(),
              [&](size_t c) { work.soup.corners[c] = work.welded[work.soup.corners[c]]; });
}

// Appends the face's corners without repeats and without spikes: a walk to a vertex and straight back spans
// nothing.
void appendProperCorners(const PolygonSoup& soup, size_t face, std::vector<uint32_t>& out) {
  const size_t start = out.size();
  auto vertex = [&](size_t i) { return soup.corners[out[i]]; };
  for (uint32_t c = soup.faceOffsets[face]; c < soup.faceOffsets[face + 1]; ++c) {
    const size_t n = out.size();
    if (n > start && vertex(n - 1) == soup.corners[c]) continue;
    if (n > start + 1 && vertex(n - 2) == soup.corners[c]) {
      out.pop_back();
      continue;
    }
    out.push_back(c);
  }
  // The same around the end of the list.
  while (out.size() > start + 1) {
    const size_t n = out.size();
    if (vertex(n - 1) == vertex(start) || vertex(n - 2) == vertex(start)) {
      out.pop_back();
    } else if (vertex(n - 1) == vertex(start + 1)) {
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(start));
    } else {
      break;
    }
  }
}

void dropDegenerate(Cleaning& work, CleanReport& report) {
  const PolygonSoup& soup = work.soup;
  std::vector<uint32_t> faces;
  Rows rows;
  for (uint32_t f = 0; f < soup.faceCount(); ++f) {
    const size_t start = rows.items.size();
    appendProperCorners(soup, f, rows.items);
    if (rows.items.size() - start < 3) {
      rows.items.resize(start);
      ++report.degenerateFaces;
      continue;
    }
    report.shortenedFaces += rows.items.size() - start != soup.face(f).size() ? 1 : 0;
    faces.push_back(f);
    rows.offsets.push_back(u32(rows.items.size()));
  }
  if (report.degenerateFaces + report.shortenedFaces != 0) takeCorners(work, faces, std::move(rows));
  report.pinchedFaces = tally(soup.faceCount(), [&](size_t f) { return repeatsVertex(soup, f); }).count;
}

void dropFlat(Cleaning& work, CleanReport& report) {
  std::vector<uint8_t> keep(work.soup.faceCount());
  parallelFor(keep.size(), [&](size_t f) { keep[f] = hasNoArea(work.soup, f) ? 0 : 1; });
  report.flatFaces = static_cast<size_t>(std::count(keep.begin(), keep.end(), 0));
  keepFaces(work, keep);
}

void dropDuplicates(Cleaning& work, CleanReport& report) {
  const std::vector<uint32_t> same = coincidentFaces(work.soup, edgeAdjacency(work.soup));
  std::vector<uint8_t> keep(same.size());
  for (uint32_t f = 0; f < same.size(); ++f) keep[f] = same[f] == f ? 1 : 0;
  report.duplicateFaces = static_cast<size_t>(std::count(keep.begin(), keep.end(), 0));
  keepFaces(work, keep);
}

void orient(Cleaning& work, CleanReport& report) {
  PolygonSoup& soup = work.soup;
  const Orientation found = orientation(soup, edgeAdjacency(soup));
  report.oneSidedPatches =
      static_cast<size_t>(std::count(found.patchOrientable.begin(), found.patchOrientable.end(), 0));
  parallelFor(soup.faceCount(), [&](size_t f) {
    if (found.flip[f] == 0) return;
    work.flipped[f] ^= 1;
    const auto reverse = [&](auto& array) {  // the first corner stays first
      if (array.empty()) return;
      const auto begin = array.begin() + soup.faceOffsets[f], end = array.begin() + soup.faceOffsets[f + 1];
      std::reverse(begin + 1, end);
    };
    reverse(soup.corners);
    reverse(soup.cornerNormals);
    reverse(soup.cornerUvs);
    if (soup.cornerNormals.empty()) return;
    // A normal that went with the old side goes with the new one.
    const Vec3 side = vectorArea(soup, f);
    for (uint32_t c = soup.faceOffsets[f]; c < soup.faceOffsets[f + 1]; ++c) {
      if (soup.cornerNormals[c].dot(side) < 0) soup.cornerNormals[c] = -soup.cornerNormals[c];
    }
  });
}

void splitNonManifold(Cleaning& work, CleanReport& report) {
  PolygonSoup& soup = work.soup;
  const VertexFans fans = vertexFans(soup, edgeAdjacency(soup), FanEdges::Regular);
  // The first fan keeps the vertex, the others get new ones at the end, by ascending vertex.
  const size_t vertexCount = soup.positions.size();
  std::vector<uint32_t> firstCopy(vertexCount);
  uint32_t next = u32(vertexCount);
  for (size_t v = 0; v < vertexCount; ++v) {
    firstCopy[v] = next;
    const size_t copies = fans.count(v) > 1 ? fans.count(v) - 1 : 0;
    for (size_t i = 0; i < copies; ++i) {
      soup.positions.push_back(Vec3(soup.positions[v]));
      if (!soup.vertexColours.empty()) soup.vertexColours.push_back(Vec4f(soup.vertexColours[v]));
      work.vertexSource.push_back(work.vertexSource[v]);
    }
    next += u32(copies);
  }
  report.splitVertices = next - vertexCount;
  parallelFor(soup.corners.size(), [&](size_t c) {
    const uint32_t v = soup.corners[c], fan = fans.cornerFan[c] - fans.first[v];
    if (fan != 0) soup.corners[c] = firstCopy[v] + fan - 1;
  });
}

void fill(Cleaning& work, uint32_t maxEdges, CleanReport& report) {
  const HoleFill done = fillHoles(work.soup, maxEdges);
  report.filledHoles = done.filled;
  report.keptHoles = done.kept;
  report.addedFaces = done.faces;
  report.addedVertices = done.vertices;
  work.faceSource.resize(work.soup.faceCount(), kNoIndex);
  work.flipped.resize(work.soup.faceCount(), 0);
  work.vertexSource.resize(work.soup.positions.size(), kNoIndex);
}

// Welded vertices always go; vertices without faces when asked to.
void compactVertices(Cleaning& work, bool dropIsolated, CleanReport& report) {
  PolygonSoup& soup = work.soup;
  std::vector<uint8_t> used(soup.positions.size(), 0);
  for (uint32_t c : soup.corners) used[c] = 1;
  std::vector<uint32_t> number(soup.positions.size(), kNoIndex);
  uint32_t count = 0;
  for (uint32_t v = 0; v < number.size(); ++v) {
    if (used[v] == 0) {
      if (v < work.welded.size() && work.welded[v] != v) continue;
      if (dropIsolated) {
        ++report.isolatedVertices;
        continue;
      }
    }
    number[v] = count;
    soup.positions[count] = Vec3(soup.positions[v]);
    if (!soup.vertexColours.empty()) soup.vertexColours[count] = Vec4f(soup.vertexColours[v]);
    work.vertexSource[count] = work.vertexSource[v];
    ++count;
  }
  soup.positions.resize(count);
  if (!soup.vertexColours.empty()) soup.vertexColours.resize(count);
  work.vertexSource.resize(count);
  parallelFor(soup.corners.size(), [&](size_t c) { soup.corners[c] = number[soup.corners[c]]; });
  report.vertexMap.resize(work.welded.size());
  for (size_t v = 0; v < work.welded.size(); ++v) report.vertexMap[v] = number[work.welded[v]];
}

}  // namespace

CleanResult cleanMesh(PolygonSoup mesh, const CleanOptions& options) {
  requireValid(MeshView(mesh));
  requireComplete(mesh.faceGroup.size(), mesh.faceCount(), "face groups");
  requireComplete(mesh.cornerNormals.size(), mesh.corners.size(), "corner normals");
  requireComplete(mesh.cornerUvs.size(), mesh.corners.size(), "texture coordinates");
  requireComplete(mesh.vertexColours.size(), mesh.positions.size(), "vertex colours");

  CleanResult result;
  CleanReport& report = result.report;
  const size_t vertexCount = mesh.positions.size(), faceCount = mesh.faceCount();
  Cleaning work{std::move(mesh), std::vector<uint32_t>(vertexCount), std::vector<uint32_t>(faceCount),
                std::vector<uint32_t>(vertexCount), std::vector<uint8_t>(faceCount, 0)};
  for (uint32_t v = 0; v < vertexCount; ++v) work.vertexSource[v] = work.welded[v] = v;
  for (uint32_t f = 0; f < faceCount; ++f) work.faceSource[f] = f;

  if (options.weld) weld(work, options.weldDistance, report);
  if (options.dropDegenerateFaces) dropDegenerate(work, report);
  if (options.dropFlatFaces) dropFlat(work, report);
  if (options.dropDuplicateFaces) dropDuplicates(work, report);
  if (options.orient) orient(work, report);
  if (options.splitNonManifold) splitNonManifold(work, report);
  if (options.fillHolesUpTo != 0) {
    fill(work, options.fillHolesUpTo, report);
    // A shell that is closed now has an outside.
    if (options.orient && report.filledHoles != 0) orient(work, report);
  }
  compactVertices(work, options.dropIsolatedVertices, report);

  report.flippedFaces = tally(work.flipped.size(), [&](size_t f) {
                          return work.flipped[f] != 0 && work.faceSource[f] != kNoIndex;
                        }).count;
  report.faceMap.assign(faceCount, kNoIndex);
  for (uint32_t f = 0; f < work.faceSource.size(); ++f) {
    if (work.faceSource[f] != kNoIndex) report.faceMap[work.faceSource[f]] = f;
  }
  report.vertexSource = std::move(work.vertexSource);
  report.faceSource = std::move(work.faceSource);
  result.mesh = std::move(work.soup);
  return result;
}

bool CleanReport::changed() const {
  return weldedVertices + shortenedFaces + degenerateFaces + flatFaces + duplicateFaces + flippedFaces +
             splitVertices + filledHoles + isolatedVertices !=
         0;
}

std::vector<std::string> CleanReport::lines() const {
  std::vector<std::string> result;
  auto add = [&](size_t count, const char* verb, const char* one, const char* many, const char* rest = "") {
    if (count != 0) result.push_back(fmt::format("{} {} {}{}", verb, count, count == 1 ? one : many, rest));
  };
  add(weldedVertices, "welded", "vertex", "vertices");
  add(shortenedFaces, "removed repeated corners and spikes from", "face", "faces");
  add(degenerateFaces, "dropped", "degenerate face", "degenerate faces");
  add(flatFaces, "dropped", "face of zero area", "faces of zero area");
  add(duplicateFaces, "dropped", "duplicate face", "duplicate faces");
  add(flippedFaces, "turned", "face", "faces", " around");
  add(splitVertices, "cut non-manifold places apart with", "new vertex", "new vertices");
  add(filledHoles, "filled", "hole", "holes");
  add(isolatedVertices, "dropped", "vertex", "vertices", " without faces");
  add(pinchedFaces, "left", "face", "faces", " that meet a vertex twice");
  add(oneSidedPatches, "left", "one-sided patch", "one-sided patches", " as found");
  add(keptHoles, "left", "hole", "holes", " open");
  return result;
}

}  // namespace sunder::geometry
