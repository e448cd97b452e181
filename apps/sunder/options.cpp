#include "options.h"

#include "sunder/base/error.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/core.h>

namespace sunder::cli {

Check::Check(std::function<std::string(const std::string&)> problem)
    : Check(CLI::Validator([problem](const std::string& text) { return problem(text); }, "")) {}

Check::Check(const CLI::Validator& validator)
    : validator_(std::make_shared<const CLI::Validator>(validator)) {}

template <class T>
Check inRange(T least, T most) {
  return Check(CLI::Range(least, most));
}
template Check inRange(int, int);
template Check inRange(unsigned, unsigned);
template Check inRange(uint64_t, uint64_t);
template Check inRange(double, double);

Check oneOf(const std::vector<std::string>& words) { return Check(CLI::IsMember(words)); }

Check distanceCheck() {
  return Check([](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 1e36) return std::string();
    return fmt::format("wants a distance from 0 to 1e36, not '{}'", text);
  });
}

namespace {

Check numberCheck(const char* what, bool (*fits)(double)) {
  return Check([what, fits](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && fits(value)) return std::string();
    return fmt::format("must be {}, not '{}'", what, text);
  });
}

}  // namespace

Check positiveCheck() {
  return numberCheck("a positive number", [](double value) { return value > 0; });
}

Check notNegativeCheck() {
  return numberCheck("a number of at least 0", [](double value) { return value >= 0; });
}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::check(const Check& check) {
  option_->check(*check.validator_);
  return this;
}

Option* Option::typeName(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::showDefault() {
  option_->capture_default_str();
  return this;
}

Option* Option::group(const std::string& title) {
  option_->group(title);
  return this;
}

Option* Option::expected(int count) {
  option_->expected(count);
  return this;
}

Option* Option::expected(int least, int most) {
  option_->expected(least, most);
  return this;
}

Option* Option::oneValueEach() {
  option_->allow_extra_args(false);
  return this;
}

Option* Option::takeAll() {
  option_->take_all();
  return this;
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::excludes(const std::string& other) {
  option_->excludes(other);
  return this;
}

size_t Option::count() const { return option_->count(); }

std::string Option::name() const { return option_->get_name(); }

App::App(const std::string& description, const std::string& name)
    : owned_(std::make_unique<CLI::App>(description, name)), app_(owned_.get()) {
  app_->require_subcommand(1);
  app_->get_formatter()->column_width(34);
  app_->failure_message(CLI::FailureMessage::simple);
}

App::App(CLI::App* verb) : app_(verb) {}

App::~App() = default;

App* App::addVerb(const std::string& name, const std::string& description) {
  verbs_.push_back(std::make_unique<App>(app_->add_subcommand(name, description)));
  return verbs_.back().get();
}

Option* App::keep(CLI::Option* option) { return &options_.emplace_back(option); }

namespace {

template <class T>
struct NumberOf {
  using Type = T;
};
template <class T>
struct NumberOf<std::optional<T>> {
  using Type = T;
};
template <class T>
struct NumberOf<std::vector<T>> {
  using Type = T;
};

// CLI11 takes nothing for 0, and -1 for the largest number where there is no sign.
template <class Number>
std::string problemOfNumber(const std::string& text) {
  if constexpr (std::is_integral_v<Number>) {
    Number value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc() && end == text.data() + text.size()) return {};
    return fmt::format("must be a whole number from {} to {}, not '{}'", std::numeric_limits<Number>::min(),
                       std::numeric_limits<Number>::max(), text);
  } else {
    return text.empty() ? "must be a number, not ''" : std::string();
  }
}

}  // namespace

template <class T>
Option* App::addOption(const std::string& name, T& value, const std::string& description) {
  using Number = typename NumberOf<T>::Type;
  Option* option = keep(app_->add_option(name, value, description));
  if constexpr (std::is_arithmetic_v<Number>) option->check(Check(problemOfNumber<Number>));
  return option;
}
template Option* App::addOption(const std::string&, int&, const std::string&);
template Option* App::addOption(const std::string&, unsigned&, const std::string&);
template Option* App::addOption(const std::string&, uint64_t&, const std::string&);
template Option* App::addOption(const std::string&, double&, const std::string&);
template Option* App::addOption(const std::string&, std::string&, const std::string&);
template Option* App::addOption(const std::string&, std::optional<double>&, const std::string&);
template Option* App::addOption(const std::string&, std::optional<uint64_t>&, const std::string&);
template Option* App::addOption(const std::string&, std::vector<double>&, const std::string&);
template Option* App::addOption(const std::string&, std::vector<std::string>&, const std::string&);

Option* App::addFlag(const std::string& name, bool& value, const std::string& description) {
  return keep(app_->add_flag(name, value, description));
}

Option* App::addVersionFlag(const std::string& name, const std::function<std::string()>& text) {
  return keep(app_->set_version_flag(name, text));
}

void App::footer(const std::string& text) { app_->footer(text); }

std::string App::name() const { return app_->get_name(); }

std::vector<std::string> App::verbNames() const {
  std::vector<std::string> names;
  for (const auto& verb : verbs_) names.push_back(verb->name());
  return names;
}

std::vector<std::string> App::longOptions() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  return names;
}

std::string App::help() const { return app_->help(); }

std::optional<int> App::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e);
    std::string verb = app_->get_name();
    for (const CLI::App* chosen : app_->get_subcommands()) verb += " " + chosen->get_name();
    throw Error(ErrorKind::Usage, e.what()).hint("see '" + verb + " --help'");
  }
  return std::nullopt;
}

bool App::parsed() const { return app_->parsed(); }

}  // namespace sunder::cli
