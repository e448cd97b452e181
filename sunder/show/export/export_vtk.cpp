// A VTP a frame with the surfaces of all bodies, packed with zlib, a VTU a frame where bodies have
// tetrahedra, and PVD files that give the times. What is known of a body is data of its cells; names are in
// bodies.csv beside them.
#include "sunder/base/error.h"
#include "sunder/meshio/vtk_xml_output.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/export/export_tables.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sunder::show {

namespace {

using meshio::VtkOutputArray;

constexpr uint8_t kTetra = 10;  // VTK's number of the cell type

// One frame's cells of one kind, Corners to a cell, of all bodies one after the other.
template <size_t Corners>
struct Cells {
  std::vector<Vec3f> points;
  std::vector<int32_t> corners;
  std::vector<uint32_t> bodies;  // by cell
  std::vector<uint8_t> interior;
  std::vector<int32_t> materials;          // by cell
  std::vector<float> velocities;           // by point, of particles
  std::vector<float> uvs;                  // by point, two each; empty: no body has any
  std::vector<record::PointField> fields;  // by point; 0 where a body does not have them

  size_t count() const { return bodies.size(); }

  void add(const BodySurface& surface, std::span<const std::array<uint32_t, Corners>> cells,
           std::span<const uint32_t> vertices) {
    const size_t base = points.size();
    if (base + vertices.size() > size_t(INT32_MAX) ||
        corners.size() + Corners * cells.size() > size_t(INT32_MAX))
      throw Error(ErrorKind::Limit, "a frame has more points or corners than 31-bit indices allow");
    for (const uint32_t v : vertices) points.push_back(surface.place(surface.positions[v]));
    for (const auto& cell : cells)
      for (const uint32_t v : cell) corners.push_back(static_cast<int32_t>(base + v));
    bodies.insert(bodies.end(), cells.size(), surface.body);
    addFields(surface, vertices, base);
  }
  void addTriangles(const ExportScene& scene, const MaterialNumbers& numbers, const BodySurface& surface) {
    const SplitSurface split = splitByUvs(surface);
    add(surface, split.triangles, split.vertices);
    interior.insert(interior.end(), surface.interior.begin(), surface.interior.end());
    interior.resize(bodies.size(), 0);
    for (size_t t = 0; t < surface.triangles.size(); ++t)
      materials.push_back(numbers.of(surface.material(scene.bodies[surface.body], t)));
    if (!split.uvs.empty()) uvs.resize(2 * (points.size() - split.vertices.size()), 0);
    for (const Vec2f& uv : split.uvs) uvs.insert(uvs.end(), {uv.x(), uv.y()});
    if (!uvs.empty()) uvs.resize(2 * points.size(), 0);
  }
  void addParticles(const BodySurface& surface) {
    std::vector<std::array<uint32_t, Corners>> each(surface.positions.size());
    std::vector<uint32_t> all(each.size());
    for (uint32_t i = 0; i < each.size(); ++i) {
      each[i].fill(i);
      all[i] = i;
    }
    add(surface, each, all);
    for (size_t i = 0; i < each.size(); ++i) {
      const auto& own = surface.own->velocities;
      const Vec3f v = i < own.size() ? own[i] : surface.state->velocity;
      velocities.insert(velocities.end(), v.data(), v.data() + 3);
    }
  }

 private:
  // Fields of one name have as many components in all bodies; others are left out.
  void addFields(const BodySurface& surface, std::span<const uint32_t> vertices, size_t base) {
    for (const record::PointField& field : surface.fields) {
      if (field.values.size() != field.components * surface.positions.size()) continue;
      auto known = std::find_if(fields.begin(), fields.end(),
                                [&](const record::PointField& f) { return f.name == field.name; });
      if (known == fields.end())
        known = fields.insert(known, record::PointField{field.name, field.components, {}});
      if (known->components != field.components || known->values.size() > base * field.components) continue;
      known->values.resize(base * field.components, 0);
      for (const uint32_t v : vertices)
        for (size_t k = 0; k < field.components; ++k)
          known->values.push_back(field.values[v * field.components + k]);
    }
    for (record::PointField& field : fields) field.values.resize(points.size() * field.components, 0);
  }
};

// Data of cells from data of their bodies.
std::vector<VtkOutputArray> cellData(const ExportScene& scene, const MaterialNumbers& materials,
                                     const record::Frame& frame, const std::vector<uint32_t>& bodies,
                                     const std::vector<int32_t>& own) {
  const size_t count = bodies.size();
  const auto* const states = &frame.bodies;
  const auto* const cells = &bodies;
  const auto number = [&](const char* name, auto value) {
    return meshio::vtkGenerated<int32_t>(name, 1, count, [=](size_t c) { return value((*cells)[c]); });
  };
  const auto vector = [&](const char* name, Vec3f record::BodyState::*member) {
    return meshio::vtkGenerated<float>(name, 3, 3 * count, [=](size_t i) {
      return ((*states)[(*cells)[i / 3]].*member)[static_cast<Eigen::Index>(i % 3)];
    });
  };
  std::vector<VtkOutputArray> arrays;
  arrays.push_back(number("body", [](uint32_t b) { return static_cast<int32_t>(b); }));
  arrays.push_back(number("parent", [&scene](uint32_t b) { return parentNumber(scene.bodies[b]); }));
  if (own.size() == count)
    arrays.push_back(meshio::vtkArray<int32_t>("material", 1, own));
  else
    arrays.push_back(number("material", [&materials](uint32_t b) { return materials.ofBody[b]; }));
  arrays.push_back(meshio::vtkGenerated<float>(
      "speed", 1, count, [=](size_t c) { return (*states)[(*cells)[c]].velocity.norm(); }));
  arrays.push_back(vector("velocity", &record::BodyState::velocity));
  arrays.push_back(vector("angularVelocity", &record::BodyState::angularVelocity));
  for (const record::BodyField& field : frame.fields) {
    const auto* const values = &field.values;
    arrays.push_back(meshio::vtkGenerated<float>(field.name, 1, count, [=](size_t c) {
      const uint32_t b = (*cells)[c];
      return b < values->size() ? (*values)[b] : 0.0f;
    }));
  }
  return arrays;
}

template <size_t Corners>
void writeCells(OutputFile& file, const ExportScene& scene, const MaterialNumbers& materials,
                const record::Frame& frame, const Cells<Corners>& cells) {
  constexpr bool kGrid = Corners == 4, kPoints = Corners == 1;
  meshio::VtkXmlOutput xml(file, kGrid ? "UnstructuredGrid" : "PolyData", meshio::VtkEncoding::Compressed);
  xml.text() << "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                "format=\"ascii\">"
             << frame.time << "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"" << cells.points.size();
  if (kGrid)
    xml.text() << "\" NumberOfCells=\"" << cells.count() << "\">\n";
  else
    xml.text() << "\" NumberOfVerts=\"" << (kPoints ? cells.count() : 0)
               << "\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\""
               << (kPoints ? 0 : cells.count()) << "\">\n";
  std::vector<VtkOutputArray> ofPoints;
  if (kPoints) ofPoints.push_back(meshio::vtkArray<float>("velocity", 3, cells.velocities));
  if (!cells.uvs.empty()) ofPoints.push_back(meshio::vtkArray<float>("TCoords", 2, cells.uvs));
  for (const record::PointField& field : cells.fields)
    if (!kPoints || field.name != "velocity")
      ofPoints.push_back(meshio::vtkArray<float>(field.name, field.components, field.values));
  xml.element("PointData", std::move(ofPoints));
  std::vector<VtkOutputArray> ofCells = cellData(scene, materials, frame, cells.bodies, cells.materials);
  if (Corners == 3) ofCells.push_back(meshio::vtkArray<uint8_t>("interior", 1, cells.interior));
  xml.element("CellData", std::move(ofCells));
  const std::span<const float> numbers(cells.points.empty() ? nullptr : cells.points.front().data(),
                                       3 * cells.points.size());
  xml.element("Points", {meshio::vtkArray<float>("Points", 3, numbers)});
  std::vector<VtkOutputArray> topology;
  topology.push_back(meshio::vtkArray<int32_t>("connectivity", 1, cells.corners));
  topology.push_back(meshio::vtkGenerated<int32_t>(
      "offsets", 1, cells.count(), [](size_t c) { return static_cast<int32_t>(Corners * (c + 1)); }));
  if (kGrid)
    topology.push_back(
        meshio::vtkGenerated<uint8_t>("types", 1, cells.count(), [](size_t) { return kTetra; }));
  xml.element(kGrid ? "Cells" : kPoints ? "Verts" : "Polys", std::move(topology));
  xml.text() << "</Piece>\n";
  xml.finish();
}

// Crack fronts as lines in the world, with what is known of their points.
void writeFronts(OutputFile& file, const record::Frame& frame,
                 const std::vector<record::CrackFront>& fronts) {
  std::vector<Vec3f> points;
  std::vector<float> intensities, releases;
  std::vector<uint8_t> states;
  std::vector<int32_t> corners, offsets, bodies, cracks;
  for (const record::CrackFront& front : fronts) {
    if (front.points.empty() || front.body >= frame.bodies.size() || !frame.bodies[front.body].present)
      continue;
    const record::BodyState& state = frame.bodies[front.body];
    const auto first = static_cast<int32_t>(points.size());
    for (const record::FrontPoint& p : front.points) {
      corners.push_back(static_cast<int32_t>(points.size()));
      points.push_back(state.position + state.rotation * p.position);
      intensities.insert(intensities.end(), p.intensity.data(), p.intensity.data() + 3);
      releases.push_back(p.release);
      states.push_back(static_cast<uint8_t>(p.state));
    }
    if (front.closed) corners.push_back(first);
    offsets.push_back(static_cast<int32_t>(corners.size()));
    bodies.push_back(static_cast<int32_t>(front.body));
    cracks.push_back(static_cast<int32_t>(front.crack));
  }
  meshio::VtkXmlOutput xml(file, "PolyData", meshio::VtkEncoding::Compressed);
  xml.text() << "<Piece NumberOfPoints=\"" << points.size() << "\" NumberOfVerts=\"0\" NumberOfLines=\""
             << offsets.size() << "\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n";
  xml.element("PointData", {meshio::vtkArray<float>("stressIntensity", 3, intensities),
                            meshio::vtkArray<float>("energyRelease", 1, releases),
                            meshio::vtkArray<uint8_t>("state", 1, states)});
  xml.element("CellData",
              {meshio::vtkArray<int32_t>("body", 1, bodies), meshio::vtkArray<int32_t>("crack", 1, cracks)});
  const std::span<const float> numbers(points.empty() ? nullptr : points.front().data(), 3 * points.size());
  xml.element("Points", {meshio::vtkArray<float>("Points", 3, numbers)});
  xml.element("Lines", {meshio::vtkArray<int32_t>("connectivity", 1, corners),
                        meshio::vtkArray<int32_t>("offsets", 1, offsets)});
  xml.text() << "</Piece>\n";
  xml.finish();
}

void writePvd(OutputFile& file, const std::vector<double>& times, const std::vector<std::string>& names) {
  meshio::TextWriter out(file);
  out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n";
  for (size_t i = 0; i < times.size(); ++i)
    out << "<DataSet timestep=\"" << times[i] << "\" group=\"\" part=\"0\" file=\"" << names[i] << "\"/>\n";
  out << "</Collection>\n</VTKFile>\n";
  out.flush();
}

}  // namespace

std::string exportVtk(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  const MaterialNumbers materials = numberMaterials(scene);
  std::vector<double> times;
  std::vector<std::string> surfaceNames, volumeNames, particleNames, frontNames;
  bool volumes = std::any_of(scene.meshes.begin(), scene.meshes.end(),
                             [](const record::MeshEntry& mesh) { return !mesh.tets.empty(); });
  ExportFrame frame;
  for (size_t f = 0; f < scene.frames.size(); ++f) {
    scene.readFrame(scene.frames[f], frame);
    times.push_back(frame.state.time);
    for (const FrameMesh& mesh : frame.meshes) volumes = volumes || !mesh.tets.empty() || mesh.cage;
    Cells<3> triangles;
    Cells<4> tets;
    Cells<1> particles;
    for (const BodySurface& surface : surfacesOf(scene, frame)) {
      if (!surface.triangles.empty()) triangles.addTriangles(scene, materials, surface);
      if (!surface.tets.empty()) {
        std::vector<uint32_t> all(surface.positions.size());
        std::iota(all.begin(), all.end(), 0u);
        tets.add(surface, surface.tets, all);
      }
      if (const BodySurface cage = cageOf(surface); !cage.tets.empty()) {
        std::vector<uint32_t> all(cage.positions.size());
        std::iota(all.begin(), all.end(), 0u);
        tets.add(cage, cage.tets, all);
      }
      if (surface.own && surface.triangles.empty() && !surface.own->mesh) particles.addParticles(surface);
    }
    surfaceNames.push_back(frameFileName(scene.frames[f], ".vtp"));
    files.write(surfaceNames.back(),
                [&](OutputFile& out) { writeCells(out, scene, materials, frame.state, triangles); });
    if (scene.particles) {
      particleNames.push_back("particles-" + frameFileName(scene.frames[f], ".vtp"));
      files.write(particleNames.back(),
                  [&](OutputFile& out) { writeCells(out, scene, materials, frame.state, particles); });
    }
    if (scene.fronts) {
      frontNames.push_back("fronts-" + frameFileName(scene.frames[f], ".vtp"));
      const auto fronts = scene.fronts(scene.frames[f]);
      files.write(frontNames.back(), [&](OutputFile& out) { writeFronts(out, frame.state, fronts); });
    }
    if (volumes) {
      volumeNames.push_back(frameFileName(scene.frames[f], ".vtu"));
      files.write(volumeNames.back(),
                  [&](OutputFile& out) { writeCells(out, scene, materials, frame.state, tets); });
    }
    progress(f + 1, scene.frames.size());
  }
  files.write("bodies.csv", [&](OutputFile& out) { writeBodyNames(out, scene, materials); });
  const std::string name = plainName(scene.name);
  files.write(name + ".pvd", [&](OutputFile& out) { writePvd(out, times, surfaceNames); });
  if (scene.particles)
    files.write(name + "-particles.pvd", [&](OutputFile& out) { writePvd(out, times, particleNames); });
  if (scene.fronts)
    files.write(name + "-fronts.pvd", [&](OutputFile& out) { writePvd(out, times, frontNames); });
  if (volumes) {
    // Frames before the first tetrahedron have no file.
    times.erase(times.begin(), times.begin() + std::ptrdiff_t(times.size() - volumeNames.size()));
    files.write(name + "-volume.pvd", [&](OutputFile& out) { writePvd(out, times, volumeNames); });
  }
  return name + ".pvd";
}

}  // namespace sunder::show
