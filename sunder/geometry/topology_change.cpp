#include "sunder/geometry/topology_change.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sunder::geometry {

namespace {

using Count = uint32_t BodyRecord::*;
using Source = std::vector<uint32_t> TopologyChange::*;
struct Element {
  const char* name;
  Count count;
  Source source;
};
constexpr Element kElements[] = {{"vertex", &BodyRecord::vertices, &TopologyChange::vertexSource},
                                 {"face", &BodyRecord::faces, &TopologyChange::faceSource},
                                 {"tetrahedron", &BodyRecord::tets, &TopologyChange::tetSource}};

const BodyRecord& record(const BodyRecord& body) { return body; }
const BodyRecord& record(const AppearedBody& body) { return body.body; }

// Where each body's elements begin in the common numbering, and the end.
template <class Bodies>
std::vector<size_t> starts(const Bodies& bodies, Count count) {
  std::vector<size_t> result{0};
  for (const auto& b : bodies) result.push_back(result.back() + record(b).*count);
  return result;
}

template <class Bodies>
std::map<uint64_t, uint32_t> positionsById(const Bodies& bodies) {
  std::map<uint64_t, uint32_t> result;
  for (uint32_t i = 0; i < bodies.size(); ++i) result.emplace(record(bodies[i]).id, i);
  return result;
}

}  // namespace

uint64_t childId(uint64_t parent, uint32_t ordinal) {
  // Two rounds of the SplitMix64 finaliser (Steele et al. 2014).
  uint64_t z = parent;
  for (uint64_t step : {uint64_t(0), uint64_t(ordinal) + 1}) {
    z += 0x9e3779b97f4a7c15ull * (step + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  return z;
}

Rows descendants(const std::vector<uint32_t>& source, size_t oldCount) {
  return groupBy<uint32_t>(
      source.size(), oldCount, [&](size_t i) { return source[i]; }, [](size_t i) { return u32(i); });
}

std::vector<BodySources> sourcesByBody(const TopologyChange& change) {
  std::vector<BodySources> out;
  size_t vertices = 0, faces = 0, tets = 0;
  const auto next = [](const std::vector<uint32_t>& source, size_t& at, uint32_t count) {
    const std::span<const uint32_t> part = std::span(source).subspan(at, count);
    at += count;
    return part;
  };
  for (const AppearedBody& b : change.appeared)
    out.push_back({next(change.vertexSource, vertices, b.body.vertices),
                   next(change.faceSource, faces, b.body.faces), next(change.tetSource, tets, b.body.tets)});
  return out;
}

std::string validate(const TopologyChange& change) {
  std::set<uint64_t> ids;
  for (const BodyRecord& b : change.disappeared) {
    if (!ids.insert(b.id).second) return fmt::format("body {} disappears twice", b.id);
  }
  ids.clear();
  for (const AppearedBody& b : change.appeared) {
    if (!ids.insert(b.body.id).second) return fmt::format("body {} appears twice", b.body.id);
    for (size_t i = 0; i < b.parents.size(); ++i) {
      if (b.parents[i] >= change.disappeared.size())
        return fmt::format("body {} has no such parent", b.body.id);
      if (i != 0 && b.parents[i] <= b.parents[i - 1])
        return fmt::format("body {} has unsorted parents", b.body.id);
    }
  }
  for (const Element& element : kElements) {
    const std::vector<size_t> oldStart = starts(change.disappeared, element.count);
    const std::vector<size_t> newStart = starts(change.appeared, element.count);
    const std::vector<uint32_t>& source = change.*element.source;
    if (source.size() != newStart.back()) {
      return fmt::format("the {} map has {} entries for {} new elements", element.name, source.size(),
                         newStart.back());
    }
    for (size_t b = 0; b < change.appeared.size(); ++b) {
      const AppearedBody& body = change.appeared[b];
      for (size_t i = newStart[b]; i < newStart[b + 1]; ++i) {
        if (source[i] == kNoIndex) continue;
        const bool known = std::any_of(body.parents.begin(), body.parents.end(), [&](uint32_t p) {
          return oldStart[p] <= source[i] && source[i] < oldStart[p + 1];
        });
        if (!known) {
          return fmt::format("{} {} of body {} comes from none of its parents", element.name, i - newStart[b],
                             body.body.id);
        }
      }
    }
  }
  return {};
}

TopologyChange compose(const TopologyChange& first, const TopologyChange& second) {
  for (const TopologyChange* change : {&first, &second}) {
    const std::string trouble = validate(*change);
    if (!trouble.empty())
      throw Error(ErrorKind::Usage, "a change that is not consistent cannot be composed: " + trouble);
  }
  const auto goneFirst = positionsById(first.disappeared), goneSecond = positionsById(second.disappeared);
  const auto madeFirst = positionsById(first.appeared);

  TopologyChange result;
  result.kind = first.kind == second.kind ? first.kind : ChangeKind::Several;
  result.disappeared = first.disappeared;
  std::vector<uint32_t> oldOfSecond(second.disappeared.size(),
                                    kNoIndex);  // its place in the result, if it is there
  for (uint32_t i = 0; i < second.disappeared.size(); ++i) {
    const BodyRecord& b = second.disappeared[i];
    if (const auto made = madeFirst.find(b.id); made != madeFirst.end()) {
      if (first.appeared[made->second].body != b) {
        throw Error(ErrorKind::Usage,
                    fmt::format("body {} disappears with other counts than it appeared with", b.id));
      }
      continue;
    }
    if (goneFirst.contains(b.id))
      throw Error(ErrorKind::Usage, fmt::format("body {} disappears twice", b.id));
    oldOfSecond[i] = u32(result.disappeared.size());
    result.disappeared.push_back(b);
  }

  std::vector<uint32_t> kept;  // bodies of `first` that `second` leaves alone
  for (uint32_t i = 0; i < first.appeared.size(); ++i) {
    if (goneSecond.contains(first.appeared[i].body.id)) continue;
    kept.push_back(i);
    result.appeared.push_back(first.appeared[i]);
  }
  for (const AppearedBody& b : second.appeared) {
    AppearedBody body = b;
    std::set<uint32_t> parents;
    for (uint32_t p : b.parents) {
      if (oldOfSecond[p] != kNoIndex) {
        parents.insert(oldOfSecond[p]);
      } else {
        const auto& ancestors = first.appeared[madeFirst.at(second.disappeared[p].id)].parents;
        parents.insert(ancestors.begin(), ancestors.end());
      }
    }
    body.parents.assign(parents.begin(), parents.end());
    result.appeared.push_back(std::move(body));
  }

  for (const Element& element : kElements) {
    const std::vector<uint32_t>& source1 = first.*element.source;
    const std::vector<uint32_t>& source2 = second.*element.source;
    const std::vector<size_t> newStart1 = starts(first.appeared, element.count);
    const std::vector<size_t> oldStart2 = starts(second.disappeared, element.count);
    const std::vector<size_t> oldStart = starts(result.disappeared, element.count);
    // What each element that `second` started from was before `first`.
    std::vector<uint32_t> before(oldStart2.back());
    for (uint32_t b = 0; b < second.disappeared.size(); ++b) {
      for (size_t i = oldStart2[b]; i < oldStart2[b + 1]; ++i) {
        const size_t within = i - oldStart2[b];
        before[i] = oldOfSecond[b] != kNoIndex
                        ? u32(oldStart[oldOfSecond[b]] + within)
                        : source1[newStart1[madeFirst.at(second.disappeared[b].id)] + within];
      }
    }
    std::vector<uint32_t>& out = result.*element.source;
    for (uint32_t b : kept) {
      out.insert(out.end(), source1.begin() + static_cast<std::ptrdiff_t>(newStart1[b]),
                 source1.begin() + static_cast<std::ptrdiff_t>(newStart1[b + 1]));
    }
    for (uint32_t s : source2) out.push_back(s == kNoIndex ? kNoIndex : before[s]);
  }
  if (const std::string trouble = validate(result); !trouble.empty()) {
    throw Error(ErrorKind::Usage, "the two changes do not fit together: " + trouble);
  }
  return result;
}

}  // namespace sunder::geometry
