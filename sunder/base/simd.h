// Which vector instructions the kernels use. Kernels are written once on Highway's vectors of any length,
// compiled for every target of the processor family, and chosen when the program runs; the rest of the code
// is built for the plain baseline (x86-64 without options). Kernels give the same bits on every target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sunder {

// The target in use, as Highway names it: "AVX2", "SSE4", "EMU128" (none) ...
std::string simdTarget();

// All targets that are compiled in and that this processor can run, best first.
std::vector<std::string> simdTargets();

// While it lives, kernels of the whole process run on the named target, one of simdTargets(): for tests and
// for measuring what a target brings. Throws Error (Usage) for another name. Not while kernels run in other
// threads.
class SimdTargetOverride {
 public:
  explicit SimdTargetOverride(std::string_view target);
  ~SimdTargetOverride();
  SimdTargetOverride(const SimdTargetOverride&) = delete;
  SimdTargetOverride& operator=(const SimdTargetOverride&) = delete;
};

}  // namespace sunder
