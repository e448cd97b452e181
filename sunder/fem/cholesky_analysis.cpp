// Ordering, elimination tree, supernodes and the places of the matrix's blocks in their panels.
#include "sunder/fem/block_cholesky.h"

#include <algorithm>
#include <numeric>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace sunder::fem {

namespace {

using Work = CholeskyAnalysis::Work;

// place[vertex] by approximate minimum degree.
void orderVertices(const SparsePattern& pattern, std::vector<uint32_t>& place) {
  const size_t n = pattern.rows();
  Eigen::SparseMatrix<float> graph(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  graph.resizeNonZeros(static_cast<Eigen::Index>(2 * pattern.slots() - n));
  int* outer = graph.outerIndexPtr();
  int* inner = graph.innerIndexPtr();
  int written = 0;
  for (size_t i = 0; i < n; ++i) {
    outer[i] = written;
    inner[written++] = int(i);  // the ordering takes rows without a diagonal for dense ones
    for (const SparsePattern::Neighbour& j : pattern.neighbours(i)) inner[written++] = int(j.vertex);
  }
  outer[n] = written;
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::internal::minimum_degree_ordering(graph, order);
  place.resize(n);
  for (size_t k = 0; k < n; ++k) place[size_t(order.indices()[Eigen::Index(k)])] = static_cast<uint32_t>(k);
}

// work.at[place] = vertex.
void invert(const std::vector<uint32_t>& place, std::vector<uint32_t>& vertexAt) {
  vertexAt.resize(place.size());
  for (size_t v = 0; v < place.size(); ++v) vertexAt[place[v]] = static_cast<uint32_t>(v);
}

// Liu's elimination tree with compressed paths. Not a case for base/disjoint_sets.h: what matters is the way
// up to the latest vertex, not whose set is whose.
void eliminationTree(const SparsePattern& pattern, const std::vector<uint32_t>& place, Work& w) {
  const size_t n = place.size();
  w.parent.assign(n, kNoIndex);
  w.ancestor.assign(n, kNoIndex);
  for (uint32_t i = 0; i < n; ++i)
    for (const SparsePattern::Neighbour& neighbour : pattern.neighbours(w.at[i])) {
      for (uint32_t j = place[neighbour.vertex]; j < i;) {
        const uint32_t next = w.ancestor[j];
        w.ancestor[j] = i;
        if (next == kNoIndex) w.parent[j] = i;
        j = next == kNoIndex ? i : next;
      }
    }
}

// Renumbers so that every subtree is a range that ends with its root; the fill stays the same.
void postorder(std::vector<uint32_t>& place, Work& w) {
  const size_t n = place.size();
  w.child.assign(n, kNoIndex);
  w.sibling.assign(n, kNoIndex);
  for (auto j = static_cast<uint32_t>(n); j-- > 0;)
    if (w.parent[j] != kNoIndex) {
      w.sibling[j] = w.child[w.parent[j]];
      w.child[w.parent[j]] = j;
    }
  w.post.resize(n);
  uint32_t next = 0;
  for (uint32_t root = 0; root < n; ++root) {
    if (w.parent[root] != kNoIndex) continue;
    for (uint32_t j = root; j != kNoIndex;) {
      while (w.child[j] != kNoIndex) j = w.child[j];
      // Up until there is a sibling to go down again.
      for (;;) {
        w.post[j] = next++;
        if (j == root) {
          j = kNoIndex;
          break;
        }
        if (w.sibling[j] != kNoIndex) {
          j = w.sibling[j];
          break;
        }
        j = w.parent[j];
      }
    }
  }
  for (uint32_t& p : place) p = w.post[p];
  w.ancestor.assign(n, kNoIndex);
  for (uint32_t j = 0; j < n; ++j)
    if (w.parent[j] != kNoIndex) w.ancestor[w.post[j]] = w.post[w.parent[j]];
  w.parent.swap(w.ancestor);
}

// Rows below the diagonal of every column of the factor, unsorted: those of the matrix and of the children.
void columnStructures(const SparsePattern& pattern, const std::vector<uint32_t>& place, Work& w) {
  const auto n = static_cast<uint32_t>(place.size());
  w.child.assign(n, kNoIndex);
  w.sibling.assign(n, kNoIndex);
  w.mark.assign(n, kNoIndex);
  w.structStart.assign(1, 0);
  w.structure.clear();
  for (uint32_t j = 0; j < n; ++j) {
    w.mark[j] = j;
    for (const SparsePattern::Neighbour& neighbour : pattern.neighbours(w.at[j])) {
      const uint32_t i = place[neighbour.vertex];
      if (i > j && w.mark[i] != j) {
        w.mark[i] = j;
        w.structure.push_back(i);
      }
    }
    for (uint32_t c = w.child[j]; c != kNoIndex; c = w.sibling[c])
      for (uint32_t k = w.structStart[c]; k < w.structStart[c + 1]; ++k) {
        const uint32_t i = w.structure[k];
        if (w.mark[i] != j) {
          w.mark[i] = j;
          w.structure.push_back(i);
        }
      }
    w.structStart.push_back(static_cast<uint32_t>(w.structure.size()));
    if (w.parent[j] != kNoIndex) {
      w.sibling[j] = w.child[w.parent[j]];
      w.child[w.parent[j]] = j;
    }
  }
}

// How many zeros a panel may hold to have fewer, wider panels: more in narrow ones, where a panel costs more
// than its numbers.
bool worthMerging(size_t width, double zeros, double all) {
  if (width <= 4) return zeros <= 0.5 * all;
  if (width <= 16) return zeros <= 0.2 * all;
  if (width <= 48) return zeros <= 0.1 * all;
  return zeros <= 0.05 * all;
}

void makeSupernodes(CholeskyAnalysis& a) {
  Work& w = a.work;
  const auto n = static_cast<uint32_t>(a.place.size());
  const auto count = [&](uint32_t j) { return w.structStart[j + 1] - w.structStart[j]; };
  a.supernodes.clear();
  w.tail.clear();  // zeros in each panel
  for (uint32_t j = 0; j < n; ++j) {
    const bool extends = !a.supernodes.empty() && w.parent[j - 1] == j && count(j - 1) == count(j) + 1;
    if (extends) {
      ++a.supernodes.back().width;
      a.supernodes.back().rowCount = count(j);
    } else {
      a.supernodes.push_back({.first = j, .width = 1, .rowCount = count(j)});
      w.tail.push_back(0);
    }
    // A panel is complete when the next column does not extend it; only then it may take in its child.
    if (j + 1 < n && w.parent[j] == j + 1 && count(j) == count(j + 1) + 1) continue;
    while (a.supernodes.size() > 1) {
      Supernode &last = a.supernodes.back(), &before = a.supernodes[a.supernodes.size() - 2];
      const uint32_t parent = w.parent[last.first - 1];
      if (parent == kNoIndex || parent >= last.first + last.width) break;
      const uint32_t width = before.width + last.width;
      const uint32_t more = before.width * (last.width + last.rowCount - before.rowCount);
      const uint32_t zeros = w.tail.back() + w.tail[w.tail.size() - 2] + more;
      const double all = 0.5 * width * (width + 1) + double(width) * last.rowCount;
      if (!worthMerging(width, zeros, all)) break;
      before.width = width;
      before.rowCount = last.rowCount;
      a.supernodes.pop_back();
      w.tail.pop_back();
      w.tail.back() = zeros;
    }
  }
}

// Panels are inverted after they are factored, which costs their width once more: wide ones are split.
void splitWide(CholeskyAnalysis& a) {
  constexpr uint32_t kWidest = 32;
  Work& w = a.work;
  w.tail.clear();
  for (const Supernode& node : a.supernodes) {
    const uint32_t pieces = (node.width + kWidest - 1) / kWidest;
    for (uint32_t p = 0; p < pieces; ++p) {
      w.tail.push_back(node.first + uint32_t(uint64_t(node.width) * p / pieces));
      w.tail.push_back(node.first + uint32_t(uint64_t(node.width) * (p + 1) / pieces));
      w.tail.push_back(node.first + node.width - 1);
    }
  }
  a.supernodes.resize(w.tail.size() / 3);
  for (size_t s = 0; s < a.supernodes.size(); ++s) {
    a.supernodes[s] = {};
    a.supernodes[s].first = w.tail[3 * s];
    a.supernodes[s].width = w.tail[3 * s + 1] - w.tail[3 * s];
  }
}

void placePanels(CholeskyAnalysis& a) {
  Work& w = a.work;
  a.rows.clear();
  a.panelSize = 0;
  a.flops = 0;
  a.tallest = 0;
  w.mark.resize(a.place.size());  // supernode of every column
  for (uint32_t s = 0; s < a.supernodes.size(); ++s) {
    Supernode& node = a.supernodes[s];
    const uint32_t last = node.first + node.width - 1;
    for (uint32_t j = node.first; j <= last; ++j) w.mark[j] = s;
    // The other pieces of a split panel, and what is below all of them.
    const uint32_t whole = w.tail[3 * s + 2];
    node.rowStart = static_cast<uint32_t>(a.rows.size());
    for (uint32_t j = last + 1; j <= whole; ++j) a.rows.push_back(j);
    const auto sorted = static_cast<std::ptrdiff_t>(a.rows.size());
    a.rows.insert(a.rows.end(), w.structure.begin() + w.structStart[whole],
                  w.structure.begin() + w.structStart[whole + 1]);
    std::sort(a.rows.begin() + sorted, a.rows.end());
    node.rowCount = static_cast<uint32_t>(a.rows.size()) - node.rowStart;
    // Vectors of four may start in any row and run three past the last.
    node.lead = (3 * (node.width + node.rowCount) + 3 + 3) & ~3u;
    node.panel = a.panelSize;
    a.panelSize += uint64_t(3) * node.width * node.lead;
    a.tallest = std::max(a.tallest, node.lead);
    const double columns = 3.0 * node.width, below = 3.0 * node.rowCount;
    a.flops += columns * columns * columns / 3 + columns * columns * below + columns * below * below;
  }
  a.panelSize += 4;
}

// Which supernodes add to which, sources ascending; and the levels of the tree.
void listUpdates(CholeskyAnalysis& a) {
  Work& w = a.work;
  const auto count = static_cast<uint32_t>(a.supernodes.size());
  const auto eachTarget = [&](uint32_t s, auto&& body) {
    const Supernode& node = a.supernodes[s];
    for (uint32_t begin = 0, end = 0; begin < node.rowCount; begin = end) {
      const uint32_t target = w.mark[a.rows[node.rowStart + begin]];
      while (end < node.rowCount && w.mark[a.rows[node.rowStart + end]] == target) ++end;
      body(target, begin, end);
    }
  };
  for (uint32_t s = 0; s < count; ++s)
    eachTarget(s, [&](uint32_t target, uint32_t, uint32_t) { ++a.supernodes[target].updateCount; });
  uint32_t total = 0;
  for (Supernode& node : a.supernodes) {
    node.updateStart = total;
    total += node.updateCount;
    node.updateCount = 0;
  }
  a.updates.resize(total);
  for (uint32_t s = 0; s < count; ++s)
    eachTarget(s, [&](uint32_t target, uint32_t begin, uint32_t end) {
      Supernode& node = a.supernodes[target];
      a.updates[node.updateStart + node.updateCount++] = {s, begin, end};
    });

  w.tail.assign(count, 0);  // height
  uint32_t height = 0;
  for (uint32_t s = 0; s < count; ++s) {
    const Supernode& node = a.supernodes[s];
    height = std::max(height, w.tail[s] + 1);
    if (node.rowCount == 0) continue;
    uint32_t& parent = w.tail[w.mark[a.rows[node.rowStart]]];
    parent = std::max(parent, w.tail[s] + 1);
  }
  a.levelStart.assign(height + 1, 0);
  for (uint32_t s = 0; s < count; ++s) ++a.levelStart[w.tail[s]];
  geometry::countsToOffsets(a.levelStart);
  a.levels.resize(count);
  w.post.assign(a.levelStart.begin(), a.levelStart.end());
  for (uint32_t s = 0; s < count; ++s) a.levels[w.post[w.tail[s]]++] = s;
}

void placeBlocks(const SparsePattern& pattern, CholeskyAnalysis& a) {
  a.target.resize(pattern.slots());
  for (uint32_t i = 0; i < pattern.rows(); ++i) {
    uint32_t slot = pattern.lowerStart(i);
    for (const uint32_t j : pattern.lowerRow(i)) {
      const uint32_t row = std::max(a.place[i], a.place[j]), column = std::min(a.place[i], a.place[j]);
      const Supernode& node = a.supernodes[a.work.mark[column]];
      uint64_t at = row - node.first;
      if (at >= node.width) {
        const auto begin = a.rows.begin() + node.rowStart;
        at = node.width + static_cast<uint64_t>(std::lower_bound(begin, begin + node.rowCount, row) - begin);
      }
      const uint64_t offset = node.panel + uint64_t(3) * (column - node.first) * node.lead + 3 * at;
      a.target[slot++] = 2 * offset + (a.place[i] < a.place[j] ? 1 : 0);
    }
  }
}

}  // namespace

void analyse(const SparsePattern& pattern, CholeskyAnalysis& a) {
  a.stamp = 0;
  orderVertices(pattern, a.place);
  invert(a.place, a.work.at);
  eliminationTree(pattern, a.place, a.work);
  postorder(a.place, a.work);
  invert(a.place, a.work.at);
  columnStructures(pattern, a.place, a.work);
  makeSupernodes(a);
  splitWide(a);
  placePanels(a);
  listUpdates(a);
  placeBlocks(pattern, a);
  a.stamp = pattern.stamp();
}

}  // namespace sunder::fem
