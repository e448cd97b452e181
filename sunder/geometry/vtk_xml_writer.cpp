// VTU and VTP files. Numbers go into one appended raw block by default, straight from the arrays where they
// already lie as VTK wants them; as text on request.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/geometry/cell_soup.h"
#include "sunder/geometry/mesh_formats.h"
#include "sunder/geometry/text_writer.h"
#include "sunder/geometry/vtk_data.h"

#include <algorithm>
#include <functional>

namespace sunder::geometry {

namespace {

constexpr size_t kChunk = size_t(1) << 16;  // values per piece of a generated array

// Where an array's values go, binary or text.
class ValueSink {
 public:
  ValueSink(OutputFile& out, TextWriter* text) : out_(out), text_(text) {}

  template <class T>
  void put(std::span<const T> values) {
    if (!text_) return out_.write(std::as_bytes(values));
    for (const T value : values) *text_ << value << (++column_ % 12 == 0 ? '\n' : ' ');
  }
  // value(i) for i in [0, count), as T
  template <class T, class Value>
  void generate(size_t count, Value&& value) {
    std::vector<T> chunk;
    for (size_t begin = 0; begin < count; begin += kChunk) {
      chunk.resize(std::min(kChunk, count - begin));
      for (size_t i = 0; i < chunk.size(); ++i) chunk[i] = value(begin + i);
      put(std::span<const T>(chunk));
    }
  }

 private:
  OutputFile& out_;
  TextWriter* text_;
  uint64_t column_ = 0;
};

struct OutputArray {
  std::string name, type;
  size_t components = 1;
  uint64_t bytes = 0;
  std::function<void(ValueSink&)> write;
};

template <class T>
const char* typeNameOf() {
  if constexpr (std::is_same_v<T, double>) return "Float64";
  if constexpr (std::is_same_v<T, float>) return "Float32";
  if constexpr (std::is_same_v<T, int32_t>) return "Int32";
  if constexpr (std::is_same_v<T, int64_t>) return "Int64";
  if constexpr (std::is_same_v<T, uint8_t>) return "UInt8";
}

template <class T, class Value>
OutputArray generated(std::string name, size_t components, uint64_t values, Value value) {
  return {std::move(name), typeNameOf<T>(), components, values * sizeof(T),
          [values, value](ValueSink& sink) { sink.generate<T>(values, value); }};
}

template <class Scalar>
std::span<const Scalar> numbersOf(const auto& vectors) {
  if (vectors.empty()) return {};
  return {vectors.front().data(), vectors.size() * static_cast<size_t>(vectors.front().size())};
}

class XmlWriter {
 public:
  XmlWriter(OutputFile& out, const MeshFile& mesh, bool grid, bool ascii)
      : out_(out), text_(out), mesh_(mesh), points_(joinPoints(mesh)), grid_(grid), ascii_(ascii) {
    tets_ = grid ? mesh.volume.tets.size() : 0;
    faces_ = mesh.surface.faceCount();
    if (!grid && !mesh.volume.tets.empty()) points_ = {mesh.surface.positions, {}, 0, true};
    if (points_.size() > kMostElements)
      throw Error(ErrorKind::Limit, "volume and surface together have more points than 32-bit indices allow");
  }
  std::vector<std::string> write();

 private:
  std::vector<OutputArray> cellArrays() const;
  std::vector<OutputArray> cellData() const;
  std::vector<OutputArray> pointData();
  template <class Id>
  void addConnectivity(std::vector<OutputArray>& arrays) const;
  void element(const char* name, const std::vector<OutputArray>& arrays);
  void groupNames();

  OutputFile& out_;
  TextWriter text_;
  const MeshFile& mesh_;
  JoinedPoints points_;
  size_t tets_ = 0, faces_ = 0;
  bool grid_, ascii_;
  uint64_t offset_ = 0;
  std::vector<const OutputArray*> appended_;
  std::vector<Vec3> normals_;
  std::vector<Vec2> uvs_;
  std::vector<std::string> notes_;
};

template <class Id>
void XmlWriter::addConnectivity(std::vector<OutputArray>& arrays) const {
  const auto* const soup = &mesh_.surface;
  const auto* const tets = &mesh_.volume.tets;
  const size_t tetCount = tets_, tetCorners = 4 * tets_;
  const uint32_t base = points_.surfaceBase;
  arrays.push_back(
      {"connectivity", typeNameOf<Id>(), 1, (tetCorners + soup->corners.size()) * sizeof(Id),
       [=](ValueSink& sink) {
         sink.generate<Id>(tetCorners, [&](size_t i) { return static_cast<Id>((*tets)[i / 4][i % 4]); });
         sink.generate<Id>(soup->corners.size(),
                           [&](size_t i) { return static_cast<Id>(uint64_t(soup->corners[i]) + base); });
       }});
  arrays.push_back(generated<Id>("offsets", 1, tets_ + faces_, [=](size_t c) {
    return static_cast<Id>(c < tetCount ? 4 * (c + 1) : tetCorners + soup->faceOffsets[c - tetCount + 1]);
  }));
}

std::vector<OutputArray> XmlWriter::cellArrays() const {
  std::vector<OutputArray> arrays;
  const uint64_t corners = 4 * uint64_t(tets_) + mesh_.surface.corners.size();
  if (std::max<uint64_t>(corners, points_.size()) <= uint64_t(INT32_MAX))
    addConnectivity<int32_t>(arrays);
  else
    addConnectivity<int64_t>(arrays);
  if (!grid_) return arrays;
  const auto* const soup = &mesh_.surface;
  const size_t tetCount = tets_;
  arrays.push_back(generated<uint8_t>("types", 1, tets_ + faces_, [=](size_t c) {
    if (c < tetCount) return kVtkTetra;
    const size_t corner = soup->face(c - tetCount).size();
    return corner == 3 ? kVtkTriangle : corner == 4 ? kVtkQuad : kVtkPolygon;
  }));
  return arrays;
}

std::vector<OutputArray> XmlWriter::cellData() const {
  std::vector<OutputArray> arrays;
  const size_t tetCount = tets_;
  // -1 where a cell is of the other kind.
  if (tets_ > 0 && !mesh_.volume.region.empty())
    arrays.push_back(generated<int32_t>("region", 1, tets_ + faces_, [this, tetCount](size_t c) {
      return c < tetCount ? mesh_.volume.region[c] : -1;
    }));
  if (faces_ > 0 && !mesh_.surface.faceGroup.empty())
    arrays.push_back(generated<int32_t>("group", 1, tets_ + faces_, [this, tetCount](size_t c) {
      return c < tetCount ? -1 : static_cast<int32_t>(mesh_.surface.faceGroup[c - tetCount]);
    }));
  return arrays;
}

std::vector<OutputArray> XmlWriter::pointData() {
  std::vector<OutputArray> arrays;
  const PolygonSoup& soup = mesh_.surface;
  const bool hasAny = !soup.cornerNormals.empty() || !soup.cornerUvs.empty() || !soup.vertexColours.empty();
  if (!points_.surfaceIsAll) {
    if (hasAny)
      notes_.emplace_back(
          "the volume has other points than the surface: normals, uvs and colours are left out");
    return arrays;
  }
  if (!soup.cornerNormals.empty()) {
    if (cornersToPoints(soup, soup.cornerNormals, normals_))
      arrays.push_back({"Normals", "Float64", 3, normals_.size() * sizeof(Vec3),
                        [this](ValueSink& sink) { sink.put(numbersOf<double>(normals_)); }});
    else
      notes_.emplace_back("normals differ between the corners of a point: left out");
  }
  if (!soup.cornerUvs.empty()) {
    if (cornersToPoints(soup, soup.cornerUvs, uvs_))
      arrays.push_back({"uv", "Float64", 2, uvs_.size() * sizeof(Vec2),
                        [this](ValueSink& sink) { sink.put(numbersOf<double>(uvs_)); }});
    else
      notes_.emplace_back("texture coordinates differ between the corners of a point: left out");
  }
  if (!soup.vertexColours.empty())
    arrays.push_back({"colour", "Float32", 4, soup.vertexColours.size() * sizeof(Vec4f),
                      [&soup](ValueSink& sink) { sink.put(numbersOf<float>(soup.vertexColours)); }});
  return arrays;
}

void XmlWriter::element(const char* name, const std::vector<OutputArray>& arrays) {
  text_ << "<" << name << ">\n";
  for (const OutputArray& array : arrays) {
    text_ << "<DataArray type=\"" << array.type << "\" Name=\"" << array.name << "\" NumberOfComponents=\""
          << array.components << "\" format=\"" << (ascii_ ? "ascii" : "appended");
    if (ascii_) {
      text_ << "\">\n";
      ValueSink sink(out_, &text_);
      array.write(sink);
      text_ << "\n</DataArray>\n";
    } else {
      text_ << "\" offset=\"" << offset_ << "\"/>\n";
      offset_ += sizeof(uint64_t) + array.bytes;
      appended_.push_back(&array);
    }
  }
  text_ << "</" << name << ">\n";
}

// The codes of the characters, a zero after each name: how VTK lays out strings, but as plain bytes, because
// readers other than VTK's stumble over its String type.
void XmlWriter::groupNames() {
  if (faces_ == 0 || mesh_.surface.faceGroup.empty() || mesh_.surface.groupNames.empty()) return;
  size_t length = mesh_.surface.groupNames.size();
  for (const std::string& name : mesh_.surface.groupNames)
    length += static_cast<size_t>(std::count_if(name.begin(), name.end(), [](char c) { return c != '\0'; }));
  text_ << "<FieldData>\n<DataArray type=\"UInt8\" Name=\"groupNames\" NumberOfTuples=\"" << length
        << "\" format=\"ascii\">\n";
  for (const std::string& name : mesh_.surface.groupNames) {
    for (const char c : name)
      if (c != '\0') text_ << int(static_cast<unsigned char>(c)) << ' ';
    text_ << "0\n";
  }
  text_ << "</DataArray>\n</FieldData>\n";
}

std::vector<std::string> XmlWriter::write() {
  const char* const type = grid_ ? "UnstructuredGrid" : "PolyData";
  text_ << "<?xml version=\"1.0\"?>\n<VTKFile type=\"" << type << "\" version=\"1.0\" byte_order=\""
        << (kNativeOrder == ByteOrder::Big ? "BigEndian" : "LittleEndian") << "\" header_type=\"UInt64\">\n<"
        << type << ">\n";
  groupNames();
  text_ << "<Piece NumberOfPoints=\"" << points_.size() << "\" ";
  if (grid_)
    text_ << "NumberOfCells=\"" << tets_ + faces_ << "\">\n";
  else
    text_ << "NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"" << faces_
          << "\">\n";

  std::vector<OutputArray> points;
  points.push_back({"Points", "Float64", 3, points_.size() * sizeof(Vec3), [this](ValueSink& sink) {
                      sink.put(numbersOf<double>(points_.first));
                      sink.put(numbersOf<double>(points_.second));
                    }});
  const std::vector<OutputArray> cells = cellArrays(), perCell = cellData(), perPoint = pointData();
  element("PointData", perPoint);
  element("CellData", perCell);
  element("Points", points);
  element(grid_ ? "Cells" : "Polys", cells);
  text_ << "</Piece>\n</" << type << ">\n";
  if (!ascii_) {
    text_ << "<AppendedData encoding=\"raw\">\n_";
    text_.flush();
    ValueSink sink(out_, nullptr);
    for (const OutputArray* array : appended_) {
      sink.put(std::span<const uint64_t>(&array->bytes, 1));
      array->write(sink);
    }
    text_ << "\n</AppendedData>\n";
  }
  text_ << "</VTKFile>\n";
  text_.flush();
  return std::move(notes_);
}

}  // namespace

std::vector<std::string> writeVtu(OutputFile& out, const MeshFile& mesh, bool ascii) {
  return XmlWriter(out, mesh, true, ascii).write();
}

std::vector<std::string> writeVtp(OutputFile& out, const MeshFile& mesh, bool ascii) {
  std::vector<std::string> notes = XmlWriter(out, mesh, false, ascii).write();
  if (!mesh.volume.tets.empty()) notes.emplace_back("VTP holds polygons only: tetrahedra are left out");
  return notes;
}

}  // namespace sunder::geometry
