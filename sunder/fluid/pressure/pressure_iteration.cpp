#include "sunder/fluid/pressure/pressure_iteration.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <limits>

namespace sunder::fluid {

namespace {
constexpr size_t kPressureGrain = 4096;
}

double meanError(std::span<const float> errors, MeanError mean) {
  if (errors.empty()) return 0;
  const float least = mean == MeanError::Compressed ? 0.0f : -std::numeric_limits<float>::infinity();
  const double sum = parallelReduce(
      errors.size(), 0.0,
      [&](size_t begin, size_t end) {
        double part = 0;
        for (size_t i = begin; i < end; ++i) part += double(std::max(errors[i], least));
        return part;
      },
      [](double a, double b) { return a + b; }, kPressureGrain);
  return sum / double(errors.size());
}

}  // namespace sunder::fluid
