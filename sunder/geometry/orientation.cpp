#include "sunder/geometry/orientation.h"

#include "sunder/base/parallel.h"

#include <algorithm>

namespace sunder::geometry {

namespace {

// Walks each patch from its first face; flip is relative to that face.
void spread(const MeshView& mesh, const EdgeAdjacency& edges, Orientation& result) {
  const size_t faceCount = mesh.faceCount();
  result.flip.assign(faceCount, 0);
  result.patches.label.assign(faceCount, kNoIndex);
  std::vector<uint32_t> queue;
  for (uint32_t seed = 0; seed < faceCount; ++seed) {
    if (result.patches.label[seed] != kNoIndex) continue;
    const uint32_t patch = result.patches.count++;
    result.patches.label[seed] = patch;
    result.patchOrientable.push_back(1);
    queue.assign(1, seed);
    while (!queue.empty()) {
      const uint32_t f = queue.back();
      queue.pop_back();
      for (uint32_t c = mesh.begin(f); c < mesh.end(f); ++c) {
        const uint32_t e = edges.cornerEdge[c];
        if (e == kNoIndex) continue;
        const auto uses = edges.uses.row(e);
        if (uses.size() != 2) continue;
        const EdgeUse& other = uses[0].corner == c ? uses[1] : uses[0];
        const bool sameDirection = mesh.corners[other.corner] == mesh.corners[c];
        const uint8_t flip = static_cast<uint8_t>(result.flip[f] ^ (sameDirection ? 1 : 0));
        if (result.patches.label[other.face] == kNoIndex) {
          result.patches.label[other.face] = patch;
          result.flip[other.face] = flip;
          queue.push_back(other.face);
        } else if (result.flip[other.face] != flip) {
          result.patchOrientable[patch] = 0;
        }
      }
    }
  }
}

// A patch is closed when along every edge its faces run as often one way as the other.
void findClosed(const MeshView& mesh, const EdgeAdjacency& edges, Orientation& result) {
  result.patchClosed = result.patchOrientable;
  std::vector<std::pair<uint32_t, int>> runs;
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto uses = edges.uses.row(e);
    if (uses.size() == 2) continue;  // of one patch, and opposite once flipped
    runs.clear();
    for (const EdgeUse& use : uses) {
      const bool forward = runsForward(mesh, edges, e, use) != (result.flip[use.face] != 0);
      runs.emplace_back(result.patches.label[use.face], forward ? 1 : -1);
    }
    std::sort(runs.begin(), runs.end());
    for (size_t i = 0; i < runs.size();) {
      int net = 0;
      size_t j = i;
      for (; j < runs.size() && runs[j].first == runs[i].first; ++j) net += runs[j].second;
      if (net != 0) result.patchClosed[runs[i].first] = 0;
      i = j;
    }
  }
}

double coneVolume(const MeshView& mesh, size_t f, const Vec3& apex) {
  double sum = 0;
  for (uint32_t c = mesh.begin(f) + 1; c + 1 < mesh.end(f); ++c) {
    sum += (mesh.at(mesh.begin(f)) - apex).cross(mesh.at(c) - apex).dot(mesh.at(c + 1) - apex);
  }
  return sum;
}

}  // namespace

bool Orientation::orientable() const {
  return std::find(patchOrientable.begin(), patchOrientable.end(), 0) == patchOrientable.end();
}

size_t Orientation::flipCount() const { return static_cast<size_t>(std::count(flip.begin(), flip.end(), 1)); }

Orientation orientation(const MeshView& mesh, const EdgeAdjacency& edges) {
  Orientation result;
  spread(mesh, edges, result);
  findClosed(mesh, edges, result);

  const uint32_t patches = result.patches.count;
  struct Shell {
    double volume = 0;
    size_t faces = 0, flips = 0;
    uint32_t first = kNoIndex;
    Box3 box;
  };
  std::vector<Shell> shells(patches);
  for (uint32_t f = 0; f < mesh.faceCount(); ++f) {
    Shell& shell = shells[result.patches.label[f]];
    if (mesh.end(f) == mesh.begin(f)) continue;
    if (shell.first == kNoIndex) shell.first = f;
    const double volume = coneVolume(mesh, f, mesh.at(mesh.begin(shell.first)));
    shell.volume += result.flip[f] != 0 ? -volume : volume;
    shell.flips += result.flip[f];
    ++shell.faces;
    for (uint32_t v : mesh.face(f)) shell.box.grow(mesh.positions[v]);
  }
  auto inside = [](const Box3& inner, const Box3& outer) {
    return (outer.lower.array() < inner.lower.array()).all() &&
           (inner.upper.array() < outer.upper.array()).all();
  };
  std::vector<uint8_t> invert(patches, 0);
  parallelFor(
      patches,
      [&](size_t p) {
        const Shell& shell = shells[p];
        bool outward = result.patchClosed[p] != 0 && shell.volume != 0;
        const bool majority = 2 * shell.flips > shell.faces;
        if (outward && (shell.volume < 0) != majority) {
          for (size_t q = 0; q < patches && outward; ++q) {
            outward = q == p || result.patchClosed[q] == 0 || !inside(shell.box, shells[q].box);
          }
        }
        invert[p] = (outward ? shell.volume < 0 : majority) ? 1 : 0;
      },
      16);
  parallelFor(mesh.faceCount(), [&](size_t f) {
    const uint32_t p = result.patches.label[f];
    result.flip[f] =
        result.patchOrientable[p] != 0 ? static_cast<uint8_t>(result.flip[f] ^ invert[p]) : uint8_t(0);
  });
  return result;
}

}  // namespace sunder::geometry
