#include "sunder/soft/embed/asset_check.h"

#include "sunder/base/bounds.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

// Ranges that begin at 0, do not fall and end at `count`.
bool areRanges(const std::vector<uint32_t>& start, size_t tets, size_t count) {
  return start.size() == tets + 1 && start.front() == 0 && start.back() == count &&
         std::is_sorted(start.begin(), start.end());
}

template <class Vector>
bool allFinite(const std::vector<Vector>& values) {
  return std::all_of(values.begin(), values.end(), [](const Vector& v) { return v.allFinite(); });
}

std::string surfaceProblem(const Asset& asset) {
  const geometry::TriMesh& surface = asset.surface;
  const size_t n = surface.triangles.size();
  if (n == 0) return "the surface has no triangles";
  if (const size_t bad = firstNonFinite(surface.positions); bad != surface.positions.size())
    return fmt::format("vertex {} of the surface is not finite", bad);
  for (size_t t = 0; t < n; ++t)
    for (const uint32_t v : surface.triangles[t])
      if (v >= surface.positions.size())
        return fmt::format("triangle {} of the surface refers to vertex {}, but there are {}", t, v,
                           surface.positions.size());
  const SurfaceAttributes& a = asset.attributes;
  if (!a.uvs.empty() && a.uvs.size() != 3 * n) return "the texture coordinates are not three a triangle";
  if (!a.slots.empty() && a.slots.size() != n) return "the material slots are not one a triangle";
  if (!allFinite(a.uvs)) return "a texture coordinate is not finite";
  if (!(a.crease >= 0 && a.crease <= 180)) return "the crease angle is not from 0 to 180";
  for (const uint16_t slot : a.slots)
    if (slot > asset.slotMaterials.size() && !asset.slotMaterials.empty())
      return fmt::format("there is no material of slot {}", slot);
  return {};
}

std::string embeddedProblem(const Asset& asset) {
  const EmbeddedSurface& e = asset.embedded;
  const size_t tets = asset.cage.rest.tets.size(), vertices = e.weights.size(), n = e.triangles.size();
  if (!areRanges(e.vertexStart, tets, vertices) || !areRanges(e.triangleStart, tets, n))
    return "the ranges of the embedded surface do not fit the cage";
  if (e.normals.size() != vertices || e.covectors.size() != vertices)
    return "the normals are not one a vertex";
  if (e.source.size() != n) return "the embedded triangles and their sources differ in number";
  if (e.uvs.size() != (asset.attributes.uvs.empty() ? 0 : 3 * n))
    return "the embedded texture coordinates do not fit the surface";
  if (e.slots.size() != (asset.attributes.slots.empty() ? 0 : n))
    return "the embedded material slots do not fit the surface";
  if (!allFinite(e.weights) || !allFinite(e.normals) || !allFinite(e.covectors) || !allFinite(e.uvs))
    return "a number of the embedded surface is not finite";
  for (size_t v = 0; v < vertices; ++v)
    if (!(std::abs(e.weights[v].sum() - 1) < 1e-6))
      return fmt::format("the weights of embedded vertex {} do not add up to 1", v);
  for (size_t t = 0; t < tets; ++t)
    for (size_t k = e.triangleStart[t]; k < e.triangleStart[t + 1]; ++k) {
      if (e.source[k] >= asset.surface.triangles.size())
        return fmt::format("embedded triangle {} is of triangle {}, which is not there", k, e.source[k]);
      for (const uint32_t v : e.triangles[k])
        if (v < e.vertexStart[t] || v >= e.vertexStart[t + 1])
          return fmt::format("embedded triangle {} has a vertex of another tetrahedron", k);
    }
  return {};
}

}  // namespace

std::string assetProblem(const Asset& asset) {
  if (std::string problem = surfaceProblem(asset); !problem.empty()) return problem;
  if (std::string problem = embeddedProblem(asset); !problem.empty()) return problem;
  for (size_t i = 0; i < asset.parts.size(); ++i) {
    const std::string& tag = asset.parts[i].tag;
    if (tag.size() != 4) return fmt::format("the tag '{}' has not four characters", tag);
    if (tag == "SURF" || tag == "CAGE" || tag == "EMBD") return fmt::format("the tag {} is taken", tag);
    for (size_t j = 0; j < i; ++j)
      if (asset.parts[j].tag == tag) return fmt::format("the part {} is there twice", tag);
  }
  return {};
}

}  // namespace sunder::soft
