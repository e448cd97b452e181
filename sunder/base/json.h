// A JSON value: null, true or false, a whole number, a double, a text, a list, or an object. A plain tree,
// compiled once; json_parse.h makes one from a text, json_pointer.h finds places in it.
//
//   Json json = {{"id", "ball"}, {"position", {0, 1, 0}}};       // a list of pairs is an object
//   json["mass"] = 2.5;
//   fmt::print("{}\n", json.text({.indent = 2}));
//   if (const Json* mass = json.find("mass")) use(mass->number());
//
// Braces make an object where every entry is a pair that begins with a text, else a list; where that is not
// what is meant, Json::array({...}). A null becomes an object or a list when something is put into it.
//
// Guarantees: members are found, compared and walked in the order of their keys; the order in which they came
// is kept beside it, for texts that people read. References to members stay valid while others come and go.
// Reading a value as what it is not, or a member that is not there, throws Error (Format). Where memory runs
// out, std::bad_alloc leaves every value whole. Values are destroyed without recursion and without memory,
// however deep; copying, comparing and writing recurse, and nothing that is parsed is deeper than
// kJsonDepthLimit (json_parse.h).
//
// Costs: 16 bytes a value, and a block of the heap for each text, list, object and member; as much as
// nlohmann::json takes. Numbers in texts are the digits of nlohmann's writer (Loitsch, "Printing
// Floating-Point Numbers Quickly and Accurately with Integers", PLDI 2010), which read back equal.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sunder {

class Json;
class JsonItem;
using JsonMembers = std::map<std::string, Json, std::less<>>;

// Lists of a program: vectors, sets and arrays of numbers or texts.
template <class R>
concept JsonList = !std::same_as<R, Json> && !std::convertible_to<const R&, std::string_view> &&
                   !std::convertible_to<const R&, std::string> && std::ranges::input_range<const R>;

struct JsonStyle {
  int indent = -1;      // blanks a level; below 0 all is on one line
  bool asCame = false;  // members in the order in which they came, not in that of their keys
  bool strict = false;  // throws Error (Format) for a text that is not UTF-8, instead of writing U+FFFD there
};

class Json {
 public:
  Json() noexcept = default;  // null
  template <std::same_as<std::nullptr_t> T>
  Json(T) noexcept {}
  template <std::integral T>
  Json(T value) noexcept {
    if constexpr (std::same_as<T, bool>) {
      kind_ = Kind::Boolean;
      content_.boolean = value;
    } else if constexpr (std::is_unsigned_v<T>) {
      kind_ = Kind::Unsigned;
      content_.whole = value;
    } else {
      kind_ = Kind::Signed;
      content_.integer = value;
    }
  }
  template <std::floating_point T>
  Json(T value) noexcept : kind_(Kind::Double) {
    content_.number = static_cast<double>(value);
  }
  Json(std::string text);
  Json(std::string_view text);
  template <std::same_as<char> C>
  Json(const C* text) : Json(std::string_view(text)) {}
  template <JsonList R>
  Json(const R& list) : Json(array()) {
    for (auto&& each : list) push_back(static_cast<std::ranges::range_value_t<const R>>(each));
  }
  Json(std::initializer_list<JsonItem> items);
  static Json array();
  static Json array(std::initializer_list<JsonItem> items);
  static Json object();

  Json(const Json& other);
  Json(Json&& other) noexcept : place_(other.place_) { swap(other); }
  Json& operator=(Json other) noexcept {  // keeps its place among the members
    swap(other);
    return *this;
  }
  ~Json() {
    if (kind_ >= Kind::String) destroy();
  }

  bool isNull() const { return kind_ == Kind::Null; }
  bool isBoolean() const { return kind_ == Kind::Boolean; }
  bool isNumber() const { return kind_ >= Kind::Unsigned && kind_ <= Kind::Double; }
  bool isInteger() const { return kind_ == Kind::Unsigned || kind_ == Kind::Signed; }
  bool isWhole() const { return kind_ == Kind::Unsigned || (kind_ == Kind::Signed && content_.integer >= 0); }
  bool isDouble() const { return kind_ == Kind::Double; }
  bool isString() const { return kind_ == Kind::String; }
  bool isArray() const { return kind_ == Kind::Array; }
  bool isObject() const { return kind_ == Kind::Object; }

  // Each throws Error (Format) where the value is something else.
  bool boolean() const;
  double number() const;
  int64_t integer() const;  // of a double too, where it has no fraction
  uint64_t whole() const;   // the same, from 0 up
  const std::string& string() const;

  size_t size() const;  // of a list or an object; 0 of anything else
  bool empty() const { return size() == 0; }

  // Entries of a list. Null has none; anything else, or an index behind the end, is an Error (Format).
  const Json* begin() const { return entries().data(); }
  const Json* end() const { return begin() + entries().size(); }
  Json* begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
  Json* end() { return const_cast<Json*>(std::as_const(*this).end()); }
  const Json& at(size_t index) const;
  template <std::integral I>
  const Json& operator[](I index) const {
    return at(static_cast<size_t>(index));
  }
  template <std::integral I>
  Json& operator[](I index) {
    return const_cast<Json&>(at(static_cast<size_t>(index)));
  }
  const Json& front() const { return at(0); }
  const Json& back() const { return at(size() - 1); }
  Json& back() { return const_cast<Json&>(at(size() - 1)); }
  void push_back(Json value);

  // Members of an object. Null has none; anything else is an Error (Format).
  const JsonMembers& members() const;
  std::vector<const JsonMembers::value_type*> membersAsCame() const;
  const Json* find(std::string_view key) const;  // nullptr where it is not there, or this is no object
  Json* find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).find(key)); }
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& at(std::string_view key) const;
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](std::string_view key);  // makes one, of null, where there is none
  void erase(std::string_view key);
  void update(Json other);  // takes over the members of another object, in the order in which they came

  std::string text(const JsonStyle& style = {}) const;

  // Numbers are equal where their values are; the order in which members came does not count.
  friend bool operator==(const Json& a, const Json& b);

 private:
  enum class Kind : uint8_t { Null, Boolean, Unsigned, Signed, Double, String, Array, Object };
  struct Object;
  union Content {
    uint64_t whole = 0;
    bool boolean;
    int64_t integer;
    double number;
    std::string* string;
    std::vector<Json>* array;
    Object* object;
  };

  const std::vector<Json>& entries() const;
  [[noreturn]] void failFor(const char* wanted) const;
  void swap(Json& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(content_, other.content_);
  }
  void destroy() noexcept;
  Json* dropLeaves() noexcept;
  Json& lastEntry() noexcept;
  void dropLastEntry() noexcept;

  Kind kind_ = Kind::Null;
  uint32_t place_ = 0;  // of a member: which came first
  Content content_;
};

// An entry between braces, moved from there into the value.
class JsonItem {
 public:
  template <class T>
  requires std::convertible_to<T&&, Json> JsonItem(T&& value) : value_(std::forward<T>(value)) {}
  JsonItem(std::initializer_list<JsonItem> items) : value_(items) {}

 private:
  friend class Json;
  mutable Json value_;
};

}  // namespace sunder
