#include "sunder/base/text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace sunder {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool startsWith(std::string_view text, std::string_view beginning) {
  return text.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), text.begin(),
                                                       [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

size_t editDistance(std::string_view a, std::string_view b) {
  // Three rows of the table are enough: a swap looks two rows back.
  std::vector<size_t> twoAgo(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) current[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(twoAgo, previous);
    std::swap(previous, current);
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
        current[j] = std::min(current[j], twoAgo[j - 2] + 1);
    }
  }
  return current[b.size()];
}

std::string_view nearestName(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  size_t bestDistance = std::max<size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : known) {
    const size_t distance = editDistance(name, candidate);
    if (distance < bestDistance && distance < std::max<size_t>(candidate.size(), 1)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  if (!best.empty() || name.size() < 2) return best;
  const auto longer = std::ranges::find_if(known, [&](std::string_view k) { return startsWith(k, name); });
  return longer == known.end() ? std::string_view{} : *longer;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = nearestName(name, known);
  return nearest.empty() ? "there are: " + joinNames(known) : "did you mean '" + std::string(nearest) + "'?";
}

std::string joinNames(std::span<const std::string_view> names, std::string_view separator) {
  std::string out;
  for (std::string_view n : names) {
    if (!out.empty()) out += separator;
    out += n;
  }
  return out;
}

namespace {

std::string toTwoDigits(double value, bool up) {
  if (value == 0 || !std::isfinite(value)) return "0";
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 1), count = value / unit;
  const double slack = 1e-9 * std::abs(count);  // so that what has two digits stays
  return fmt::format("{:.3g}", unit * (up ? std::ceil(count - slack) : std::floor(count + slack)));
}

}  // namespace

std::string twoDigitsUp(double value) { return toTwoDigits(value, true); }
std::string twoDigitsDown(double value) { return toTwoDigits(value, false); }

}  // namespace sunder
