// The verbs and options of the command line. The parsing is CLI11's, whose headers only options.cpp includes:
// they take longer to compile than a verb.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace sunder::cli {

// Which values an option takes. What a range or a list of words accepts is named in the option's help.
class Check {
 public:
  // `problem` gets the text of a value and returns what is wrong with it, or nothing.
  explicit Check(std::function<std::string(const std::string&)> problem);
  explicit Check(const CLI::Validator& validator);

 private:
  friend class Option;
  std::shared_ptr<const CLI::Validator> validator_;
};

// A number from `least` to `most`: of type int, unsigned, uint64_t or double.
template <class T>
Check inRange(T least, T most);
// One of these words.
Check oneOf(const std::vector<std::string>& words);
// For options that are distances: a number from 0 to 1e36.
Check distanceCheck();
// A number above 0, and one of at least 0. CLI11's own name the largest double there is, in 309 digits.
Check positiveCheck();
Check notNegativeCheck();

// An option, flag or argument of a verb. What changes it returns it, so that calls can follow each other.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required();
  Option* check(const Check& check);
  Option* typeName(const std::string& name);  // what the help shows in place of the value
  Option* showDefault();                      // the help names the value that it has now
  Option* group(const std::string& title);    // the heading of the help under which it stands
  Option* expected(int count);                // how many values follow it
  Option* expected(int least, int most);
  Option* oneValueEach();  // of a list: one value follows, and the option may be repeated
  Option* takeAll();       // of a list: all values of all repetitions
  Option* needs(Option* other);
  Option* excludes(const std::string& other);

  size_t count() const;  // how many values were given; 0 if the option was not used
  std::string name() const;

 private:
  CLI::Option* option_;
};

// The command, or a verb of it.
class App {
 public:
  App(const std::string& description, const std::string& name);
  explicit App(CLI::App* verb);
  ~App();

  App* addVerb(const std::string& name, const std::string& description);
  // A name without dashes is a positional argument. `value` must live until after parse(); options.cpp lists
  // its types.
  template <class T>
  Option* addOption(const std::string& name, T& value, const std::string& description);
  Option* addFlag(const std::string& name, bool& value, const std::string& description);
  Option* addVersionFlag(const std::string& name, const std::function<std::string()>& text);
  void footer(const std::string& text);

  std::string name() const;
  std::vector<std::string> verbNames() const;
  const std::vector<std::unique_ptr<App>>& verbs() const { return verbs_; }
  std::vector<std::string> longOptions() const;  // with "--help"; without "--"
  std::string help() const;

  // Sets the values of the options that were given. Returns an exit code where help or the version was asked
  // for, and printed. Throws Error (Usage) where the arguments are wrong.
  std::optional<int> parse(int argc, char** argv);
  bool parsed() const;  // whether this verb was given

 private:
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> owned_;  // of the command; verbs are held by CLI11
  CLI::App* app_;
  std::vector<std::unique_ptr<App>> verbs_;
  std::deque<Option> options_;
};

}  // namespace sunder::cli
