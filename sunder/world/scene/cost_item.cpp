#include "sunder/world/scene/cost_item.h"

#include "sunder/base/memory_limit.h"
#include "sunder/rigid/solver/broad_phase.h"
#include "sunder/world/scene/scene_arrays.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kFill = 0.95;          // of the memory, by what is proposed
constexpr double kLargestScale = 1e24;  // numbers of a scene reach to 1e30
constexpr int kScaleSteps = 48;
// Pairs that touch once bodies have come together, for each that moves; how long that takes, s.
constexpr double kPairsABody = 3, kSecondsToMeet = 0.5;

// The least scale at which the rest and what follows from the number fit; none where none does.
std::optional<double> fittingScale(const Blame& blame, double memory) {
  // Some less than allowed: what is proposed is rounded, and few numbers change one item alone.
  const auto fits = [&](double scale) { return blame.besides + blame.bytesAt(scale) <= kFill * memory; };
  for (const CostLever* lever : blame.levers)
    if (!lever->bytes) return std::nullopt;
  if (!fits(kLargestScale)) return std::nullopt;
  double low = 0, high = std::log(kLargestScale);  // of the logarithm
  for (int i = 0; i < kScaleSteps; ++i) {
    const double middle = 0.5 * (low + high);
    (fits(std::exp(middle)) ? high : low) = middle;
  }
  return std::exp(high) * (1 + 1e-9);
}

std::string keyWords(const std::string& pointer) {
  std::string words = pointer.substr(1);
  std::replace(words.begin(), words.end(), '/', '.');
  return words;
}

}  // namespace

double Blame::bytesAt(double at) const {
  double sum = 0;
  for (const CostLever* lever : levers) sum += lever->bytes ? lever->bytes(at) : 0;
  return sum;
}

std::string countWords(double count) {
  return count < 1e7 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

void refuse(const SceneDocument& document, std::vector<Blame> blames, double total, double unbroken,
            uint64_t memory) {
  for (Blame& blame : blames) blame.scale = fittingScale(blame, double(memory));
  std::stable_partition(blames.begin(), blames.end(),
                        [](const Blame& blame) { return blame.scale.has_value(); });
  const Blame& first = blames.front();
  const std::string value = first.named->value(1);
  std::string advice;
  for (size_t i = 0; i < std::min<size_t>(blames.size(), 3); ++i) {
    const Blame& blame = blames[i];
    if (!blame.scale) continue;
    const std::string better = blame.named->value(*blame.scale);
    const std::string named = fmt::format("{} of {}", keyWords(blame.pointer), better);
    if (advice.empty())
      advice = fmt::format("{} would fit", i == 0 ? better : named);
    else
      advice += ", or " + named;
  }
  advice += advice.empty() ? "make the scene smaller, or raise the limit with --memory"
                           : "; --memory changes the limit";
  const std::string& impossible = first.largest->impossible;
  const std::string ifBroken =
      unbroken < double(memory)
          ? fmt::format(" if all breaks that can ({} if nothing does)", bytesWords(unbroken))
          : "";
  throw document
      .error(first.pointer,
             impossible.empty()
                 ? fmt::format("{} makes {}: about {} of memory{}, and the limit is {}", value,
                               first.largest->what, bytesWords(total), ifBroken, bytesWords(double(memory)))
                 : fmt::format("{} makes {}; {}", value, first.largest->what, impossible),
             ErrorKind::Limit)
      .hint(advice);
}

void refuseItem(const SceneDocument& document, const CostItem& item, double besides, uint64_t memory) {
  std::vector<Blame> blames;
  const double own = item.kept + item.passing;
  for (const CostLever& lever : item.levers)
    blames.push_back({lever.pointer, besides + kProcessBytes, {&lever}, &item, &lever, {}});
  if (blames.empty())
    throw document
        .error("",
               fmt::format("{}: about {} of memory, and the limit is {}", item.what,
                           bytesWords(own + besides), bytesWords(double(memory))),
               ErrorKind::Limit)
        .hint("make the scene smaller, or raise the limit with --memory");
  refuse(document, std::move(blames), own + besides, own + besides, memory);
}

Vec3 boxOfFill(const SceneNode& array) {
  const SceneNode box = array["fill"]["box"];
  return box["upper"].vector(kLength) - box["lower"].vector(kLength);
}

double bytesABody(const WorldSettings& world) {
  const double met = std::min(1.0, world.frameTime(world.frames) / kSecondsToMeet);
  return kBytesABody + met * kPairsABody * rigid::kBytesAPair;
}

CostLever countLever(const SceneNode& array, double bytesEach) {
  std::string pattern;
  std::array<double, 3> counts{arrayCount(array, &pattern), 1, 1};
  const bool grid = pattern == "grid", letters = pattern == "letters";
  if (grid)
    for (size_t k = 0; k < 3; ++k) counts[k] = double(array["grid"]["count"][k].whole());
  double most = Box3::kInfinity;  // that there is room for
  if (pattern == "fill") {
    const Vec3 cells = (boxOfFill(array) / array["fill"]["spacing"].positive(kLength)).array().floor();
    most = std::max(1.0, cells.prod());
  }
  const auto at = [counts, most](size_t k, double scale) {
    return scale == 1 ? counts[k] : std::min(most, std::max(1.0, std::floor(counts[k] / scale + 1e-6)));
  };
  return {array.pointer() + "/" + pattern + (letters ? "/text" : "/count"),
          [=](double s) {
            if (letters) return fmt::format("{}{:.0f} letters", s == 1 ? "" : "the first ", at(0, s));
            return grid ? fmt::format("[{:.0f}, {:.0f}, {:.0f}]", at(0, s), at(1, s), at(2, s))
                        : fmt::format("{:.0f}", at(0, s));
          },
          [=](double s) { return bytesEach * at(0, s) * at(1, s) * at(2, s); }};
}

}  // namespace sunder::world
