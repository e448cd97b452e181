#include "sunder/fracture/crack/healing.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace sunder::fracture {

namespace {

constexpr uint32_t kMixed = kNoIndex;  // the label of what belongs to several parts

using State = FractureGeometry::State;

// The parts of a cracked mesh by size.
struct Parts {
  std::vector<uint32_t> of;  // by tetrahedron
  std::vector<double> volume;
  double least = 0;

  Parts(const State& state, double leastPart) {
    uint32_t count = 0;
    of = partsOf(state.mesh.size(), state.links, count);
    volume = volumesOf(state.mesh, state.cells, of, count);
    double whole = 0;
    for (const double v : volume) whole += v;
    least = leastPart * whole;
  }
  bool tiny(uint32_t part) const { return volume[part] < least; }
  uint32_t tinyCount() const {
    return uint32_t(std::count_if(volume.begin(), volume.end(), [&](double v) { return v < least; }));
  }
};

// The marks of a plan as trees, one a cut tetrahedron.
class CutTrees {
 public:
  struct Node {
    uint32_t crack = kNoIndex;  // in the plan; kNoIndex: a leaf
    std::array<double, 4> phi{};
    std::array<uint32_t, 2> child{kNoIndex, kNoIndex};  // on the positive and on the negative side
    uint32_t label = kMixed;                            // of all leaves below
    double area = 0;                                    // of the cut
  };
  using Sides = std::vector<std::pair<uint32_t, int8_t>>;

  explicit CutTrees(const std::vector<PlannedCrack>& plan) : plan_(plan) {
    for (uint32_t k = 0; k < plan.size(); ++k)
      for (const PlannedMark& mark : plan[k].marks) {
        const auto [found, fresh] = trees_.try_emplace(mark.slot);
        Tree& tree = found->second;
        if (fresh) tree = {addNode(), mark.sides};
        const uint32_t at = descend(tree, mark.sides);
        const uint32_t above = addNode(), below = addNode();
        nodes_[at].crack = k;
        nodes_[at].phi = mark.phi;
        nodes_[at].child = {above, below};
      }
    for (const auto& [slot, tree] : trees_) roots_.push_back(tree.root);
  }

  // Labels of leaves and areas of cuts from the mesh that the plan makes.
  void read(const State& state, std::span<const uint32_t> parts) {
    for (uint32_t t = 0; t < state.mesh.size(); ++t) {
      const auto found = trees_.find(state.slots[t]);
      if (found == trees_.end()) continue;
      const auto& cuts = state.mesh.cuts[t];
      const size_t known = found->second.prefix.size();
      uint32_t at = found->second.root;
      for (size_t i = known; i < cuts.size(); ++i) {
        const bool below = cuts[i].side < 0;
        if (!below)
          if (const CutCell::Face* lid = state.cells[t].face(uint8_t(4 + i)))
            nodes_[at].area += state.cells[t].area(*lid);
        at = nodes_[at].child[below];
      }
      nodes_[at].label = parts[t];
    }
    relabel([](uint32_t part) { return part; });
  }

  bool cuts(uint32_t slot) const { return trees_.contains(slot); }

  // By ascending slot. A tree is known by the node at its root.
  std::span<const uint32_t> roots() const { return roots_; }

  // New labels for those of the leaves, of all trees or of some.
  template <class Rename>
  void relabel(const Rename& rename) {
    relabel(roots(), rename);
  }
  template <class Rename>
  void relabel(std::span<const uint32_t> roots, const Rename& rename) {
    for (const uint32_t root : roots) relabel(root, rename);
  }

  bool leaf(uint32_t node) const { return nodes_[node].crack == kNoIndex; }
  const Node& node(uint32_t i) const { return nodes_[i]; }
  uint32_t label(uint32_t i) const { return nodes_[i].label; }
  void makeLeaf(uint32_t i) { nodes_[i].crack = kNoIndex; }

  // Calls visit(node) for each mark that is still there, lower ones first.
  template <class Visit>
  void eachMark(const Visit& visit) {
    eachMark(roots(), visit);
  }
  template <class Visit>
  void eachMark(std::span<const uint32_t> roots, const Visit& visit) {
    for (const uint32_t root : roots) eachMark(root, visit);
  }

  // Calls visit(label) for all leaves below.
  template <class Visit>
  void eachLabel(uint32_t i, const Visit& visit) const {
    if (leaf(i)) return visit(nodes_[i].label);
    for (const uint32_t child : nodes_[i].child) eachLabel(child, visit);
  }

  // Takes back the marks that bound a part: those of one crack, or of all. What is on the other side takes
  // the place of both.
  void dissolve(uint32_t part, uint32_t crack) {
    eachMark([&](uint32_t i) {
      const auto [above, below] = nodes_[i].child;
      if (crack != kNoIndex && nodes_[i].crack != crack) return;
      if (label(above) == part)
        nodes_[i] = nodes_[below];
      else if (label(below) == part)
        nodes_[i] = nodes_[above];
    });
  }

  // Calls visit(label) for all leaves that have a part of the cell with these cuts.
  template <class Visit>
  void eachLeaf(uint32_t slot, std::span<const Cut> cuts, const Visit& visit) const {
    const auto found = trees_.find(slot);
    if (found != trees_.end()) eachLeafBelow(found->second.root, cuts, visit);
  }

  std::vector<PlannedCrack> plan() const {
    std::vector<PlannedCrack> all;
    for (const PlannedCrack& crack : plan_) all.push_back({crack.id, crack.step, {}});
    for (const auto& [slot, tree] : trees_) {
      Sides sides = tree.prefix;
      write(tree.root, slot, sides, all);
    }
    std::erase_if(all, [](const PlannedCrack& crack) { return crack.marks.empty(); });
    return all;
  }

 private:
  struct Tree {
    uint32_t root = 0;
    Sides prefix;  // cuts of earlier impacts
  };

  uint32_t addNode() {
    nodes_.emplace_back();
    return uint32_t(nodes_.size()) - 1;
  }
  uint32_t descend(const Tree& tree, const Sides& sides) const {
    uint32_t at = tree.root;
    for (size_t i = tree.prefix.size(); i < sides.size(); ++i) at = nodes_[at].child[sides[i].second < 0];
    return at;
  }
  template <class Rename>
  uint32_t relabel(uint32_t i, const Rename& rename) {
    Node& n = nodes_[i];
    if (leaf(i)) return n.label = rename(n.label);
    const uint32_t above = relabel(n.child[0], rename), below = relabel(n.child[1], rename);
    return n.label = above == below ? above : kMixed;
  }
  template <class Visit>
  void eachMark(uint32_t i, const Visit& visit) {
    if (leaf(i)) return;
    for (const uint32_t child : nodes_[i].child) eachMark(child, visit);
    visit(i);
  }
  template <class Visit>
  void eachLeafBelow(uint32_t i, std::span<const Cut> cuts, const Visit& visit) const {
    const Node& n = nodes_[i];
    if (leaf(i)) return visit(n.label);
    const auto cut =
        std::find_if(cuts.begin(), cuts.end(), [&](const Cut& c) { return c.surface == plan_[n.crack].id; });
    for (const bool below : {false, true})
      if (cut == cuts.end() || below == (cut->side < 0)) eachLeafBelow(n.child[below], cuts, visit);
  }
  void write(uint32_t i, uint32_t slot, Sides& sides, std::vector<PlannedCrack>& all) const {
    if (leaf(i)) return;
    const Node& n = nodes_[i];
    PlannedCrack& crack = all[n.crack];
    crack.marks.push_back({slot, sides, n.phi});
    for (const bool below : {false, true}) {
      sides.emplace_back(crack.id, below ? int8_t(-1) : int8_t(1));
      write(n.child[below], slot, sides, all);
      sides.pop_back();
    }
  }

  const std::vector<PlannedCrack>& plan_;
  std::map<uint32_t, Tree> trees_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> roots_;
};

// Whether taking a mark back joins two parts and leaves a cell of one piece. What is cut inside of a splinter
// heals with it.
template <class Tiny>
bool joinsTwo(const CutTrees& trees, uint32_t mark, const Tiny& tiny) {
  const auto [above, below] = trees.node(mark).child;
  const uint32_t a = trees.label(above), b = trees.label(below);
  if (a == kMixed || b == kMixed || a == b) return false;
  return (trees.leaf(above) || tiny(a)) && (trees.leaf(below) || tiny(b));
}

// What a part could be joined with, and the area of the marks that this would take back.
struct PartNeighbours {
  std::map<uint32_t, double> shared;
  std::set<uint32_t> torn;  // those that other marks would still lie between

  // `roots`: of the trees that hold the part, at least.
  template <class Tiny>
  PartNeighbours(const CutTrees& trees, std::span<const uint32_t> roots, uint32_t part, const Tiny& tiny) {
    for (const uint32_t root : roots) look(trees, root, part, tiny);
  }
  std::vector<uint32_t> byArea() const {
    std::vector<uint32_t> labels;
    for (const auto& [label, area] : shared) labels.push_back(label);
    std::stable_sort(labels.begin(), labels.end(),
                     [&](uint32_t a, uint32_t b) { return shared.at(a) > shared.at(b); });
    return labels;
  }

 private:
  // Returns whether the part is there below.
  template <class Tiny>
  bool look(const CutTrees& trees, uint32_t i, uint32_t part, const Tiny& tiny) {
    if (trees.leaf(i)) return trees.label(i) == part;
    const auto& node = trees.node(i);
    const bool has[2] = {look(trees, node.child[0], part, tiny), look(trees, node.child[1], part, tiny)};
    if (!has[0] && !has[1]) return false;
    const bool joins = joinsTwo(trees, i, tiny);
    for (const bool turned : {false, true}) {
      const uint32_t mine = node.child[turned], other = node.child[!turned];
      if (!has[turned]) continue;
      if (!joins)
        trees.eachLabel(other, [&](uint32_t label) { torn.insert(label); });
      else if (trees.label(mine) == part)
        shared[trees.label(other)] += node.area;
    }
    return true;
  }
};

// Takes back what joins two parts.
template <class Tiny>
void join(CutTrees& trees, std::span<const uint32_t> roots, uint32_t part, uint32_t other, const Tiny& tiny) {
  trees.eachMark(roots, [&](uint32_t i) {
    if (!joinsTwo(trees, i, tiny)) return;
    const auto [above, below] = trees.node(i).child;
    const std::pair labels(trees.label(above), trees.label(below));
    if (labels == std::pair(part, other) || labels == std::pair(other, part)) trees.makeLeaf(i);
  });
}

// Joins splinters with neighbours where nothing is left between the two; returns whether it could. Each one
// costs time in proportion to the trees that hold the two, not to all.
bool joinNeighbours(CutTrees& trees, const Parts& parts) {
  DisjointSets sets(parts.volume.size());
  std::vector<double> volume = parts.volume;
  std::vector<char> stuck(volume.size(), 0);
  std::vector<std::vector<uint32_t>> holders(volume.size());  // trees, in their order
  std::map<uint32_t, uint32_t> order;
  for (const uint32_t root : trees.roots()) {
    order.emplace(root, uint32_t(order.size()));
    trees.eachLabel(root, [&](uint32_t label) {
      if (label == kMixed) return;
      if (holders[label].empty() || holders[label].back() != root) holders[label].push_back(root);
    });
  }
  const auto tiny = [&](uint32_t label) { return volume[label] < parts.least; };
  bool any = false;
  for (;;) {
    uint32_t smallest = kNoIndex;
    for (uint32_t p = 0; p < volume.size(); ++p)
      if (!stuck[p] && tiny(p) && (smallest == kNoIndex || volume[p] < volume[smallest]) && sets.find(p) == p)
        smallest = p;
    if (smallest == kNoIndex) return any;
    const PartNeighbours around(trees, holders[smallest], smallest, tiny);
    const std::vector<uint32_t> labels = around.byArea();
    const auto other = std::find_if(labels.begin(), labels.end(),
                                    [&](uint32_t label) { return !around.torn.contains(label); });
    if (other == labels.end()) {
      stuck[smallest] = 1;
      continue;
    }
    join(trees, holders[smallest], smallest, *other, tiny);
    std::vector<uint32_t> touched;
    std::set_union(holders[smallest].begin(), holders[smallest].end(), holders[*other].begin(),
                   holders[*other].end(), std::back_inserter(touched),
                   [&](uint32_t a, uint32_t b) { return order.at(a) < order.at(b); });
    sets.unite(smallest, *other);
    const uint32_t root = sets.find(smallest);
    volume[root] = volume[smallest] + volume[*other];
    trees.relabel(touched, [&](uint32_t part) { return part == kMixed ? root : sets.find(part); });
    // Those that could not go anywhere may have one neighbour on all of the other side now.
    for (const uint32_t tree : touched)
      trees.eachLabel(tree, [&](uint32_t label) {
        if (label != kMixed) stuck[label] = 0;
      });
    holders[root] = std::move(touched);
    any = true;
  }
}

// Edges of the surface that are not shared by two triangles: where cracks end on other cracks.
size_t openEdges(const State& state) {
  std::vector<std::array<uint32_t, 3>> edges;  // the third: which way
  for (const auto& t : surfaceOf(state.mesh, state.cells, state.links).mesh.triangles)
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t a = t[k], b = t[(k + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), a < b});
    }
  std::sort(edges.begin(), edges.end());
  size_t open = 0;
  for (size_t first = 0, last = 0; first < edges.size(); first = last) {
    while (last < edges.size() && edges[last][0] == edges[first][0] && edges[last][1] == edges[first][1])
      ++last;
    open += last - first != 2 || edges[first][2] == edges[first + 1][2];
  }
  return open;
}

// Whether no two large parts came together and fewer splinters are left.
bool better(const CutTrees& before, const Parts& old, const State& state, const Parts& now,
            std::span<const uint32_t> partBySlot) {
  if (now.tinyCount() >= old.tinyCount()) return false;
  std::vector<uint32_t> large(now.volume.size(), kNoIndex);
  bool apart = true;
  for (uint32_t t = 0; t < state.mesh.size(); ++t) {
    uint32_t& holds = large[now.of[t]];
    const auto has = [&](uint32_t part) {
      if (old.tiny(part)) return;
      apart &= holds == kNoIndex || holds == part;
      holds = part;
    };
    if (const uint32_t part = partBySlot[state.slots[t]]; part != kNoIndex)
      has(part);
    else
      before.eachLeaf(state.slots[t], state.mesh.cuts[t], has);
  }
  return apart;
}

// Leads later cracks on through a splinter, or lets one end inside; returns whether that helped with one.
bool healOne(FractureGeometry& geometry, double least) {
  const std::vector<PlannedCrack> plan = geometry.cracks();
  CutTrees before(plan);
  const Parts parts(geometry.cracked(), least);
  before.read(geometry.cracked(), parts.of);
  const size_t open = openEdges(geometry.cracked());
  // The parts of tetrahedra that no mark cuts.
  std::vector<uint32_t> partBySlot;
  const State& state = geometry.cracked();
  for (uint32_t t = 0; t < state.mesh.size(); ++t) {
    const uint32_t slot = state.slots[t];
    if (slot >= partBySlot.size()) partBySlot.resize(slot + 1, kNoIndex);
    partBySlot[slot] = before.cuts(slot) ? kNoIndex : parts.of[t];
  }
  const auto helps = [&](const CutTrees& trees) {
    std::vector<PlannedCrack> next = trees.plan();
    if (next == plan) return false;
    try {
      geometry.setCracks(std::move(next));
      const Parts now(geometry.cracked(), least);
      return better(before, parts, geometry.cracked(), now, partBySlot) &&
             openEdges(geometry.cracked()) <= open;
    } catch (const Error&) {
      return false;  // rounding: a crack only touches what it was led into
    }
  };
  std::vector<uint32_t> splinters;
  for (uint32_t p = 0; p < parts.volume.size(); ++p)
    if (parts.tiny(p)) splinters.push_back(p);
  std::stable_sort(splinters.begin(), splinters.end(),
                   [&](uint32_t a, uint32_t b) { return parts.volume[a] < parts.volume[b]; });
  for (const uint32_t part : splinters) {
    // All of its cracks, then one alone, that with the largest area first.
    std::vector<double> area(plan.size(), 0);
    before.eachMark([&](uint32_t i) {
      const auto& node = before.node(i);
      if (before.label(node.child[0]) == part || before.label(node.child[1]) == part)
        area[node.crack] += node.area;
    });
    std::vector<uint32_t> cracks;
    for (uint32_t k = 0; k < plan.size(); ++k)
      if (area[k] > 0) cracks.push_back(k);
    std::stable_sort(cracks.begin(), cracks.end(), [&](uint32_t a, uint32_t b) { return area[a] > area[b]; });
    cracks.insert(cracks.begin(), kNoIndex);
    for (const uint32_t crack : cracks) {
      CutTrees trees = before;
      trees.dissolve(part, crack);
      if (helps(trees)) return true;
    }
    const auto tiny = [&](uint32_t label) { return parts.tiny(label); };
    for (const uint32_t other : PartNeighbours(before, before.roots(), part, tiny).byArea()) {
      CutTrees trees = before;
      join(trees, trees.roots(), part, other, tiny);
      if (helps(trees)) return true;
    }
  }
  geometry.setCracks(plan);
  return false;
}

}  // namespace

Healing heal(FractureGeometry& geometry, double least) {
  size_t before = 0;
  for (bool first = true;; first = false) {
    const Parts parts(geometry.cracked(), least);
    if (first) before = parts.volume.size();
    if (parts.tinyCount() == 0) return {uint32_t(before - parts.volume.size()), 0};
    const std::vector<PlannedCrack> plan = geometry.cracks();
    CutTrees trees(plan);
    trees.read(geometry.cracked(), parts.of);
    if (joinNeighbours(trees, parts))
      geometry.setCracks(trees.plan());
    else if (!healOne(geometry, least))
      return {uint32_t(before - parts.volume.size()), parts.tinyCount()};
  }
}

}  // namespace sunder::fracture
