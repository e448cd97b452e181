// VTU and VTP files. Numbers go into one appended raw block by default, straight from the arrays where they
// already lie as VTK wants them; as text on request.
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/meshio/cell_soup.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/vtk_data.h"
#include "sunder/meshio/vtk_xml_output.h"

#include <algorithm>

namespace sunder::meshio {

namespace {

template <class Scalar>
std::span<const Scalar> numbersOf(const auto& vectors) {
  if (vectors.empty()) return {};
  return {vectors.front().data(), vectors.size() * static_cast<size_t>(vectors.front().size())};
}

class XmlWriter {
 public:
  XmlWriter(OutputFile& out, const MeshFile& mesh, bool grid, bool ascii)
      : xml_(out, grid ? "UnstructuredGrid" : "PolyData", ascii ? VtkEncoding::Ascii : VtkEncoding::Raw),
        text_(xml_.text()),
        mesh_(mesh),
        points_(joinPoints(mesh)),
        grid_(grid) {
    tets_ = grid ? mesh.volume.tets.size() : 0;
    faces_ = mesh.surface.faceCount();
    if (!grid && !mesh.volume.tets.empty()) points_ = {mesh.surface.positions, {}, 0, true};
    if (points_.size() > kMostElements)
      throw Error(ErrorKind::Limit, "volume and surface together have more points than 32-bit indices allow");
  }
  std::vector<std::string> write();

 private:
  std::vector<VtkOutputArray> cellArrays() const;
  std::vector<VtkOutputArray> cellData() const;
  std::vector<VtkOutputArray> pointData();
  template <class Id>
  void addConnectivity(std::vector<VtkOutputArray>& arrays) const;
  void groupNames();

  VtkXmlOutput xml_;
  TextWriter& text_;
  const MeshFile& mesh_;
  JoinedPoints points_;
  size_t tets_ = 0, faces_ = 0;
  bool grid_;
  std::vector<Vec3> normals_;
  std::vector<Vec2> uvs_;
  std::vector<std::string> notes_;
};

template <class Id>
void XmlWriter::addConnectivity(std::vector<VtkOutputArray>& arrays) const {
  const auto* const soup = &mesh_.surface;
  const auto* const tets = &mesh_.volume.tets;
  const size_t tetCount = tets_, tetCorners = 4 * tets_;
  const uint32_t base = points_.surfaceBase;
  arrays.push_back(
      {"connectivity", vtkTypeName<Id>(), 1, (tetCorners + soup->corners.size()) * sizeof(Id),
       [=](VtkValueSink& sink) {
         sink.generate<Id>(tetCorners, [&](size_t i) { return static_cast<Id>((*tets)[i / 4][i % 4]); });
         sink.generate<Id>(soup->corners.size(),
                           [&](size_t i) { return static_cast<Id>(uint64_t(soup->corners[i]) + base); });
       }});
  arrays.push_back(vtkGenerated<Id>("offsets", 1, tets_ + faces_, [=](size_t c) {
    return static_cast<Id>(c < tetCount ? 4 * (c + 1) : tetCorners + soup->faceOffsets[c - tetCount + 1]);
  }));
}

std::vector<VtkOutputArray> XmlWriter::cellArrays() const {
  std::vector<VtkOutputArray> arrays;
  const uint64_t corners = 4 * uint64_t(tets_) + mesh_.surface.corners.size();
  if (std::max<uint64_t>(corners, points_.size()) <= uint64_t(INT32_MAX))
    addConnectivity<int32_t>(arrays);
  else
    addConnectivity<int64_t>(arrays);
  if (!grid_) return arrays;
  const auto* const soup = &mesh_.surface;
  const size_t tetCount = tets_;
  arrays.push_back(vtkGenerated<uint8_t>("types", 1, tets_ + faces_, [=](size_t c) {
    if (c < tetCount) return kVtkTetra;
    const size_t corner = soup->face(c - tetCount).size();
    return corner == 3 ? kVtkTriangle : corner == 4 ? kVtkQuad : kVtkPolygon;
  }));
  return arrays;
}

std::vector<VtkOutputArray> XmlWriter::cellData() const {
  std::vector<VtkOutputArray> arrays;
  const size_t tetCount = tets_;
  // -1 where a cell is of the other kind.
  if (tets_ > 0 && !mesh_.volume.region.empty())
    arrays.push_back(vtkGenerated<int32_t>("region", 1, tets_ + faces_, [this, tetCount](size_t c) {
      return c < tetCount ? mesh_.volume.region[c] : -1;
    }));
  if (faces_ > 0 && !mesh_.surface.faceGroup.empty())
    arrays.push_back(vtkGenerated<int32_t>("group", 1, tets_ + faces_, [this, tetCount](size_t c) {
      return c < tetCount ? -1 : static_cast<int32_t>(mesh_.surface.faceGroup[c - tetCount]);
    }));
  return arrays;
}

std::vector<VtkOutputArray> XmlWriter::pointData() {
  std::vector<VtkOutputArray> arrays;
  const geometry::PolygonSoup& soup = mesh_.surface;
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
                        [this](VtkValueSink& sink) { sink.put(numbersOf<double>(normals_)); }});
    else
      notes_.emplace_back("normals differ between the corners of a point: left out");
  }
  if (!soup.cornerUvs.empty()) {
    if (cornersToPoints(soup, soup.cornerUvs, uvs_))
      arrays.push_back({"uv", "Float64", 2, uvs_.size() * sizeof(Vec2),
                        [this](VtkValueSink& sink) { sink.put(numbersOf<double>(uvs_)); }});
    else
      notes_.emplace_back("texture coordinates differ between the corners of a point: left out");
  }
  if (!soup.vertexColours.empty())
    arrays.push_back({"colour", "Float32", 4, soup.vertexColours.size() * sizeof(Vec4f),
                      [&soup](VtkValueSink& sink) { sink.put(numbersOf<float>(soup.vertexColours)); }});
  return arrays;
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
  groupNames();
  text_ << "<Piece NumberOfPoints=\"" << points_.size() << "\" ";
  if (grid_)
    text_ << "NumberOfCells=\"" << tets_ + faces_ << "\">\n";
  else
    text_ << "NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"" << faces_
          << "\">\n";

  std::vector<VtkOutputArray> points;
  points.push_back({"Points", "Float64", 3, points_.size() * sizeof(Vec3), [this](VtkValueSink& sink) {
                      sink.put(numbersOf<double>(points_.first));
                      sink.put(numbersOf<double>(points_.second));
                    }});
  xml_.element("PointData", pointData());
  xml_.element("CellData", cellData());
  xml_.element("Points", std::move(points));
  xml_.element(grid_ ? "Cells" : "Polys", cellArrays());
  text_ << "</Piece>\n";
  xml_.finish();
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

}  // namespace sunder::meshio
