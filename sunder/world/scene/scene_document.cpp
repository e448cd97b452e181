#include "sunder/world/scene/scene_document.h"

#include "sunder/base/file.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/json_places.h"
#include "sunder/base/json_pointer.h"
#include "sunder/base/text.h"
#include "sunder/world/scene/scene_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/core.h>

namespace sunder::world {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kLists{"bodies", "arrays", "joints", "forces"};
constexpr std::array<std::string_view, 4> kTables{"world", "materials", "shapes", "recording"};
constexpr uintmax_t kLargestScene = uintmax_t(256) << 20;

bool isList(std::string_view key) { return std::find(kLists.begin(), kLists.end(), key) != kLists.end(); }
bool isTable(std::string_view key) { return std::find(kTables.begin(), kTables.end(), key) != kTables.end(); }

// Absolute where that can be told: the folder we are in may be gone.
std::string absolutePath(const fs::path& path) {
  std::error_code code;
  const fs::path full = fs::absolute(path, code);
  return (code ? path : full).lexically_normal().string();
}

std::string fullPath(const fs::path& path) {
  std::error_code code;
  const fs::path full = fs::weakly_canonical(path, code);
  return code ? absolutePath(path) : full.string();
}

void fixPath(Json& owner, const char* key, const fs::path& folder) {
  Json* const file = owner.find(key);
  if (!file || !file->isString()) return;
  const fs::path path = file->string();
  if (path.empty() || path.is_absolute()) return;  // an empty name is refused where the shape is built
  *file = absolutePath(folder / path);
}

// Of a body's shape, and of its cage.
void fixBody(Json& body, const fs::path& folder) {
  if (Json* const shape = body.find("shape")) fixPath(*shape, "file", folder);
  if (Json* const soft = body.find("soft")) fixPath(*soft, "cage", folder);
}

// Mesh files of all shapes, wherever a shape may stand, and of all cages.
void fixPaths(Json& scene, const fs::path& folder) {
  const auto each = [](Json& parent, const char* key, auto&& visit) {
    Json* const found = parent.find(key);
    if (!found) return;
    if (found->isArray())
      for (Json& child : *found) visit(child);
    if (found->isObject())
      for (const auto& [name, child] : found->members()) visit((*found)[name]);
  };
  each(scene, "shapes", [&](Json& shape) { fixPath(shape, "file", folder); });
  each(scene, "bodies", [&](Json& body) { fixBody(body, folder); });
  each(scene, "arrays", [&](Json& array) {
    if (Json* const body = array.find("body")) fixBody(*body, folder);
    each(array, "shapes", [&](Json& shape) { fixPath(shape, "file", folder); });
  });
}

std::string readSceneFile(const fs::path& path) {
  std::error_code code;
  const uintmax_t size = fs::file_size(path, code);
  if (!code && size > kLargestScene)
    throw Error(ErrorKind::Limit, fmt::format("{} bytes are too many for a scene", size))
        .inFile(path.string());
  return readTextFile(path);
}

}  // namespace

SceneDocument::SceneDocument() : json_(std::make_shared<Json>(Json::object())) {}
SceneDocument::~SceneDocument() = default;
SceneDocument::SceneDocument(const SceneDocument&) = default;
SceneDocument& SceneDocument::operator=(const SceneDocument&) = default;
SceneDocument::SceneDocument(SceneDocument&&) noexcept = default;
SceneDocument& SceneDocument::operator=(SceneDocument&&) noexcept = default;

SceneDocument SceneDocument::read(const fs::path& path, const std::vector<std::string>& sets) {
  SceneDocument document;
  document.name_ = path.stem().string();
  std::vector<std::string> chain{fullPath(path)};
  document.taken_.push_back(chain.back());
  document.take(readSceneFile(path), path.string(), path.parent_path(), chain);
  for (const std::string& assignment : sets) document.set(assignment);
  document.check();
  return document;
}

SceneDocument SceneDocument::parse(std::string text, const std::string& name, const fs::path& folder,
                                   const std::vector<std::string>& sets) {
  SceneDocument document;
  document.name_ = fs::path(name).stem().string();
  std::vector<std::string> chain;
  document.take(std::move(text), name, folder, chain);
  for (const std::string& assignment : sets) document.set(assignment);
  document.check();
  return document;
}

SceneDocument SceneDocument::ofProgram(std::string text) {
  SceneDocument document;
  document.name_ = "scene";
  std::vector<std::string> chain;
  document.take(std::move(text), "scene", ".", chain);
  document.sources_.front().text = nullptr;
  document.check();
  return document;
}

Json& SceneDocument::json() {
  if (json_.use_count() > 1) json_ = std::make_shared<Json>(*json_);
  return *json_;
}

void SceneDocument::take(std::string text, const std::string& file, const fs::path& folder,
                         std::vector<std::string>& chain) {
  Json scene = parseJson(text, file);
  const size_t source = sources_.size();
  sources_.push_back({file, std::make_shared<const std::string>(std::move(text))});
  if (!scene.isObject())
    throw Error(ErrorKind::Format, "a scene is an object, { ... }").inFile(file).atLine(1);
  if (const Json* const includes = scene.find("include")) {
    for (size_t i = 0; includes->isArray() && i < includes->size(); ++i) {
      if (!(*includes)[i].isString()) continue;  // the schema will say so
      const fs::path path = folder / (*includes)[i].string();
      const std::string id = fullPath(path);
      const auto place = [&](Error error) {
        return error.inFile(file).atLine(
            lineOfPointer(*sources_[source].text, fmt::format("/include/{}", i)));
      };
      if (const auto found = std::find(chain.begin(), chain.end(), id); found != chain.end()) {
        std::string names;
        for (auto it = found; it != chain.end(); ++it) names += fs::path(*it).filename().string() + " -> ";
        throw place(Error(ErrorKind::Format,
                          "files include each other in a circle: " + names + path.filename().string()));
      }
      if (std::find(taken_.begin(), taken_.end(), id) != taken_.end()) continue;
      std::string content;
      try {
        content = readSceneFile(path);
      } catch (const Error& error) {
        throw place(Error(error.kind(), fmt::format("cannot include {}: {}", path.string(), error.message()))
                        .hint(error.hint()));
      }
      taken_.push_back(id);
      chain.push_back(id);
      take(std::move(content), path.string(), path.parent_path(), chain);
      chain.pop_back();
    }
    if (includes->isArray() &&
        std::all_of(includes->begin(), includes->end(), [](const Json& i) { return i.isString(); }))
      scene.erase("include");
  }
  fixPaths(scene, folder);
  Json& merged = *json_;
  for (const auto& [key, ignored] : scene.members()) {
    Json& value = scene[key];
    const std::string top = jsonPointerStep(key);
    if (isList(key) && value.isArray() && (!merged.contains(key) || merged[key].isArray())) {
      Json& list = merged[key].isNull() ? merged[key] = Json::array() : merged[key];
      for (size_t i = 0; i < value.size(); ++i) {
        origins_[fmt::format("{}/{}", top, list.size())] = {source, fmt::format("{}/{}", top, i)};
        list.push_back(std::move(value[i]));
      }
    } else if (isTable(key) && value.isObject() && (!merged.contains(key) || merged[key].isObject())) {
      Json& table = merged[key].isNull() ? merged[key] = Json::object() : merged[key];
      for (const auto& [name, item] : value.members()) {
        const std::string pointer = top + jsonPointerStep(name);
        origins_[pointer] = {source, pointer};
        table[name] = std::move(value[name]);
      }
    } else {
      origins_[top] = {source, top};
      merged[key] = std::move(value);
    }
    origins_.try_emplace(top, Origin{source, top});
  }
  origins_[""] = {source, ""};
}

void SceneDocument::set(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const auto usage = [&](const std::string& message) {
    return Error(ErrorKind::Usage, fmt::format("--set {}: {}", assignment, message));
  };
  if (equals == std::string::npos || equals == 0)
    throw usage("is not of the form a.b=c").hint("for example --set world.duration=2");
  const std::string word = assignment.substr(equals + 1);
  Json value = tryReadJson(word).value_or(word);

  Json* node = json_.get();
  std::string pointer;
  size_t start = 0;
  while (start <= equals) {
    size_t end = std::min(assignment.find('.', start), equals);
    std::string step = assignment.substr(start, end - start);
    if (node->isArray()) {
      size_t index = node->size();
      const auto [rest, code] = std::from_chars(step.data(), step.data() + step.size(), index);
      if (code != std::errc() || rest != step.data() + step.size()) {
        std::vector<std::string> ids;
        index = node->size();
        for (size_t i = 0; i < node->size(); ++i) {
          const Json& item = (*node)[i];
          const Json* const id = item.find("id");
          if (!id || !id->isString()) continue;
          ids.push_back(id->string());
          if (ids.back() == step) index = i;
        }
        if (index == node->size()) {
          const std::vector<std::string_view> known(ids.begin(), ids.end());
          throw usage(
              fmt::format("there is no '{}' in {}", step, pointer.empty() ? "the scene" : pointer.substr(1)))
              .hint(known.empty() ? "" : suggestion(step, known));
        }
      } else if (index >= node->size()) {
        throw usage(fmt::format("there are only {} entries in {}", node->size(), pointer.substr(1)));
      }
      pointer += fmt::format("/{}", index);
      node = &(*node)[index];
    } else if (node->isObject() || node->isNull()) {
      pointer += jsonPointerStep(step);
      node = &(*node)[step];
    } else {
      throw usage(fmt::format("{} is a value, not a block", pointer.substr(1)));
    }
    start = end + 1;
  }
  *node = std::move(value);
  // What lies below the place came from the assignment now.
  for (auto it = origins_.lower_bound(pointer); it != origins_.end() && it->first.starts_with(pointer);)
    it = it->first.size() == pointer.size() || it->first[pointer.size()] == '/' ? origins_.erase(it)
                                                                                : std::next(it);
  origins_[pointer] = {sources_.size(), ""};
  sources_.push_back({"--set " + assignment, nullptr});
}

void SceneDocument::check() const {
  ErrorList errors;
  for (const SchemaProblem& problem : checkAgainstSchema(*json_))
    errors.add(error(problem.pointer, problem.message).hint(problem.hint));
  errors.throwIfAny();
}

Error SceneDocument::error(const std::string& pointer, const std::string& message, ErrorKind kind) const {
  // A short word on which part it is: the line alone does not name the body.
  std::string part = pointer;
  std::string shown;
  if (!pointer.empty()) {
    std::string_view rest = std::string_view(pointer).substr(1);
    shown = std::string(rest.substr(0, rest.find('/')));
    const Json* const list = json_->find(shown);
    if (rest.size() > shown.size()) {
      rest.remove_prefix(shown.size() + 1);
      const std::string second(rest.substr(0, rest.find('/')));
      std::string word = second;
      if (list && list->isArray()) {
        size_t i = 0;
        std::from_chars(second.data(), second.data() + second.size(), i);
        const Json* const id = i < list->size() ? (*list)[i].find("id") : nullptr;
        if (id && id->isString()) word = id->string();
      }
      shown += "." + word;
      if (rest.size() > second.size()) {
        std::string tail(rest.substr(second.size()));
        std::replace(tail.begin(), tail.end(), '/', '.');
        shown += tail;
      }
    }
    shown += ": ";
  }
  Error error(kind, shown + message);
  for (std::string at = pointer;; at.erase(std::min(at.rfind('/'), at.size()))) {
    if (const auto found = origins_.find(at); found != origins_.end()) {
      const Source& source = sources_[found->second.source];
      error.inFile(source.file);
      if (source.text)
        error.atLine(lineOfPointer(*source.text, found->second.pointer + pointer.substr(at.size())));
      return error;
    }
    if (at.empty()) return error;
  }
}

bool SceneDocument::placed(const Error& error) const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [&](const Source& source) { return source.file == error.file(); });
}

std::string SceneDocument::text() const { return json_->text({.indent = 1}) + "\n"; }

void SceneDocument::rethrow(const Error& failed, const std::string& pointer) const {
  const std::string message = failed.file().empty() ? failed.message()
                              : failed.place().empty()
                                  ? failed.file() + ": " + failed.message()
                                  : failed.file() + ":" + failed.place() + ": " + failed.message();
  throw error(pointer, message, failed.kind()).hint(failed.hint());
}

}  // namespace sunder::world
