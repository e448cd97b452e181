#include "sunder/base/simd.h"

#include "sunder/base/error.h"

#include <hwy/highway.h>

namespace sunder {

namespace {

// Highway numbers targets so that the lowest bit is the best one.
std::vector<int64_t> usableTargets() { return hwy::SupportedAndGeneratedTargets(); }

void restrictTo(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::string simdTarget() { return hwy::TargetName(usableTargets().front()); }

std::vector<std::string> simdTargets() {
  std::vector<std::string> names;
  for (int64_t target : usableTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

SimdTargetOverride::SimdTargetOverride(std::string_view name) {
  std::string known;
  for (int64_t target : usableTargets()) {
    if (name == hwy::TargetName(target)) {
      restrictTo(target);
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
  throw Error(ErrorKind::Usage, "no vector target named '" + std::string(name) + "'")
      .hint("there are: " + known);
}

SimdTargetOverride::~SimdTargetOverride() { restrictTo(0); }

}  // namespace sunder
