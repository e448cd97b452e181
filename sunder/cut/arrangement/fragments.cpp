#include "sunder/cut/arrangement/fragments.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/cut/kernel/self_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

// What an operation takes of one mesh: the parts with this side, in one orientation.
struct Rule {
  MeshId mesh;
  uint8_t side;
  bool reversed = false, bySide = false;
  uint8_t copy = 0;
};

// Half-edges of the first rule's mesh on `side` of the seam are paired with those of the second rule's.
struct Join {
  size_t meshRule, cutterRule;
  uint8_t meshSide, cutterSide;
};

struct Recipe {
  std::vector<Rule> rules;
  std::vector<Join> joins;
};

// Below is plus for the mesh; inside is minus for the cutter.
Recipe recipeOf(Op op, bool seal) {
  const Rule everything{kMesh, kBothSides, false, true}, below{kMesh, kPlus, false, true},
      above{kMesh, kMinus, false, true};
  const Rule lid{kCutter, kMinus}, turnedLid{kCutter, kMinus, true, false, 1};
  switch (op) {
    case Op::Split:
      if (!seal) return {{everything}, {}};
      return {{everything, lid, turnedLid}, {{0, 1, kPlus, kMinus}, {0, 2, kMinus, kMinus}}};
    case Op::Below:
      if (!seal) return {{below}, {}};
      return {{below, lid}, {{0, 1, kPlus, kMinus}}};
    case Op::Above:
      if (!seal) return {{above}, {}};
      return {{above, turnedLid}, {{0, 1, kMinus, kMinus}}};
    case Op::Union:
      return {{{kMesh, kMinus}, {kCutter, kPlus}}, {{0, 1, kMinus, kPlus}}};
    case Op::Intersection:
      return {{{kMesh, kPlus}, {kCutter, kMinus}}, {{0, 1, kPlus, kMinus}}};
    case Op::Difference:
      return {{{kMesh, kMinus}, {kCutter, kMinus, true}}, {{0, 1, kMinus, kMinus}}};
    case Op::SymmetricDifference:
      return {{{kMesh, kMinus},
               {kCutter, kMinus, true},
               {kMesh, kPlus, true, false, 1},
               {kCutter, kPlus, false, false, 1}},
              {{0, 1, kMinus, kMinus}, {2, 3, kPlus, kPlus}}};
  }
  return {};
}

// Six times the volumes of a mesh's parts add up to that of the mesh.
void refuseInsideOut(const KernelMesh& mesh, const std::vector<double>& volumes, const std::string& name) {
  if (!mesh.closed()) return;
  double sum = 0;
  for (const double v : volumes) sum += v;
  const double size = mesh.bounds.extent().maxCoeff();
  if (sum < -1e-9 * size * size * size)
    throw Error(ErrorKind::Geometry, fmt::format("the {} is inside out: its volume is {:g}", name, sum / 6))
        .hint("sunder clean turns its faces");
}

// Winding of the parts of a fragment around a point, taken as a vertex of the mesh.
class Shells {
 public:
  Shells(const Scene& scene, const std::vector<Use>& uses) : scene_(scene), uses_(uses) {}

  const Vec3& vertexOf(size_t use, uint32_t part) const {
    const Parts& parts = *scene_.parts[uses_[use].mesh];
    if (parts.vertex[part] != kNoIndex) return scene_.mesh[uses_[use].mesh]->positions[parts.vertex[part]];
    const Regions& regions = *scene_.regions[uses_[use].mesh];
    for (size_t r = 0;; ++r)
      if (parts.ofRegion[r] == part) return position(uses_[use], regions.ring(r)[0]);
  }

  int winding(const Vec3& vertex, const std::vector<uint32_t>& fragmentOf,
              const std::vector<size_t>& firstNode, uint32_t fragment) const {
    Vec3 far = vertex;
    for (const KernelMesh* m : scene_.mesh)
      far.x() = std::max(far.x(), m->bounds.upper.x() + std::max(1e-30, m->bounds.extent().maxCoeff()));
    int sum = 0;
    for (size_t u = 0; u < uses_.size(); ++u) {
      const Use& use = uses_[u];
      const KernelMesh& mesh = *scene_.mesh[use.mesh];
      const Parts& parts = *scene_.parts[use.mesh];
      const Regions& regions = *scene_.regions[use.mesh];
      const int sign = use.reversed ? -1 : 1;
      const auto counts = [&](uint32_t part) {
        return use.fragment[part] != kNoIndex && fragmentOf[firstNode[u] + part] == fragment;
      };
      for (uint32_t f = 0; f < mesh.triangles.size(); ++f)
        if (!parts.touched(f) && counts(parts.ofComponent[parts.component[f]]))
          sum += sign * crossingOf(vertex, far, kMesh, cornersOf(mesh, f));
      for (size_t r = 0; r < regions.size(); ++r) {
        if (!counts(parts.ofRegion[r])) continue;
        const auto ring = regions.ring(r);
        for (size_t i = 1; i + 1 < ring.size(); ++i)
          sum += sign *
                 crossingOf(vertex, far, kMesh,
                            {&position(use, ring[0]), &position(use, ring[i]), &position(use, ring[i + 1])});
      }
    }
    return sum;
  }

 private:
  const Vec3& position(const Use& use, const RingCorner& c) const {
    return c.point ? scene_.seam->points[c.id].position : scene_.mesh[use.mesh]->positions[c.id];
  }
  const Scene& scene_;
  const std::vector<Use>& uses_;
};

}  // namespace

void refuseBothSides(const Scene& scene, MeshId id, const std::string& name, const std::string& otherName) {
  const Parts& parts = *scene.parts[id];
  const Regions& regions = *scene.regions[id];
  for (uint32_t p = 0; p < parts.count; ++p) {
    if (parts.sides[p] != kBothSides) continue;
    uint32_t face[2] = {kNoIndex, kNoIndex};
    for (size_t t = 0; t < regions.faces.size(); ++t)
      for (uint32_t r = regions.firstRegion[t]; r < regions.firstRegion[t + 1]; ++r) {
        if (parts.ofRegion[r] != p) continue;
        for (uint32_t s = 0; s < 2; ++s)
          if ((regions.sides[r] & (1u << s)) != 0 && face[s] == kNoIndex) face[s] = regions.faces[t];
      }
    if (!scene.mesh[1 - id]->closed())
      throw Error(
          ErrorKind::Geometry,
          fmt::format(
              "the {} ends inside the {}: faces {} and {} are on different sides of it and hang together",
              otherName, name, scene.mesh[id]->sourceOf(face[0]), scene.mesh[id]->sourceOf(face[1])))
          .hint("split leaves an incision; above and below need a cutter that reaches through");
    refuseSelfIntersection(*scene.mesh[kMesh], "mesh");
    refuseSelfIntersection(*scene.mesh[kCutter], "cutter");
    throw Error(
        ErrorKind::Geometry,
        fmt::format("the {} has faces {} and {} on different sides of the {}, and no seam between them", name,
                    scene.mesh[id]->sourceOf(face[0]), scene.mesh[id]->sourceOf(face[1]), otherName))
        .hint("components of one mesh may not overlap");
  }
}

Selection selectFragments(const Scene& scene, const CutOptions& options) {
  const bool seal = scene.mesh[kMesh]->closed();
  const bool cutterClosed = scene.mesh[kCutter]->closed();
  const Vec3 centre = scene.mesh[kMesh]->bounds.center();
  std::vector<double> volume[2];
  for (const MeshId id : {kMesh, kCutter})
    if (seal || scene.mesh[id]->closed())
      volume[id] = volumes6(*scene.mesh[id], *scene.seam, *scene.regions[id], *scene.parts[id], centre);
  refuseInsideOut(*scene.mesh[kMesh], volume[kMesh], "mesh");
  refuseInsideOut(*scene.mesh[kCutter], volume[kCutter], "cutter");
  if (seal) refuseBothSides(scene, kCutter, "cutter", "mesh");
  if (cutterClosed || options.op != Op::Split) refuseBothSides(scene, kMesh, "mesh", "cutter");
  const Recipe recipe = recipeOf(options.op, seal);

  // Nodes: the parts of each rule, one rule after another.
  Selection out;
  std::vector<size_t> firstNode;
  size_t nodes = 0;
  for (const Rule& rule : recipe.rules) {
    const Parts& parts = *scene.parts[rule.mesh];
    Use use{rule.mesh, rule.reversed, rule.bySide, rule.copy};
    use.fragment.assign(parts.count, kNoIndex);
    for (uint32_t p = 0; p < parts.count; ++p) {
      // A sheet that lies inside without touching separates nothing.
      if (rule.mesh == kCutter && !parts.met[p] && parts.border[p]) continue;
      if ((parts.sides[p] & rule.side) != 0 || rule.side == kBothSides) use.fragment[p] = 0;
    }
    firstNode.push_back(nodes);
    nodes += parts.count;
    out.uses.push_back(std::move(use));
  }
  DisjointSets sets(nodes);
  for (size_t s = 0; s < scene.seam->segments.size(); ++s)
    for (const Join& join : recipe.joins) {
      const auto node = [&](size_t rule, uint8_t side) {
        const MeshId id = recipe.rules[rule].mesh;
        const Regions& regions = *scene.regions[id];
        const uint32_t region = side == kPlus ? regions.plusRegion[s] : regions.minusRegion[s];
        return u32(firstNode[rule]) + scene.parts[id]->ofRegion[region];
      };
      sets.unite(node(join.meshRule, join.meshSide), node(join.cutterRule, join.cutterSide));
    }
  if (options.op == Op::Split && seal) {
    // The two lids of a cutter that ends inside meet along its border.
    const Parts& parts = *scene.parts[kCutter];
    for (uint32_t p = 0; p < parts.count; ++p)
      if (parts.border[p] && out.uses[1].fragment[p] != kNoIndex)
        sets.unite(u32(firstNode[1] + p), u32(firstNode[2] + p));
  }

  std::vector<double> nodeVolume(nodes, 0.0);
  if (seal) {
    for (size_t u = 0; u < out.uses.size(); ++u)
      for (size_t p = 0; p < volume[out.uses[u].mesh].size(); ++p)
        nodeVolume[firstNode[u] + p] = (out.uses[u].reversed ? -1 : 1) * volume[out.uses[u].mesh][p] / 6;
  }
  const auto kept = [&](size_t u, uint32_t p) { return out.uses[u].fragment[p] != kNoIndex; };

  // Shells by root, with their volumes.
  std::vector<double> shellVolume(nodes, 0.0);
  std::vector<uint32_t> fragmentOf(nodes);
  for (size_t u = 0; u < out.uses.size(); ++u)
    for (uint32_t p = 0; p < out.uses[u].fragment.size(); ++p) {
      const uint32_t node = u32(firstNode[u]) + p;
      fragmentOf[node] = sets.find(node);
      if (kept(u, p)) shellVolume[fragmentOf[node]] += nodeVolume[node];
    }
  const double empty = 1e-12 * std::abs(scene.mesh[kMesh]->bounds.extent().prod());
  if (seal) {
    const Shells shells(scene, out.uses);
    std::vector<uint32_t> into(nodes, kNoIndex);
    for (size_t u = 0; u < out.uses.size(); ++u)
      for (uint32_t p = 0; p < out.uses[u].fragment.size(); ++p) {
        const uint32_t cavity = fragmentOf[firstNode[u] + p];
        if (!kept(u, p) || shellVolume[cavity] >= -empty || into[cavity] != kNoIndex) continue;
        into[cavity] = cavity;
        const Vec3& vertex = shells.vertexOf(u, p);
        double smallest = Box3::kInfinity;
        for (uint32_t root = 0; root < nodes; ++root) {
          if (fragmentOf[root] != root || !(shellVolume[root] > empty) || shellVolume[root] >= smallest)
            continue;
          if (shellVolume[root] < -shellVolume[cavity]) continue;
          if (shells.winding(vertex, fragmentOf, firstNode, root) > 0) {
            smallest = shellVolume[root];
            into[cavity] = root;
          }
        }
      }
    for (uint32_t& f : fragmentOf)
      if (into[f] != kNoIndex) f = into[f];
  }

  std::vector<double> total(nodes, 0.0);
  for (size_t u = 0; u < out.uses.size(); ++u)
    for (uint32_t p = 0; p < out.uses[u].fragment.size(); ++p)
      if (kept(u, p)) total[fragmentOf[firstNode[u] + p]] += nodeVolume[firstNode[u] + p];
  std::vector<uint32_t> number(nodes, kNoIndex);
  for (size_t u = 0; u < out.uses.size(); ++u)
    for (uint32_t p = 0; p < out.uses[u].fragment.size(); ++p) {
      if (!kept(u, p)) continue;
      const uint32_t root = fragmentOf[firstNode[u] + p];
      if (seal && !options.keepEmpty && std::abs(total[root]) <= empty) {
        out.uses[u].fragment[p] = kNoIndex;
        continue;
      }
      if (number[root] == kNoIndex) {
        number[root] = out.fragments++;
        out.volume.push_back(total[root]);
        out.sides.push_back(0);
      }
      out.uses[u].fragment[p] = number[root];
      if (out.uses[u].mesh == kMesh) out.sides[number[root]] |= scene.parts[kMesh]->sides[p];
    }
  return out;
}

}  // namespace sunder::cut
