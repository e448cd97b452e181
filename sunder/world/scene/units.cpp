#include "sunder/world/scene/units.h"

#include "sunder/base/error.h"
#include "sunder/base/math.h"
#include "sunder/base/text.h"

#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/core.h>

namespace sunder::world {

namespace {

struct Unit {
  std::string_view name;
  double factor;
  std::array<int, 4> powers;
};

constexpr std::array<int, 4> kM{1, 0, 0, 0}, kKg{0, 1, 0, 0}, kS{0, 0, 1, 0}, kRad{0, 0, 0, 1};

constexpr std::array<Unit, 42> kUnits{{
    {"m", 1, kM},
    {"km", 1e3, kM},
    {"dm", 1e-1, kM},
    {"cm", 1e-2, kM},
    {"mm", 1e-3, kM},
    {"um", 1e-6, kM},
    {"in", 0.0254, kM},
    {"ft", 0.3048, kM},
    {"kg", 1, kKg},
    {"g", 1e-3, kKg},
    {"mg", 1e-6, kKg},
    {"t", 1e3, kKg},
    {"lb", 0.45359237, kKg},
    {"s", 1, kS},
    {"ms", 1e-3, kS},
    {"us", 1e-6, kS},
    {"min", 60, kS},
    {"h", 3600, kS},
    {"rad", 1, kRad},
    {"deg", kPi / 180, kRad},
    {"turn", 2 * kPi, kRad},
    {"turns", 2 * kPi, kRad},
    {"rpm", 2 * kPi / 60, {0, 0, -1, 1}},
    {"Hz", 1, {0, 0, -1, 0}},
    {"kHz", 1e3, {0, 0, -1, 0}},
    {"N", 1, {1, 1, -2, 0}},
    {"mN", 1e-3, {1, 1, -2, 0}},
    {"kN", 1e3, {1, 1, -2, 0}},
    {"MN", 1e6, {1, 1, -2, 0}},
    {"Nm", 1, {2, 1, -2, 0}},
    {"Ns", 1, {1, 1, -1, 0}},
    {"J", 1, {2, 1, -2, 0}},
    {"kJ", 1e3, {2, 1, -2, 0}},
    {"Pa", 1, {-1, 1, -2, 0}},
    {"kPa", 1e3, {-1, 1, -2, 0}},
    {"MPa", 1e6, {-1, 1, -2, 0}},
    {"GPa", 1e9, {-1, 1, -2, 0}},
    {"l", 1e-3, {3, 0, 0, 0}},
    {"ml", 1e-6, {3, 0, 0, 0}},
    {"mph", 0.44704, {1, 0, -1, 0}},
    {"gee", 9.80665, {1, 0, -2, 0}},
    {"%", 0.01, {0, 0, 0, 0}},
}};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(std::string_view text, const Dimension& dimension) : text_(text), dimension_(dimension) {}

  double run() {
    double value = number();
    if (peek() == '/' && at_ + 1 < text_.size() && (isDigit(text_[at_ + 1]) || text_[at_ + 1] == ' ')) {
      ++at_;
      value /= number();
    }
    std::array<int, 4> halves{};  // twice the powers
    bool units = false;
    int sign = 1;
    while (peek() != 0) {
      const char c = peek();
      if (c == '/' || c == '*') {
        ++at_;
        sign = c == '/' ? -1 : 1;
        if (peek() == 0 || !isLetter(peek())) fail("a unit is missing");
      } else if (isLetter(c)) {
        unit(sign, value, halves);
        units = true;
      } else {
        fail(fmt::format("'{}' is not expected here", c));
      }
    }
    std::array<int, 4> wanted{};
    for (size_t k = 0; k < 4; ++k) wanted[k] = 2 * dimension_.powers[k];
    wanted[0] += dimension_.halfMetres;
    if (units && halves != wanted) fail("the unit is of another kind");
    if (!std::isfinite(value)) fail("the number is not finite");
    return value;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  double number() {
    peek();
    double value = 0;
    const char* start = text_.data() + at_;
    if (at_ < text_.size() && *start == '+') ++start;
    const auto [end, code] = std::from_chars(start, text_.data() + text_.size(), value);
    if (code != std::errc() || !std::isfinite(value)) fail("there is no number");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  void unit(int sign, double& value, std::array<int, 4>& halves) {
    const size_t start = at_;
    while (at_ < text_.size() && isLetter(text_[at_])) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (at_ < text_.size() && text_[at_] == '^') ++at_;
    double power = 1;
    if (at_ < text_.size() && (isDigit(text_[at_]) || text_[at_] == '-')) {
      const auto [end, code] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), power, std::chars_format::fixed);
      const bool half = std::floor(2 * power) == 2 * power;
      if (code != std::errc() || !half || power == 0 || std::abs(power) > 9) fail("a power makes no sense");
      at_ = static_cast<size_t>(end - text_.data());
    }
    for (const Unit& u : kUnits) {
      if (u.name != name) continue;
      value *= std::pow(u.factor, sign * power);
      for (size_t k = 0; k < 4; ++k) halves[k] += sign * static_cast<int>(2 * power) * u.powers[k];
      return;
    }
    std::vector<std::string_view> names;
    for (const Unit& u : kUnits) names.push_back(u.name);
    throw Error(ErrorKind::Format, fmt::format("\"{}\" has the unknown unit '{}'", text_, name))
        .hint(suggestion(name, names));
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::Format, fmt::format("\"{}\" is not understood: {}", text_, why))
        .hint(fmt::format("write {}", dimension_.example));
  }

  std::string_view text_;
  const Dimension& dimension_;
  size_t at_ = 0;
};

}  // namespace

double parseQuantity(std::string_view text, const Dimension& dimension) {
  return Parser(text, dimension).run();
}

}  // namespace sunder::world
