#include "sunder/shapes/catalogue.h"

#include "sunder/base/error.h"
#include "sunder/base/text.h"
#include "sunder/shapes/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> result;
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (end > 0) result.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return result;
}

std::string range(double lower, double upper, const char* unit) {
  return fmt::format("{} to {}{}{}", lower, upper, *unit ? " " : "", unit);
}

std::string didYouMean(std::string_view given, const char* what, std::span<const std::string_view> known) {
  const std::string_view nearest = nearestName(given, known);
  const std::string all = fmt::format("{}: {}", what, joinNames(known));
  return nearest.empty() ? all : fmt::format("did you mean \"{}\"? {}", nearest, all);
}

void checkChoice(const char* shape, const char* name, std::string_view value, const char* choices) {
  const auto known = words(choices);
  if (std::ranges::find(known, value) == known.end())
    throw Error(ErrorKind::Usage,
                fmt::format("{}: {} is \"{}\", but must be one of {}", shape, name, value, joinNames(known)))
        .hint(didYouMean(value, "choices", known));
}

// Collects the catalogue's rows from a struct that holds the defaults.
class FieldCollector final : public ShapeFields {
 public:
  std::vector<ShapeParameter> parameters;

  void number(const char* name, double& value, double lower, double upper, const char* unit,
              const char* text) override {
    parameters.push_back({name, ParameterKind::Number, value, lower, upper, "", "", unit, text});
  }
  void integer(const char* name, int& value, int lower, int upper, const char* text) override {
    parameters.push_back(
        {name, ParameterKind::Integer, double(value), double(lower), double(upper), "", "", "", text});
  }
  void flag(const char* name, bool& value, const char* text) override {
    parameters.push_back({name, ParameterKind::Flag, value ? 1.0 : 0.0, 0, 1, "", "", "", text});
  }
  void choice(const char* name, std::string& value, const char* choices, const char* text) override {
    parameters.push_back({name, ParameterKind::Choice, 0, 0, 0, value, choices, "", text});
  }
  void text(const char* name, std::string& value, const char* text) override {
    parameters.push_back({name, ParameterKind::Text, 0, 0, 0, value, "", "", text});
  }
};

// Fills a struct from text. Ranges are left to the shape's own check.
class FieldReader final : public ShapeFields {
 public:
  FieldReader(const char* shape, const ShapeValues& values) : shape_(shape), values_(values) {}

  void number(const char* name, double& value, double lower, double upper, const char* unit,
              const char*) override {
    if (const std::string* given = find(name))
      value = parse<double>(name, *given, "a number", range(lower, upper, unit));
  }
  void integer(const char* name, int& value, int lower, int upper, const char*) override {
    if (const std::string* given = find(name))
      value = parse<int>(name, *given, "a whole number", range(lower, upper, ""));
  }
  void flag(const char* name, bool& value, const char*) override {
    const std::string* given = find(name);
    if (!given) return;
    if (*given == "1" || *given == "yes" || *given == "true")
      value = true;
    else if (*given == "0" || *given == "no" || *given == "false")
      value = false;
    else
      throw Error(ErrorKind::Usage,
                  fmt::format("{}: {} is \"{}\", but must be yes or no", shape_, name, *given));
  }
  void choice(const char* name, std::string& value, const char* choices, const char*) override {
    if (const std::string* given = find(name)) {
      checkChoice(shape_, name, *given, choices);
      value = *given;
    }
  }
  void text(const char* name, std::string& value, const char*) override {
    if (const std::string* given = find(name)) value = *given;
  }

 private:
  const std::string* find(const char* name) const {
    const auto at = values_.find(std::string_view(name));
    return at == values_.end() ? nullptr : &at->second;
  }
  template <class T>
  T parse(const char* name, const std::string& given, const char* what, const std::string& limits) const {
    T value{};
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error == std::errc() && end == given.data() + given.size()) return value;
    const bool tooLarge = error == std::errc::result_out_of_range;
    throw Error(ErrorKind::Usage,
                tooLarge ? fmt::format("{}: {} is {}, but must lie in {}", shape_, name, given, limits)
                         : fmt::format("{}: {} is \"{}\", which is not {}; it lies in {}", shape_, name,
                                       given, what, limits));
  }

  const char* shape_;
  const ShapeValues& values_;
};

struct Entry {
  const char* name;
  const char* summary;
  bool closed;
  std::vector<ShapeParameter> parameters;
  std::function<geometry::TriMesh(const ShapeValues&)> make;
  std::function<Loft(const ShapeValues&)> loft = {};  // of shapes that have one
};

template <class Shape>
Entry entry(const char* name, const char* summary, geometry::TriMesh (*make)(const Shape&),
            bool closed = true) {
  Shape defaults;
  FieldCollector collector;
  describe(collector, defaults);
  const auto read = [name](const ShapeValues& values) {
    Shape shape;
    FieldReader reader(name, values);
    describe(reader, shape);
    return shape;
  };
  Entry made{name, summary, closed, std::move(collector.parameters),
             [read, make](const ShapeValues& values) { return make(read(values)); }};
  if constexpr (requires(const Shape& shape) { loftOf(shape); })
    made.loft = [read](const ShapeValues& values) { return loftOf(read(values)); };
  return made;
}

struct Catalogue {
  std::vector<Entry> entries;
  std::vector<ShapeInfo> infos;
  std::vector<std::string_view> names;

  Catalogue() {
    entries = {
        entry("box", "a box with gridded faces; centred on the origin", makeBox),
        entry("tetrahedron", "a regular tetrahedron; centred on the origin", makeTetrahedron),
        entry("octahedron", "a regular octahedron; centred on the origin", makeOctahedron),
        entry("icosphere", "a sphere of nearly equal triangles; centred on the origin", makeIcosphere),
        entry("uv-sphere", "a sphere of meridians and parallels, poles on y; centred on the origin",
              makeUvSphere),
        entry("cylinder", "a cylinder around the y axis; centred on the origin", makeCylinder),
        entry("cone", "a cone or frustum around the y axis; centred on the origin", makeCone),
        entry("capsule", "a cylinder around the y axis with half balls as ends; centred on the origin",
              makeCapsule),
        entry("torus", "a ring around the y axis; centred on the origin", makeTorus),
        entry("plate", "a flat plate with sharp or round corners, or a disc; centred on the origin",
              makePlate),
        entry("bowl", "a bowl with a foot ring; stands on y = 0", makeBowl),
        entry("wine-glass", "a stemmed glass with a thin cup; stands on y = 0", makeWineGlass),
        entry("vase", "a vase with belly, neck and flared lip; stands on y = 0", makeVase),
        entry("bottle", "a bottle with shoulder, neck and collar, open; stands on y = 0", makeBottle),
        entry("extrusion", "polygon, star, gear, l or arrow with depth along z; centred on the origin",
              makeExtrusion),
        entry("letters", "block letters, each a piece of its own; stands on y = 0, centred in x and z",
              makeLetters),
        entry("brick-wall", "bricks in running bond, each a piece of its own; stands on y = 0",
              makeBrickWall),
        entry("torus-knot", "a tube knotted around a torus; centred on the origin", makeTorusKnot),
        entry("trefoil", "the trefoil knot as a tube, lying flat; centred on the origin", makeTrefoil),
        entry("figure-eight-knot", "the figure-eight knot as a tube, lying flat; centred on the origin",
              makeFigureEightKnot),
        entry("rope", "strands wound around the x axis, each a piece of its own; centred on the origin",
              makeRope),
        entry("noisy-sheet", "a wavy slab of constant thickness, or an open sheet; centred on y = 0",
              makeNoisySheet),
        entry("cloth", "a flat sheet of triangles, open; in the plane y = 0, centred", makeCloth, false),
        entry("rippled-sphere", "the benchmark's bumpy sphere of radius about 1; around its centre x, y, z",
              makeRippledSphere),
        entry("scroll", "the benchmark's rolled-up sheet, open; around the z axis, from z = 0 to 2",
              makeScroll, false),
    };
    for (const Entry& e : entries) {
      infos.push_back({e.name, e.summary, e.closed, e.parameters});
      names.push_back(e.name);
    }
  }
};

const Catalogue& catalogue() {
  static const Catalogue instance;
  return instance;
}

size_t find(std::string_view name) {
  const auto& names = catalogue().names;
  const auto at = std::ranges::find(names, name);
  if (at == names.end())
    throw Error(ErrorKind::Usage, fmt::format("there is no shape \"{}\"", name))
        .hint(didYouMean(name, "shapes", names));
  return static_cast<size_t>(at - names.begin());
}

}  // namespace

std::string ShapeParameter::defaultText() const {
  switch (kind) {
    case ParameterKind::Number:
    case ParameterKind::Integer:
      return fmt::format("{}", value);
    case ParameterKind::Flag:
      return value != 0 ? "1" : "0";
    case ParameterKind::Choice:
    case ParameterKind::Text:
      break;
  }
  return word;
}

std::string ShapeParameter::rangeText() const {
  switch (kind) {
    case ParameterKind::Number:
    case ParameterKind::Integer:
      return range(lower, upper, unit);
    case ParameterKind::Flag:
      return "0 or 1";
    case ParameterKind::Choice:
      return "one of " + joinNames(words(choices));
    case ParameterKind::Text:
      break;
  }
  return "any text";
}

void ShapeFieldCheck::number(const char* name, double& value, double lower, double upper, const char* unit,
                             const char*) {
  if (!(value >= lower && value <= upper))
    throw Error(ErrorKind::Usage, fmt::format("{}: {} is {}, but must lie in {}", shape_, name, value,
                                              range(lower, upper, unit)));
  // Where 0 switches a detail off, next to nothing would make it too small for doubles to draw.
  if (lower == 0 && value > 0 && value < kShortest)
    throw Error(ErrorKind::Usage,
                fmt::format("{}: {} is {}, but must be 0 or at least {}", shape_, name, value, kShortest));
}

void ShapeFieldCheck::integer(const char* name, int& value, int lower, int upper, const char*) {
  if (value < lower || value > upper)
    throw Error(ErrorKind::Usage,
                fmt::format("{}: {} is {}, but must lie in {} to {}", shape_, name, value, lower, upper));
}

void ShapeFieldCheck::choice(const char* name, std::string& value, const char* choices, const char*) {
  checkChoice(shape_, name, value, choices);
}

std::span<const ShapeInfo> shapeCatalogue() { return catalogue().infos; }

const ShapeInfo& shapeInfo(std::string_view name) { return catalogue().infos[find(name)]; }

namespace {

const Entry& checkedEntry(std::string_view name, const ShapeValues& values) {
  const Entry& shape = catalogue().entries[find(name)];
  std::vector<std::string_view> known;
  for (const ShapeParameter& p : shape.parameters) known.push_back(p.name);
  for (const auto& [key, value] : values)
    if (std::ranges::find(known, key) == known.end())
      throw Error(ErrorKind::Usage, fmt::format("{} has no parameter \"{}\"", name, key))
          .hint(didYouMean(key, "parameters", known));
  return shape;
}

}  // namespace

geometry::TriMesh makeShape(std::string_view name, const ShapeValues& values) {
  return checkedEntry(name, values).make(values);
}

std::optional<Loft> shapeLoft(std::string_view name, const ShapeValues& values) {
  const Entry& shape = checkedEntry(name, values);
  if (!shape.loft) return std::nullopt;
  return shape.loft(values);
}

}  // namespace sunder::shapes
