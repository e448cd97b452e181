#include "sunder/spatial/tree/batch_build.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <exception>
#include <string>

namespace sunder::spatial {

namespace {

constexpr size_t kRuns = 32;
constexpr size_t kLarge = 16'384;      // triangles from which a tree is worth all threads
constexpr size_t kTreeOverhead = 100;  // what a tree costs besides its triangles, in triangles

}  // namespace

template <class Work>
void BatchBuilder::run(std::span<const BatchItem> items, Work&& work) {
  builders_.resize(kRuns);
  std::vector<std::exception_ptr> errors(items.size());
  const auto guarded = [&](OiTreeBuilder& builder, size_t i) {
    try {
      work(builder, items[i]);
    } catch (Error& error) {
      errors[i] = std::make_exception_ptr(
          Error(error.kind(), "tree " + std::to_string(i) + ": " + error.message()).hint(error.hint()));
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  std::vector<size_t> small;
  std::vector<size_t> weight{0};  // of the small ones before each
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t size = items[i].leaves.triangles.size();
    if (size >= kLarge) {
      guarded(builders_[0], i);
    } else {
      small.push_back(i);
      weight.push_back(weight.back() + size + kTreeOverhead);
    }
  }
  const auto runBegin = [&](size_t r) {
    return static_cast<size_t>(std::lower_bound(weight.begin(), weight.end(), weight.back() * r / kRuns) -
                               weight.begin());
  };
  parallelFor(
      kRuns,
      [&](size_t r) {
        const size_t end = r + 1 == kRuns ? small.size() : runBegin(r + 1);
        for (size_t k = runBegin(r); k < end; ++k) guarded(builders_[r], small[k]);
      },
      1);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

void BatchBuilder::build(std::span<const BatchItem> items, const TreeSettings& settings) {
  run(items, [&](OiTreeBuilder& builder, const BatchItem& item) {
    builder.build(*item.tree, item.leaves, settings);
  });
}

void BatchBuilder::refit(std::span<const BatchItem> items, double margin) {
  run(items,
      [&](OiTreeBuilder& builder, const BatchItem& item) { builder.refit(*item.tree, item.leaves, margin); });
}

size_t BatchBuilder::bytes() const {
  size_t sum = 0;
  for (const OiTreeBuilder& builder : builders_) sum += builder.bytes();
  return sum;
}

}  // namespace sunder::spatial
