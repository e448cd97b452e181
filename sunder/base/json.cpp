#include "sunder/base/json.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>

namespace sunder {

struct Json::Object {
  JsonMembers members;
  uint32_t next = 0;  // place of the next that comes
};

static_assert(sizeof(Json) == 16);

Json::Json(std::string text) {
  content_.string = new std::string(std::move(text));
  kind_ = Kind::String;
}

Json::Json(std::string_view text) : Json(std::string(text)) {}

Json Json::array() {
  Json json;
  json.content_.array = new std::vector<Json>();
  json.kind_ = Kind::Array;
  return json;
}

Json Json::array(std::initializer_list<JsonItem> items) {
  Json json = array();
  json.content_.array->reserve(items.size());
  for (const JsonItem& item : items) json.content_.array->push_back(std::move(item.value_));
  return json;
}

Json Json::object() {
  Json json;
  json.content_.object = new Object();
  json.kind_ = Kind::Object;
  return json;
}

Json::Json(std::initializer_list<JsonItem> items) {
  const bool pairs = std::all_of(items.begin(), items.end(), [](const JsonItem& item) {
    const Json& value = item.value_;
    return value.isArray() && value.size() == 2 && value.front().isString();
  });
  Json made = pairs ? object() : array(items);
  if (pairs)
    for (const JsonItem& item : items) {
      std::vector<Json>& pair = *item.value_.content_.array;
      if (!made.contains(pair[0].string())) made[pair[0].string()] = std::move(pair[1]);
    }
  swap(made);
}

Json::Json(const Json& other) : place_(other.place_) {
  switch (other.kind_) {
    case Kind::String:
      content_.string = new std::string(*other.content_.string);
      break;
    case Kind::Array:
      content_.array = new std::vector<Json>(*other.content_.array);
      break;
    case Kind::Object:
      content_.object = new Object(*other.content_.object);
      break;
    default:
      content_ = other.content_;
  }
  kind_ = other.kind_;
}

// Without recursion: the way up is kept where the way down came from. `up` is the container above `here`, and
// the last entry of each container on that way holds the one above it.
void Json::destroy() noexcept {
  if (kind_ == Kind::String) {
    delete content_.string;
    return;
  }
  Json here, up;
  here.swap(*this);
  for (;;) {
    if (Json* const last = here.dropLeaves()) {
      last->swap(up);
      here.swap(up);
      continue;
    }
    if (here.kind_ == Kind::Array)
      delete here.content_.array;
    else
      delete here.content_.object;
    here.kind_ = Kind::Null;
    if (up.isNull()) return;
    here.swap(up);
    up.swap(here.lastEntry());
    here.dropLastEntry();
  }
}

// Takes entries away until the last one is a list or an object; nullptr where none is.
Json* Json::dropLeaves() noexcept {
  while (size() > 0) {
    if (lastEntry().kind_ >= Kind::Array) return &lastEntry();
    dropLastEntry();
  }
  return nullptr;
}

Json& Json::lastEntry() noexcept {
  return kind_ == Kind::Array ? content_.array->back() : content_.object->members.begin()->second;
}

void Json::dropLastEntry() noexcept {
  if (kind_ == Kind::Array)
    content_.array->pop_back();
  else
    content_.object->members.erase(content_.object->members.begin());
}

void Json::failFor(const char* wanted) const {
  static constexpr const char* kNames[] = {"nothing (null)", "true or false", "a number", "a number",
                                           "a number",       "a text",        "a list",   "an object"};
  throw Error(ErrorKind::Format, fmt::format("a value in the JSON is {}, where {} is wanted",
                                             kNames[static_cast<size_t>(kind_)], wanted));
}

bool Json::boolean() const {
  if (kind_ != Kind::Boolean) failFor("true or false");
  return content_.boolean;
}

double Json::number() const {
  switch (kind_) {
    case Kind::Unsigned:
      return static_cast<double>(content_.whole);
    case Kind::Signed:
      return static_cast<double>(content_.integer);
    case Kind::Double:
      return content_.number;
    default:
      failFor("a number");
  }
}

int64_t Json::integer() const {
  if (kind_ == Kind::Signed) return content_.integer;
  if (kind_ == Kind::Unsigned && std::in_range<int64_t>(content_.whole))
    return static_cast<int64_t>(content_.whole);
  const double value = kind_ == Kind::Double ? content_.number : 0.5;
  if (value != std::floor(value) || !(std::abs(value) <= 0x1p62)) failFor("a whole number");
  return static_cast<int64_t>(value);
}

uint64_t Json::whole() const {
  if (kind_ == Kind::Unsigned) return content_.whole;
  const int64_t value = kind_ == Kind::Signed || kind_ == Kind::Double ? integer() : -1;
  if (value < 0) failFor("a whole number of 0 or more");
  return static_cast<uint64_t>(value);
}

const std::string& Json::string() const {
  if (kind_ != Kind::String) failFor("a text");
  return *content_.string;
}

size_t Json::size() const {
  return kind_ == Kind::Array    ? content_.array->size()
         : kind_ == Kind::Object ? content_.object->members.size()
                                 : 0;
}

const std::vector<Json>& Json::entries() const {
  static const std::vector<Json> kNone;
  if (kind_ == Kind::Null) return kNone;
  if (kind_ != Kind::Array) failFor("a list");
  return *content_.array;
}

const Json& Json::at(size_t index) const {
  const std::vector<Json>& list = entries();
  if (index >= list.size())
    throw Error(ErrorKind::Format, fmt::format("a list in the JSON has only {} entries", list.size()));
  return list[index];
}

void Json::push_back(Json value) {
  if (isNull()) *this = array();
  if (kind_ != Kind::Array) failFor("a list");
  content_.array->push_back(std::move(value));
}

const JsonMembers& Json::members() const {
  static const JsonMembers kNone;
  if (kind_ == Kind::Null) return kNone;
  if (kind_ != Kind::Object) failFor("an object");
  return content_.object->members;
}

std::vector<const JsonMembers::value_type*> Json::membersAsCame() const {
  std::vector<const JsonMembers::value_type*> order;
  order.reserve(members().size());
  for (const auto& member : members()) order.push_back(&member);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->second.place_ < b->second.place_; });
  return order;
}

const Json* Json::find(std::string_view key) const {
  if (kind_ != Kind::Object) return nullptr;
  const auto found = content_.object->members.find(key);
  return found == content_.object->members.end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view key) const {
  if (kind_ != Kind::Object) failFor("an object");
  const Json* const found = find(key);
  if (!found)
    throw Error(ErrorKind::Format, fmt::format("the key \"{}\" is missing in an object of the JSON", key));
  return *found;
}

Json& Json::operator[](std::string_view key) {
  if (isNull()) *this = object();
  if (kind_ != Kind::Object) failFor("an object");
  Object& object = *content_.object;
  const auto place = object.members.lower_bound(key);
  if (place != object.members.end() && place->first == key) return place->second;
  Json& made = object.members.emplace_hint(place, std::string(key), Json())->second;
  made.place_ = object.next++;
  return made;
}

void Json::erase(std::string_view key) {
  if (isNull()) return;
  if (kind_ != Kind::Object) failFor("an object");
  const auto found = content_.object->members.find(key);
  if (found != content_.object->members.end()) content_.object->members.erase(found);
}

void Json::update(Json other) {
  for (const auto* member : other.membersAsCame())
    (*this)[member->first] = std::move(*other.find(member->first));
}

bool operator==(const Json& a, const Json& b) {
  using Kind = Json::Kind;
  if (a.isNumber() && b.isNumber()) {
    if (a.isDouble() || b.isDouble()) return a.number() == b.number();
    if (a.kind_ == b.kind_) return a.content_.whole == b.content_.whole;
    return a.isWhole() && b.isWhole() && a.whole() == b.whole();
  }
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Kind::Boolean:
      return a.content_.boolean == b.content_.boolean;
    case Kind::String:
      return *a.content_.string == *b.content_.string;
    case Kind::Array:
      return *a.content_.array == *b.content_.array;
    case Kind::Object:
      return a.content_.object->members == b.content_.object->members;
    default:
      return true;
  }
}

}  // namespace sunder
