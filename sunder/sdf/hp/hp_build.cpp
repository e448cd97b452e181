#include "sunder/sdf/hp/hp_build.h"

#include "sunder/base/error.h"
#include "sunder/sdf/hp/hp_builder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

void check(const HpSettings& s) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::Usage, what); };
  if (!(s.error > 0) || !std::isfinite(s.error))
    refuse("the target error of a field must be a positive length");
  if (s.firstDegree < 1 || s.maxDegree < s.firstDegree || s.maxDegree > kLargestDegree)
    refuse(
        fmt::format("degrees of a field go from 1 to {}, the first not above the largest", kLargestDegree));
  if (s.maxLevel < 0 || s.maxLevel > 20) refuse("a field has at most 20 levels");
  if (!(s.guard >= 0) || !(s.alpha >= 0) || !(s.theta >= 0))
    refuse("guard, alpha and theta are not negative");
  for (const uint32_t n : s.base)
    if (n > 512) refuse("the base grid of a field has at most 512 cells along an axis");
}

Box3 domainOf(const Field& source, const HpSettings& settings) {
  Box3 domain = settings.domain;
  if (domain.empty()) {
    domain = source.bounds();
    if (domain.empty() || !domain.lower.allFinite() || !domain.upper.allFinite())
      throw Error(ErrorKind::Geometry, "the source of the field has no finite bounds")
          .hint("give the domain as a box");
    const double least = 0.1 * domain.extent().maxCoeff();
    for (int d = 0; d < 3; ++d) {
      const double grow = std::max(0.05 * (domain.upper[d] - domain.lower[d]), 0.5 * least);
      domain.lower[d] -= grow;
      domain.upper[d] += grow;
    }
  }
  if (!domain.lower.allFinite() || !domain.upper.allFinite() || !(domain.extent().minCoeff() > 0))
    throw Error(ErrorKind::Usage, "the domain of a field must be a finite box with a volume");
  return domain;
}

std::array<uint32_t, 3> baseOf(const Box3& domain, const HpSettings& settings) {
  std::array<uint32_t, 3> base = settings.base;
  const double edge = domain.extent().maxCoeff() / 4;
  for (size_t d = 0; d < 3; ++d)
    if (base[d] == 0)
      base[d] = static_cast<uint32_t>(std::max(1.0, std::round(domain.extent()[int(d)] / edge)));
  const double cells = double(base[0]) * base[1] * base[2];
  const double coefficients = cells * double(coefficientCount(settings.firstDegree));
  if (coefficients > double(settings.mostCoefficients))
    throw Error(ErrorKind::Limit,
                fmt::format("a base grid of {} x {} x {} cells has {:.3g} coefficients, the "
                            "limit of memory is {:.3g}",
                            base[0], base[1], base[2], coefficients, double(settings.mostCoefficients)))
        .hint("take a coarser base grid, or allow more memory");
  return base;
}

}  // namespace

HpError measureHp(const HpForest& forest, const Field& source, size_t count, uint64_t seed, double near) {
  return errorAt(forest, HpProbe(source, {&forest.domain, 1}, count, seed), near);
}

HpForest buildHp(const Field& source, const HpSettings& settings, HpReport& report) {
  check(settings);
  report = {};
  const Box3 domain = domainOf(source, settings);
  HpBuilder builder(source, settings, domain, baseOf(domain, settings), report);
  builder.startFresh();
  return builder.run();
}

HpForest refitHp(const HpForest& forest, const Field& source, const Box3& changed, const HpSettings& settings,
                 HpReport& report) {
  check(settings);
  report = {};
  HpBuilder builder(source, settings, forest.domain, forest.base, report);
  builder.startFromBox(forest, changed);
  return builder.run();
}

HpForest refitAfterCut(const HpForest& forest, const Field& source, const Field& cutter,
                       const HpSettings& settings, HpReport& report) {
  check(settings);
  report = {};
  HpBuilder builder(source, settings, forest.domain, forest.base, report);
  builder.startFromCut(forest, cutter);
  return builder.run();
}

}  // namespace sunder::sdf
