// Wavefront OBJ, polygons only. One pass with bare pointers: the text that is parsed always ends with a line
// end, so the inner loops need no bounds checks; a last line without one is copied and given one.
#include "sunder/base/error.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_scanner.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace sunder::meshio {

namespace {

constexpr uint32_t kEstimateAfter = 1024;  // lines of a kind seen before memory for the rest is reserved

// Free-form curves and surfaces, and what belongs to them.
constexpr std::string_view kFreeForm[] = {"vp",   "cstype", "deg",   "bmat", "step", "curv", "curv2",
                                          "surf", "parm",   "trim",  "hole", "scrv", "sp",   "end",
                                          "con",  "ctech",  "stech", "call", "csh",  "mg"};
// Looks: materials, smoothing, display settings.
constexpr std::string_view kMaterials[] = {"usemtl", "mtllib", "usemap", "maplib"};
constexpr std::string_view kDisplay[] = {"s",        "lod",        "bevel",    "c_interp",
                                         "d_interp", "shadow_obj", "trace_obj"};

bool isObjBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool isSpace(char c) { return isObjBlank(c) || c == '\n'; }

template <size_t N>
bool isOneOf(std::string_view word, const std::string_view (&list)[N]) {
  return std::find(list, list + N, word) != list + N;
}

struct GroupStart {
  size_t face;
  std::string_view name;
};

class ObjParser {
 public:
  ObjParser(const std::string& name, size_t totalSize) : name_(name), totalSize_(totalSize) {}

  void parse(const char* begin, const char* end);  // *(end - 1) == '\n'
  MeshFile finish();

 private:
  const char* skipBlanks(const char* p);
  const char* number(const char* p, double& value, std::string_view what);
  const char* index(const char* p, size_t count, std::string_view what, uint32_t& value, bool isPosition);
  const char* vertex(const char* p);
  const char* textureCoordinate(const char* p);
  const char* normal(const char* p);
  const char* face(const char* p);
  const char* group(const char* p);
  const char* other(const char* p);
  const char* skipStatement(const char* p);
  const char* skipComment(const char* p);
  void noteForward(uint64_t oneBased);
  Error error(std::string message) const {
    return Error(ErrorKind::Format, std::move(message)).inFile(name_).atLine(line_);
  }
  Error expected(std::string_view what, const char* p) const {
    const char* last = p;
    while (!isSpace(*last) && last - p < 64) ++last;
    if (last == p) return error("expected " + std::string(what) + ", found the end of the line");
    if (*p == '\0') return error("this is not a text file");
    return error("expected " + std::string(what) + ", found " + quoted({p, static_cast<size_t>(last - p)}));
  }

  const std::string& name_;
  size_t totalSize_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  uint64_t line_ = 1;

  geometry::PolygonSoup soup_;
  std::vector<Vec2> uvs_;
  std::vector<Vec3> normals_;
  std::vector<uint32_t> cornerUv_, cornerNormal_;  // filled from the first corner that has one
  bool anyUv_ = false, anyNormal_ = false, anyColour_ = false;
  std::vector<GroupStart> groups_;
  size_t firstFaceOffset_ = 0;
  uint64_t dropped_ = 0, freeForm_ = 0, linesAndPoints_ = 0;
  bool materials_ = false;
  // An index may name a vertex that comes later in the file: the largest such one, checked at the end.
  uint64_t forward_ = 0, forwardLine_ = 0;
  uint64_t largestUv_ = 0, largestUvLine_ = 0, largestNormal_ = 0, largestNormalLine_ = 0;
};

inline const char* ObjParser::skipBlanks(const char* p) {
  while (isObjBlank(*p)) ++p;
  while (*p == '\\') [[unlikely]] {  // a line goes on after a backslash at its end
      const char* after = p + 1;
      while (*after == '\r') ++after;
      if (*after != '\n' || after + 1 == end_) break;
      ++line_;
      p = after + 1;
      while (isObjBlank(*p)) ++p;
    }
  return p;
}

inline const char* ObjParser::number(const char* p, double& value, std::string_view what) {
  p = skipBlanks(p);
  const char* after = parseDouble(p, end_, value);
  if (!after || (!isSpace(*after) && *after != '#' && *after != '\\')) throw expected(what, p);
  return after;
}

void ObjParser::parse(const char* begin, const char* end) {
  begin_ = begin;
  end_ = end;
  const char* p = begin;
  while (p != end) {
    p = skipBlanks(p);
    const char c = *p;
    if (c == 'v' && isObjBlank(p[1])) {
      p = vertex(p + 2);
    } else if (c == 'f' && isObjBlank(p[1])) {
      p = face(p + 2);
    } else if (c == '\n') {
      ++line_;
      ++p;
      continue;
    } else if (c == '#') {
      p = skipComment(p);
    } else {
      p = other(p);
    }
    p = skipBlanks(p);
    if (*p == '#') p = skipComment(p);
    if (*p != '\n') throw expected("the end of the line", p);
    ++line_;
    ++p;
  }
}

const char* ObjParser::skipComment(const char* p) {
  const size_t left = static_cast<size_t>(end_ - p);
  const void* found = std::memchr(p, '\n', std::min(left, kLineLimit));
  if (!found) throw error("the line is longer than " + std::to_string(kLineLimit) + " bytes");
  return static_cast<const char*>(found);
}

const char* ObjParser::skipStatement(const char* p) {
  for (;;) {
    const char* lineEnd = skipComment(p);
    const char* last = lineEnd;
    while (last != p && last[-1] == '\r') --last;
    if (last == p || last[-1] != '\\' || lineEnd + 1 == end_) return lineEnd;
    ++line_;
    p = lineEnd + 1;
  }
}

inline const char* ObjParser::vertex(const char* p) {
  double v[7];
  p = number(p, v[0], "a coordinate");
  p = number(p, v[1], "a coordinate");
  p = number(p, v[2], "a coordinate");
  const Vec3 position(v[0], v[1], v[2]);
  if (!isFinite(position)) throw error("coordinate is not finite");
  soup_.positions.push_back(position);
  if (soup_.positions.size() == kEstimateAfter) {
    const size_t bytesEach = std::max<size_t>(8, static_cast<size_t>(p - begin_) / kEstimateAfter);
    soup_.positions.reserve(totalSize_ / bytesEach / 2);
  }
  p = skipBlanks(p);
  if (*p == '\n' || *p == '#') [[likely]]
    return p;
  int count = 3;
  while (*p != '\n' && *p != '#' && count < 7) {
    p = number(p, v[count++], "a number");
    p = skipBlanks(p);
  }
  if (count == 4) return p;  // a weight, which polygons have no use for
  if (count == 5) throw error("expected 3, 4, 6 or 7 numbers for a vertex, found 5");
  anyColour_ = true;
  const double* rgb = v + count - 3;
  if (soup_.vertexColours.size() + 1 == soup_.positions.size()) {
    // Clamped before the cast: a double beyond the range of float has no defined conversion.
    Vec4f colour(0, 0, 0, 1);
    for (int i = 0; i < 3; ++i) colour[i] = static_cast<float>(std::clamp(rgb[i], -1e30, 1e30));
    soup_.vertexColours.push_back(colour);
  }
  return p;
}

const char* ObjParser::textureCoordinate(const char* p) {
  double u = 0, v = 0, w = 0;
  p = skipBlanks(number(p, u, "a texture coordinate"));
  if (*p != '\n' && *p != '#') p = skipBlanks(number(p, v, "a texture coordinate"));
  if (*p != '\n' && *p != '#') p = number(p, w, "a texture coordinate");
  uvs_.emplace_back(u, v);
  return p;
}

const char* ObjParser::normal(const char* p) {
  Vec3 n;
  for (int i = 0; i < 3; ++i) p = number(p, n[i], "a normal's coordinate");
  normals_.push_back(n);
  return p;
}

// Indices count from 1, or backwards from the last one read so far when negative.
inline const char* ObjParser::index(const char* p, size_t count, std::string_view what, uint32_t& value,
                                    bool isPosition) {
  const bool negative = *p == '-';
  const char* first = p + negative;
  uint64_t v = 0;
  for (p = first;; ++p) {
    const unsigned digit = static_cast<unsigned char>(*p) - unsigned('0');
    if (digit > 9) break;
    v = v * 10 + digit;
  }
  if (p == first) throw expected(what, first - negative);
  if (p - first > 18 || v == 0 || v >= kNoIndex)
    throw error(std::string(what) + " of 1 or more expected, found " +
                quoted({first - negative, static_cast<size_t>(p - first) + negative}))
        .hint("indices in OBJ files start at 1");
  if (negative) {
    if (v > count)
      throw error("index -" + std::to_string(v) + " points before the first: only " + std::to_string(count) +
                  " were read so far");
    v = count - v + 1;
  } else if (v > count && isPosition) [[unlikely]] {
    noteForward(v);
  }
  value = static_cast<uint32_t>(v - 1);
  return p;
}

void ObjParser::noteForward(uint64_t oneBased) {
  if (oneBased <= forward_) return;
  forward_ = oneBased;
  forwardLine_ = line_;
}

inline const char* ObjParser::face(const char* p) {
  const size_t first = soup_.corners.size();
  const size_t positionCount = soup_.positions.size();
  for (;;) {
    p = skipBlanks(p);
    if (*p == '\n' || *p == '#') break;
    uint32_t vertexIndex = 0;
    p = index(p, positionCount, "a vertex index", vertexIndex, true);
    soup_.corners.push_back(vertexIndex);
    uint32_t uv = kNoIndex, normalIndex = kNoIndex;
    if (*p == '/') {
      ++p;
      if (*p != '/' && !isSpace(*p)) {
        p = index(p, uvs_.size(), "a texture index", uv, false);
        if (uv >= largestUv_) largestUv_ = uv + uint64_t(1), largestUvLine_ = line_;
      }
      if (*p == '/') {
        ++p;
        if (!isSpace(*p)) {
          p = index(p, normals_.size(), "a normal's index", normalIndex, false);
          if (normalIndex >= largestNormal_)
            largestNormal_ = normalIndex + uint64_t(1), largestNormalLine_ = line_;
        }
      }
      anyUv_ |= uv != kNoIndex;
      anyNormal_ |= normalIndex != kNoIndex;
    }
    if (!isSpace(*p) && *p != '\\' && *p != '#') throw expected("a blank after the corner", p);
    if (anyUv_) {
      cornerUv_.resize(soup_.corners.size() - 1, kNoIndex);
      cornerUv_.push_back(uv);
    }
    if (anyNormal_) {
      cornerNormal_.resize(soup_.corners.size() - 1, kNoIndex);
      cornerNormal_.push_back(normalIndex);
    }
  }
  const size_t size = soup_.corners.size() - first;
  if (size < 3) [[unlikely]] {
    if (size == 0) throw error("a face without corners");
    soup_.corners.resize(first);
    if (anyUv_) cornerUv_.resize(first);
    if (anyNormal_) cornerNormal_.resize(first);
    ++dropped_;
    return p;
  }
  checkIndexable(soup_.corners.size(), "corners", name_);
  soup_.faceOffsets.push_back(static_cast<uint32_t>(soup_.corners.size()));
  const size_t faces = soup_.faceOffsets.size() - 1;
  if (faces == 1) firstFaceOffset_ = static_cast<size_t>(p - begin_);
  if (faces == kEstimateAfter) {
    const size_t done = static_cast<size_t>(p - begin_);
    const size_t bytesEach = std::max<size_t>(8, (done - firstFaceOffset_) / kEstimateAfter);
    const size_t estimate = (totalSize_ - done) / bytesEach + faces;
    soup_.faceOffsets.reserve(estimate + 1);
    soup_.corners.reserve(estimate * (soup_.corners.size() / faces));
  }
  return p;
}

const char* ObjParser::group(const char* p) {
  p = skipBlanks(p);
  const char* lineEnd = skipComment(p);
  const char* last = lineEnd;
  while (last != p && isObjBlank(last[-1])) --last;
  std::string_view groupName(p, static_cast<size_t>(last - p));
  if (groupName.find('\0') != groupName.npos) throw error("this is not a text file");
  if (!groups_.empty() && groups_.back().face == soup_.faceCount()) groups_.pop_back();
  groups_.push_back({soup_.faceCount(), groupName});
  return lineEnd;
}

const char* ObjParser::other(const char* p) {
  const char* last = p;
  while (!isSpace(*last) && last - p < 16) ++last;
  const std::string_view word(p, static_cast<size_t>(last - p));
  if (word == "vt") return textureCoordinate(last);
  if (word == "vn") return normal(last);
  if (word == "o" || word == "g") return group(last);
  if (word == "v" || word == "f") throw expected("numbers", last);
  if (word == "l" || word == "p") {
    ++linesAndPoints_;
  } else if (isOneOf(word, kMaterials)) {
    materials_ = true;
  } else if (isOneOf(word, kFreeForm)) {
    ++freeForm_;
  } else if (!isOneOf(word, kDisplay)) {
    throw expected("an OBJ statement such as v or f", p);
  }
  return skipStatement(last);
}

MeshFile ObjParser::finish() {
  MeshFile file;
  file.format = MeshFormat::Obj;
  if (soup_.positions.empty())
    throw Error(ErrorKind::Format, "the file holds no vertices").inFile(name_).hint("is it an OBJ file?");
  checkIndexable(soup_.positions.size(), "vertices", name_);
  auto checkLargest = [&](uint64_t largest, uint64_t line, size_t count, const char* one, const char* many) {
    if (largest <= count) return;
    throw Error(ErrorKind::Format, "face refers to " + std::string(one) + " " + std::to_string(largest) +
                                       ", but there are only " + std::to_string(count) + " " + many)
        .inFile(name_)
        .atLine(line);
  };
  checkLargest(forward_, forwardLine_, soup_.positions.size(), "vertex", "vertices");
  checkLargest(largestUv_, largestUvLine_, uvs_.size(), "texture coordinate", "of them");
  checkLargest(largestNormal_, largestNormalLine_, normals_.size(), "normal", "of them");

  if (anyUv_) {
    for (const uint32_t i : cornerUv_) {
      if (i == kNoIndex) break;  // incomplete: dropped with a note below
      soup_.cornerUvs.push_back(uvs_[i]);
    }
    if (soup_.cornerUvs.empty() && !cornerUv_.empty()) soup_.cornerUvs.emplace_back(0, 0);
    cornerUv_ = {};
  }
  if (anyNormal_) {
    for (const uint32_t i : cornerNormal_) {
      if (i == kNoIndex) break;
      soup_.cornerNormals.push_back(normals_[i]);
    }
    if (soup_.cornerNormals.empty() && !cornerNormal_.empty()) soup_.cornerNormals.emplace_back(0, 0, 0);
    cornerNormal_ = {};
  }
  if (anyColour_ && soup_.vertexColours.empty()) soup_.vertexColours.emplace_back(0, 0, 0, 1);
  dropBrokenAttributes(soup_, file.notes);

  if (!groups_.empty() && groups_.back().face == soup_.faceCount()) groups_.pop_back();
  if (!groups_.empty()) {
    if (groups_.front().face > 0) groups_.insert(groups_.begin(), {0, {}});
    std::map<std::string_view, uint32_t> numbers;
    soup_.faceGroup.reserve(soup_.faceCount());
    for (size_t i = 0; i < groups_.size(); ++i) {
      const std::string_view groupName = groups_[i].name.empty() ? "default" : groups_[i].name;
      const auto [found, added] =
          numbers.try_emplace(groupName, static_cast<uint32_t>(soup_.groupNames.size()));
      if (added) soup_.groupNames.emplace_back(groupName);
      soup_.faceGroup.resize(i + 1 < groups_.size() ? groups_[i + 1].face : soup_.faceCount(), found->second);
    }
  }

  noteDroppedFaces(file.notes, dropped_);
  if (materials_) file.notes.emplace_back("materials ignored");
  if (linesAndPoints_ > 0)
    file.notes.push_back(counted(linesAndPoints_, "line or point element", "line and point elements") +
                         " ignored");
  if (freeForm_ > 0)
    file.notes.push_back(counted(freeForm_, "statement", "statements") + " for curves and surfaces ignored");
  file.surface = std::move(soup_);
  return file;
}

}  // namespace

MeshFile readObj(Bytes bytes, const std::string& name) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  // Both ends: a file that was cut off on disk or in transfer often ends in zeros.
  if (text.starts_with('\0') || text.ends_with('\0'))
    throw Error(ErrorKind::Format, "this is not a text file").inFile(name);

  // Only the last stretch is searched: a line longer than the limit is refused in any case.
  const size_t window = std::min(text.size(), kLineLimit);
  const size_t lastLine = text.substr(text.size() - window).rfind('\n');
  if (lastLine == text.npos && window < text.size())
    throw Error(ErrorKind::Format, "the last line is longer than " + std::to_string(kLineLimit) + " bytes")
        .inFile(name)
        .hint("this is not an OBJ file");
  const size_t whole = lastLine == text.npos ? 0 : text.size() - window + lastLine + 1;

  std::string tail(text.substr(whole));
  if (!tail.empty()) tail += '\n';
  ObjParser parser(name, text.size());
  if (whole > 0) parser.parse(text.data(), text.data() + whole);
  if (!tail.empty()) parser.parse(tail.data(), tail.data() + tail.size());
  return parser.finish();
}

}  // namespace sunder::meshio
