#include "sunder/base/json_pointer.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sunder {

std::string jsonPointerStep(std::string_view key) {
  std::string out(1, '/');
  for (const char c : key) c == '~' ? out += "~0" : c == '/' ? out += "~1" : out += c;
  return out;
}

std::vector<std::string> splitJsonPointer(std::string_view pointer) {
  std::vector<std::string> path;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the slash
    const size_t end = std::min(pointer.find('/'), pointer.size());
    std::string token;
    for (size_t i = 0; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end) {
        token += pointer[++i] == '1' ? '/' : '~';
      } else {
        token += pointer[i];
      }
    }
    path.push_back(std::move(token));
    pointer.remove_prefix(end);
  }
  return path;
}

const Json* findAt(const Json& root, std::string_view pointer) {
  const Json* here = &root;
  for (const std::string& step : splitJsonPointer(pointer)) {
    if (here->isArray()) {
      size_t index = 0;
      const char* const stop = step.data() + step.size();
      const auto [rest, code] = std::from_chars(step.data(), stop, index);
      if (code != std::errc() || rest != stop || index >= here->size()) return nullptr;
      here = &here->at(index);
    } else {
      here = here->find(step);
    }
    if (!here) return nullptr;
  }
  return here;
}

}  // namespace sunder
