#include "sunder/cut/kernel/pair_search.h"

#include "sunder/base/error.h"

#include <fmt/format.h>

namespace sunder::cut {

void searchPairs(const spatial::OiTree& a, const spatial::OiTree& b, uint64_t most, const std::string& what,
                 spatial::PairList& list) {
  constexpr uint64_t kMostCounted = 4'000'000'000;
  try {
    spatial::overlapPairs(a, b, list, most);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Limit) throw;
    const spatial::TreePair job{&a, &b};
    const uint64_t count = spatial::countOverlapPairs({&job, 1}, kMostCounted);
    Error refusal(ErrorKind::Limit,
                  fmt::format("{}{:.3g} pairs of faces {} may meet, {:.3g} are allowed by the budget and the "
                              "memory there is",
                              count > kMostCounted ? "more than " : "",
                              double(count > kMostCounted ? kMostCounted : count), what, double(most)));
    if (count <= kMostCounted)
      refusal.hint(fmt::format("a budget of {} would do; 'sunder clean' removes faces in one place", count));
    else
      refusal.hint("'sunder clean' removes faces in one place");
    throw std::move(refusal);
  }
}

}  // namespace sunder::cut
