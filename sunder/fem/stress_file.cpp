#include "sunder/fem/stress_file.h"

#include "sunder/base/file.h"
#include "sunder/meshio/vtk_xml_output.h"

namespace sunder::fem {

void writeStressFile(const std::filesystem::path& path, const ElasticBody& body,
                     std::span<const Vec3> displacements, const StressRecovery& recovery,
                     std::span<const double> fractions) {
  using namespace geometry;
  using namespace meshio;
  const auto vectors = [](const char* name, std::span<const Vec3> v) {
    return vtkArray<double>(name, 3, std::span(v.data()->data(), 3 * v.size()));
  };
  const auto stresses = [](const char* name, std::span<const Stress> s) {
    return vtkArray<double>(name, 6, std::span(s.data()->data(), 6 * s.size()));
  };
  const std::span<const Principal> principals = recovery.principals();
  const std::vector<Tetrahedron>& tets = body.mesh().tets;
  OutputFile file(path);
  VtkXmlOutput xml(file, "UnstructuredGrid", VtkEncoding::Compressed);
  xml.text() << "<Piece NumberOfPoints=\"" << uint64_t(body.vertices()) << "\" NumberOfCells=\""
             << uint64_t(body.tets()) << "\">\n";
  xml.element("Points", {vectors("Points", body.mesh().positions)});
  xml.element("Cells",
              {vtkGenerated<int64_t>("connectivity", 1, 4 * tets.size(),
                                     [&tets](size_t i) { return int64_t(tets[i / 4][i % 4]); }),
               vtkGenerated<int64_t>("offsets", 1, tets.size(), [](size_t i) { return int64_t(4 * i + 4); }),
               vtkGenerated<uint8_t>("types", 1, tets.size(), [](size_t) { return uint8_t(10); })});
  xml.element("PointData",
              {vectors("displacement", displacements), stresses("stress", recovery.vertices()),
               vtkGenerated<double>("principal_stress", 1, principals.size(),
                                    [principals](size_t i) { return principals[i].value; }),
               vtkGenerated<double>("principal_direction", 3, 3 * principals.size(), [principals](size_t i) {
                 return principals[i / 3].direction[Eigen::Index(i % 3)];
               })});
  if (fractions.empty())
    xml.element("CellData", {stresses("element_stress", recovery.elements())});
  else
    xml.element("CellData", {stresses("element_stress", recovery.elements()),
                             vtkArray<double>("volume_fraction", 1, fractions)});
  xml.text() << "</Piece>\n";
  xml.finish();
  file.commit();
}

}  // namespace sunder::fem
