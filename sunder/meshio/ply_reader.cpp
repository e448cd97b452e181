// PLY data behind the header. Binary vertices without lists are converted column by column, faces in one
// tight loop; everything else goes through one general walk over rows and properties that serves text and
// binary alike.
#include "sunder/base/parallel.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/ply_header.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_scanner.h"

#include <algorithm>
#include <cstring>

namespace sunder::meshio {

namespace {

constexpr size_t kRowBlock = 8192;

template <size_t Size>
struct BitsOf;
template <>
struct BitsOf<1> {
  using Type = uint8_t;
};
template <>
struct BitsOf<2> {
  using Type = uint16_t;
};
template <>
struct BitsOf<4> {
  using Type = uint32_t;
};
template <>
struct BitsOf<8> {
  using Type = uint64_t;
};

inline uint8_t swapped(uint8_t v) { return v; }
inline uint16_t swapped(uint16_t v) { return __builtin_bswap16(v); }
inline uint32_t swapped(uint32_t v) { return __builtin_bswap32(v); }
inline uint64_t swapped(uint64_t v) { return __builtin_bswap64(v); }

template <class T, bool Swap>
inline T loadPly(const std::byte* at) {
  using Bits = typename BitsOf<sizeof(T)>::Type;
  Bits bits;
  std::memcpy(&bits, at, sizeof bits);
  if constexpr (Swap) bits = swapped(bits);
  return std::bit_cast<T>(bits);
}

// Calls f with a value of the C++ type behind `type`.
template <class F>
decltype(auto) withType(PlyType type, F&& f) {
  switch (type) {
    case PlyType::Int8:
      return f(int8_t());
    case PlyType::Uint8:
      return f(uint8_t());
    case PlyType::Int16:
      return f(int16_t());
    case PlyType::Uint16:
      return f(uint16_t());
    case PlyType::Int32:
      return f(int32_t());
    case PlyType::Uint32:
      return f(uint32_t());
    case PlyType::Float:
      return f(float());
    default:
      return f(double());
  }
}

// A double as a float without undefined behaviour for values out of its range.
float toFloat(double v) {
  constexpr double kLargest = 3e38;
  return static_cast<float>(v > kLargest ? kLargest : v < -kLargest ? -kLargest : v);
}

// What the vertex and face elements hold, before it is turned into a soup.
struct PlyMesh {
  std::vector<Vec3> positions, normals;
  std::vector<Vec2> uvs;
  std::vector<Vec4f> colours;
  std::vector<uint32_t> faceOffsets{0}, corners;
  std::vector<Vec2> wedgeUvs;
  uint64_t droppedFaces = 0;
  uint64_t vertexCount = 0;
  bool hasVertices = false;
};

struct VertexRoles {
  bool normals, uvs, colours;
  explicit VertexRoles(const PlyElement& e)
      : normals(e.has(PlyRole::Nx) && e.has(PlyRole::Ny) && e.has(PlyRole::Nz)),
        uvs(e.has(PlyRole::U) && e.has(PlyRole::V)),
        colours(e.has(PlyRole::Red) && e.has(PlyRole::Green) && e.has(PlyRole::Blue)) {}
};

void allocateVertices(PlyMesh& mesh, const PlyElement& element) {
  const VertexRoles roles(element);
  const size_t count = static_cast<size_t>(element.count);
  mesh.positions.resize(count);
  if (roles.normals) mesh.normals.resize(count);
  if (roles.uvs) mesh.uvs.resize(count);
  if (roles.colours) mesh.colours.assign(count, Vec4f(0, 0, 0, 1));
}

// Stores one number of vertex `row` where its role says.
inline void store(PlyMesh& mesh, const VertexRoles& roles, const PlyProperty& p, size_t row, double value) {
  switch (p.role) {
    case PlyRole::X:
    case PlyRole::Y:
    case PlyRole::Z:
      mesh.positions[row][int(p.role) - int(PlyRole::X)] = value;
      break;
    case PlyRole::Nx:
    case PlyRole::Ny:
    case PlyRole::Nz:
      if (roles.normals) mesh.normals[row][int(p.role) - int(PlyRole::Nx)] = value;
      break;
    case PlyRole::U:
    case PlyRole::V:
      if (roles.uvs) mesh.uvs[row][int(p.role) - int(PlyRole::U)] = value;
      break;
    case PlyRole::Red:
    case PlyRole::Green:
    case PlyRole::Blue:
    case PlyRole::Alpha:
      if (roles.colours)
        mesh.colours[row][int(p.role) - int(PlyRole::Red)] =
            isFloating(p.type) ? toFloat(value) : static_cast<float>(value / colourScale(p.type));
      break;
    default:
      break;
  }
}

// A row of a face list becomes a face; lists of fewer than 3 are counted and left out.
void endFace(PlyMesh& mesh, size_t first) {
  if (mesh.corners.size() - first >= 3) {
    mesh.faceOffsets.push_back(static_cast<uint32_t>(mesh.corners.size()));
  } else {
    mesh.corners.resize(first);
    ++mesh.droppedFaces;
  }
}

// --- the two sources of numbers
// -------------------------------------------------------------------------------

class AsciiSource {
 public:
  AsciiSource(std::string_view data, const std::string& name, uint64_t firstLine) : in_(data, name, '\0') {
    in_.setLine(firstLine);
  }
  double number(PlyType) { return in_.readDouble("a number"); }
  uint64_t length(PlyType) { return in_.readUint("the length of a list"); }
  int64_t integer(PlyType) { return in_.readInt("a vertex index"); }
  // A number and the blank behind it; the very last one may lack the blank.
  void checkRows(uint64_t rows, uint64_t numbersEach, uint64_t, std::string_view what) {
    if (numbersEach == 0) return;
    try {
      meshio::checkCount(rows, 2 * numbersEach, in_.remaining() + 1, what);
    } catch (Error& e) {
      throw std::move(place(e));
    }
  }
  void checkLength(uint64_t length, PlyType) { checkRows(length, 1, 0, "values in a list"); }
  Error error(std::string message) {
    Error e(ErrorKind::Format, std::move(message));
    return std::move(place(e));
  }

 private:
  Error& place(Error& e) { return e.inFile(in_.name()).atLine(in_.line()); }
  TextScanner in_;
};

template <bool Swap>
class PlyBinarySource {
 public:
  PlyBinarySource(Bytes data, const std::string& name, size_t headerBytes)
      : begin_(data.data()),
        cursor_(data.data()),
        end_(data.data() + data.size()),
        name_(name),
        header_(headerBytes) {}

  double number(PlyType type) {
    need(sizeOf(type));
    return withType(type, [&](auto t) {
      using T = decltype(t);
      const T value = loadPly<T, Swap>(cursor_);
      cursor_ += sizeof(T);
      return static_cast<double>(value);
    });
  }
  int64_t integer(PlyType type) { return static_cast<int64_t>(number(type)); }  // 32 bits at most: exact
  uint64_t length(PlyType type) {
    const double value = number(type);
    if (value < 0) throw error("a list of negative length");
    return static_cast<uint64_t>(value);
  }
  void checkRows(uint64_t rows, uint64_t, uint64_t bytesEach, std::string_view what) {
    try {
      meshio::checkCount(rows, bytesEach, remaining(), what);
    } catch (Error& e) {
      throw std::move(e.inFile(name_).atByte(offset()));
    }
  }
  void checkLength(uint64_t length, PlyType type) { checkRows(length, 0, sizeOf(type), "values in a list"); }
  Error error(std::string message) const {
    return Error(ErrorKind::Format, std::move(message)).inFile(name_).atByte(offset());
  }

  size_t remaining() const { return static_cast<size_t>(end_ - cursor_); }
  size_t offset() const { return header_ + static_cast<size_t>(cursor_ - begin_); }
  const std::byte* cursor() const { return cursor_; }
  void skip(size_t bytes) { cursor_ += bytes; }
  void moveTo(const std::byte* at) { cursor_ = at; }
  const std::byte* end() const { return end_; }

 private:
  void need(size_t bytes) {
    if (remaining() < bytes) throw error("the file ends in the middle of the data");
  }
  const std::byte *begin_, *cursor_, *end_;
  const std::string& name_;
  size_t header_;
};

// --- the general walk
// -----------------------------------------------------------------------------------------

template <class Source>
void readFaceIndices(Source& in, const PlyProperty& p, PlyMesh& mesh, uint64_t length) {
  for (uint64_t i = 0; i < length; ++i) {
    const int64_t v = in.integer(p.type);
    if (v < 0 || static_cast<uint64_t>(v) >= mesh.vertexCount)
      throw in
          .error("face refers to vertex " + std::to_string(v) + ", but there are only " +
                 std::to_string(mesh.vertexCount) + " vertices")
          .hint("indices in PLY files start at 0");
    mesh.corners.push_back(static_cast<uint32_t>(v));
  }
}

template <class Source>
void readRows(Source& in, const PlyElement& element, PlyMesh& mesh, const std::string& name) {
  const bool isVertex = element.name == "vertex";
  const VertexRoles roles(element);
  for (size_t row = 0; row < element.count; ++row) {
    const size_t first = mesh.corners.size();
    bool isFace = false;
    std::vector<Vec2> wedge;
    for (const PlyProperty& p : element.properties) {
      if (!p.isList) {
        const double value = in.number(p.type);
        if (isVertex) store(mesh, roles, p, row, value);
        continue;
      }
      const uint64_t length = in.length(p.countType);
      in.checkLength(length, p.type);
      if (p.role == PlyRole::Indices) {
        readFaceIndices(in, p, mesh, length);
        isFace = true;
      } else if (p.role == PlyRole::WedgeUvs) {
        wedge.resize(static_cast<size_t>((length + 1) / 2), Vec2::Zero());
        for (uint64_t i = 0; i < length; ++i)
          wedge[static_cast<size_t>(i / 2)][int(i % 2)] = in.number(p.type);
      } else {
        for (uint64_t i = 0; i < length; ++i) in.number(p.type);
      }
    }
    if (!isFace) continue;
    checkIndexable(mesh.corners.size(), "corners", name);
    endFace(mesh, first);
    // Wedges that do not match their face make the whole incomplete, so that they are dropped at the end.
    if (mesh.corners.size() > first && wedge.size() == mesh.corners.size() - first)
      mesh.wedgeUvs.insert(mesh.wedgeUvs.end(), wedge.begin(), wedge.end());
  }
}

// --- fast paths for binary
// ------------------------------------------------------------------------------------

template <bool Swap>
void readVertexColumns(PlyBinarySource<Swap>& in, const PlyElement& element, PlyMesh& mesh) {
  const VertexRoles roles(element);
  const size_t stride = element.rowBytes();
  const std::byte* data = in.cursor();
  parallelBlocks(static_cast<size_t>(element.count), kRowBlock, [&](size_t begin, size_t end) {
    for (size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& p = element.properties[i];
      if (p.role == PlyRole::None) continue;
      const std::byte* at = data + begin * stride + element.offsetOf(i);
      withType(p.type, [&](auto t) {
        using T = decltype(t);
        if (p.role <= PlyRole::Z) {
          const int axis = int(p.role) - int(PlyRole::X);
          for (size_t row = begin; row < end; ++row, at += stride)
            mesh.positions[row][axis] = static_cast<double>(loadPly<T, Swap>(at));
        } else {
          for (size_t row = begin; row < end; ++row, at += stride)
            store(mesh, roles, p, row, static_cast<double>(loadPly<T, Swap>(at)));
        }
      });
    }
  });
  in.skip(stride * static_cast<size_t>(element.count));
}

// Faces whose only list is the one of 8-bit length with 32-bit indices; other properties have fixed sizes.
template <bool Swap>
void readFacesFast(PlyBinarySource<Swap>& in, const PlyElement& element, PlyMesh& mesh,
                   const std::string& name) {
  size_t before = 0, list = 0;
  while (!element.properties[list].isList) before += sizeOf(element.properties[list++].type);
  const size_t after = element.rowBytes() - before - 1;
  const bool isSigned = element.properties[list].type == PlyType::Int32;
  const uint64_t vertexCount = mesh.vertexCount;

  const size_t rows = static_cast<size_t>(element.count);
  mesh.faceOffsets.reserve(rows + 1);
  mesh.corners.reserve(std::min(3 * rows, in.remaining() / 4));
  const std::byte* at = in.cursor();
  const std::byte* const end = in.end();
  for (size_t row = 0; row < rows; ++row) {
    if (static_cast<size_t>(end - at) < before + 1 + after) {
      in.moveTo(at);
      throw in.error("the file ends in face " + std::to_string(row) + " of " + std::to_string(rows));
    }
    at += before;
    const size_t length = static_cast<uint8_t>(*at++);
    if (static_cast<size_t>(end - at) < 4 * length + after) {
      in.moveTo(at);
      throw in.error("the file ends in face " + std::to_string(row) + " of " + std::to_string(rows));
    }
    const size_t first = mesh.corners.size();
    mesh.corners.resize(first + length);
    uint32_t* corner = mesh.corners.data() + first;
    uint64_t largest = 0;
    for (size_t i = 0; i < length; ++i, at += 4) {
      corner[i] = loadPly<uint32_t, Swap>(at);
      largest = std::max<uint64_t>(largest, corner[i]);
    }
    if (length > 0 && largest >= vertexCount) {
      in.moveTo(at - 4 * length);
      const std::string shown = isSigned && largest > INT32_MAX
                                    ? std::to_string(static_cast<int64_t>(largest) - (int64_t(1) << 32))
                                    : std::to_string(largest);
      throw in
          .error("face refers to vertex " + shown + ", but there are only " + std::to_string(vertexCount) +
                 " vertices")
          .hint("indices in PLY files start at 0");
    }
    at += after;
    endFace(mesh, first);
  }
  checkIndexable(mesh.corners.size(), "corners", name);
  in.moveTo(at);
}

bool isFastFace(const PlyElement& element) {
  size_t lists = 0;
  bool fits = false;
  for (const PlyProperty& p : element.properties) {
    if (!p.isList) continue;
    ++lists;
    fits = p.role == PlyRole::Indices && p.countType == PlyType::Uint8 &&
           (p.type == PlyType::Int32 || p.type == PlyType::Uint32);
  }
  return lists == 1 && fits;
}

template <class Source>
void readElements(Source& in, const PlyHeader& header, PlyMesh& mesh, const std::string& name) {
  constexpr bool kBinary = !std::is_same_v<Source, AsciiSource>;
  for (const PlyElement& element : header.elements) {
    if (element.count == 0 || element.properties.empty()) continue;
    const std::string what = "rows of element " + meshio::quoted(element.name);
    in.checkRows(element.count, element.properties.size(), element.rowBytes(), what);
    checkIndexable(element.count, what, name);
    if (element.name == "vertex") {
      allocateVertices(mesh, element);
      if constexpr (kBinary) {
        if (!element.hasLists()) {
          readVertexColumns(in, element, mesh);
          continue;
        }
      }
    } else if constexpr (kBinary) {
      if (element.name == "face" && isFastFace(element)) {
        readFacesFast(in, element, mesh, name);
        continue;
      }
      if (!element.hasLists()) {
        in.skip(element.rowBytes() * static_cast<size_t>(element.count));
        continue;
      }
    }
    readRows(in, element, mesh, name);
  }
}

void checkFinite(const PlyMesh& mesh, const std::string& name) {
  const size_t none = mesh.positions.size();
  const size_t bad = parallelReduce(
      mesh.positions.size(), none,
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
          if (!isFinite(mesh.positions[i])) return i;
        return none;
      },
      [](size_t a, size_t b) { return std::min(a, b); }, size_t(1) << 16);
  if (bad != none)
    throw Error(ErrorKind::Format, "coordinate is not finite in vertex " + std::to_string(bad)).inFile(name);
}

MeshFile toMeshFile(PlyMesh mesh, const PlyHeader& header) {
  MeshFile file;
  file.format = MeshFormat::Ply;
  geometry::PolygonSoup& soup = file.surface;
  soup.positions = std::move(mesh.positions);
  soup.faceOffsets = std::move(mesh.faceOffsets);
  soup.corners = std::move(mesh.corners);
  soup.vertexColours = std::move(mesh.colours);
  soup.cornerUvs = std::move(mesh.wedgeUvs);
  if (!mesh.normals.empty()) {
    soup.cornerNormals.reserve(soup.corners.size());
    for (const uint32_t v : soup.corners) soup.cornerNormals.push_back(mesh.normals[v]);
  }
  if (!mesh.uvs.empty()) {
    soup.cornerUvs.clear();
    soup.cornerUvs.reserve(soup.corners.size());
    for (const uint32_t v : soup.corners) soup.cornerUvs.push_back(mesh.uvs[v]);
  }
  dropBrokenAttributes(soup, file.notes);
  noteDroppedFaces(file.notes, mesh.droppedFaces);
  constexpr size_t kListed = 8;
  if (!header.ignored.empty()) {
    std::string note = "ignored ";
    for (size_t i = 0; i < std::min(kListed, header.ignored.size()); ++i)
      note += (i ? ", " : "") + header.ignored[i];
    if (header.ignored.size() > kListed)
      note += " and " + std::to_string(header.ignored.size() - kListed) + " more";
    file.notes.push_back(note);
  }
  return file;
}

}  // namespace

MeshFile readPly(Bytes bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const PlyHeader header = readPlyHeader(text, name);
  PlyMesh mesh;
  for (const PlyElement& element : header.elements) {
    if (element.name != "vertex") continue;
    if (!element.has(PlyRole::X) || !element.has(PlyRole::Y) || !element.has(PlyRole::Z))
      throw Error(ErrorKind::Format, "the vertex element has no x, y and z").inFile(name);
    mesh.vertexCount = element.count;
    mesh.hasVertices = true;
  }
  if (!mesh.hasVertices) throw Error(ErrorKind::Format, "the file has no vertex element").inFile(name);

  if (header.encoding == PlyEncoding::Ascii) {
    AsciiSource in(text.substr(header.bytes), name, header.lines);
    readElements(in, header, mesh, name);
  } else if (header.encoding == PlyEncoding::LittleEndian) {
    PlyBinarySource<false> in(bytes.subspan(header.bytes), name, header.bytes);
    readElements(in, header, mesh, name);
  } else {
    PlyBinarySource<true> in(bytes.subspan(header.bytes), name, header.bytes);
    readElements(in, header, mesh, name);
  }
  checkFinite(mesh, name);
  return toMeshFile(std::move(mesh), header);
}

}  // namespace sunder::meshio
