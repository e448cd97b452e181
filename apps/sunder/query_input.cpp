#include "query_input.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/meshio/mesh_file.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace sunder::cli {

namespace {

constexpr double kLargest = 1e37;  // of spatial::checkQueryPoint

bool separates(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r'; }

// The word as a message can show it.
std::string shown(std::string_view word) {
  std::string text(word.substr(0, 40));
  for (char& c : text)
    if (c < 32 || c >= 127) c = '?';
  return "'" + text + (word.size() > 40 ? "..." : "") + "'";
}

std::optional<double> number(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)  // too large, or so small that zero is next
    return word.find_first_of("eE") != word.npos && word.find("e-") == word.npos &&
                   word.find("E-") == word.npos
               ? HUGE_VAL
               : 0.0;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

double coordinate(std::string_view word, ErrorKind kind) {
  const std::optional<double> value = number(word);
  if (!value) throw Error(kind, fmt::format("{} is not a number", shown(word)));
  if (!std::isfinite(*value)) throw Error(kind, fmt::format("{} is not finite", shown(word)));
  if (std::abs(*value) > kLargest) throw Error(kind, fmt::format("{} is larger than 1e37", shown(word)));
  return *value;
}

// The words of one line from `at` on, which is left behind it. No more are looked at than are of use, so a
// file of something else is refused at its beginning, however long it is.
template <size_t N>
struct Words {
  std::array<std::string_view, N> word;
  size_t count = 0;  // N + 1: more than N

  Words(std::string_view text, size_t& at) {
    constexpr size_t kLongestWord = 400;
    while (at < text.size() && text[at] != '\n') {
      if (text[at] == '#') {
        at = std::min(text.find('\n', at), text.size());
        break;
      }
      if (separates(text[at])) {
        ++at;
        continue;
      }
      const size_t begin = at;
      while (at < text.size() && at - begin < kLongestWord && text[at] != '\n' && text[at] != '#' &&
             !separates(text[at]))
        ++at;
      if (count == N) {
        count = N + 1;
        return;
      }
      word[count++] = text.substr(begin, at - begin);
    }
    ++at;
  }

  bool names() const {  // a line on top of a table
    for (size_t i = 0; i < std::min(count, N); ++i)
      if (number(word[i])) return false;
    return true;
  }

  std::array<double, N> numbers(std::string_view wanted, ErrorKind kind) const {
    std::array<double, N> values{};
    for (size_t i = 0; i < std::min(count, N); ++i) values[i] = coordinate(word[i], kind);
    if (count != N)
      throw Error(kind, count > N ? fmt::format("more than {} numbers", N)
                                  : fmt::format("{} numbers where {} are needed", count, N))
          .hint(fmt::format("they are {}", wanted));
    return values;
  }
};

template <size_t N, class Use>
void fromText(std::string_view text, const std::string& name, std::string_view wanted, Use&& use) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  bool first = true;
  uint64_t line = 0;
  for (size_t at = 0; at < text.size();) {
    ++line;
    try {
      const Words<N> words(text, at);
      if (words.count == 0) continue;
      const bool header = first && words.count <= N && words.names() && line < 1000;
      first = false;
      if (!header) use(words.numbers(wanted, ErrorKind::Format));
    } catch (Error& e) {
      throw std::move(e.inFile(name).atLine(line));
    }
  }
}

// All of it. A request to stop ends the wait for somebody who types.
std::string standardInput() {
  std::string text;
  std::vector<char> part(1 << 16);
  for (;;) {
    waitUntil(Ready::ToRead, STDIN_FILENO);
    const ssize_t got = ::read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0)
      throw Error(ErrorKind::Missing, fmt::format("cannot read: {}", std::strerror(errno)))
          .inFile("standard input");
    if (got == 0) return text;
    text.append(part.data(), size_t(got));
  }
}

template <size_t N, class Use>
void fromTextFile(const std::string& path, std::string_view wanted, Use&& use) {
  if (path == "-") {
    return fromText<N>(standardInput(), "standard input", wanted, use);
  }
  const InputFile file(path);
  fromText<N>(file.text(), path, wanted, use);
}

template <size_t N, class Use>
void fromOptions(std::span<const std::string> texts, const char* option, std::string_view wanted, Use&& use) {
  for (const std::string& text : texts) {
    try {
      size_t at = 0;
      const Words<N> words(text, at);
      use(words.numbers(wanted, ErrorKind::Usage));
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("{} {}: {}", option, text, e.message())).hint(e.hint());
    }
  }
}

bool isMeshFile(const std::string& path) {
  try {
    meshio::formatOf(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void fromMeshFile(const std::string& path, std::vector<Vec3>& points) {
  const meshio::MeshFile file = meshio::readMesh(path);
  const std::vector<Vec3>& from =
      file.surface.positions.empty() ? file.volume.positions : file.surface.positions;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i].cwiseAbs().maxCoeff() > kLargest)
      throw Error(ErrorKind::Geometry, fmt::format("vertex {} is larger than 1e37", i)).inFile(path);
  points.insert(points.end(), from.begin(), from.end());
}

[[noreturn]] void refuseEmpty(const std::string& path, const char* what) {
  throw Error(ErrorKind::Format, fmt::format("holds no {}", what))
      .inFile(path == "-" ? "standard input" : path);
}

}  // namespace

std::vector<Vec3> readPoints(std::span<const std::string> inlined, std::span<const std::string> files) {
  constexpr std::string_view kWanted = "x, y, z";
  std::vector<Vec3> points;
  const auto add = [&](const std::array<double, 3>& v) { points.emplace_back(v[0], v[1], v[2]); };
  fromOptions<3>(inlined, "--point", kWanted, add);
  for (const std::string& path : files) {
    const size_t before = points.size();
    if (path != "-" && isMeshFile(path))
      fromMeshFile(path, points);
    else
      fromTextFile<3>(path, kWanted, add);
    if (points.size() == before) refuseEmpty(path, "points");
  }
  return points;
}

std::vector<spatial::Ray> readRays(std::span<const std::string> inlined, std::span<const std::string> files) {
  constexpr std::string_view kWanted = "the origin's x, y, z and the direction's x, y, z";
  std::vector<spatial::Ray> rays;
  ErrorKind kind = ErrorKind::Usage;
  const auto add = [&](const std::array<double, 6>& v) {
    spatial::Ray ray;
    ray.origin = {v[0], v[1], v[2]};
    ray.direction = {v[3], v[4], v[5]};
    if (ray.direction.isZero(0))
      throw Error(kind, "the direction is zero").hint(fmt::format("a ray is {}", kWanted));
    rays.push_back(ray);
  };
  fromOptions<6>(inlined, "--ray", kWanted, add);
  kind = ErrorKind::Format;
  for (const std::string& path : files) {
    const size_t before = rays.size();
    fromTextFile<6>(path, kWanted, add);
    if (rays.size() == before) refuseEmpty(path, "rays");
  }
  return rays;
}

}  // namespace sunder::cli
