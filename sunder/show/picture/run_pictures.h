// Pictures of a recorded run: what stands where in a frame, with the looks of the scene's materials, and a
// camera that frames the action by itself.
//
//   record::RunReader run("out/pile/run.sunder");
//   RunPictures pictures(run);
//   Image image = pictures.render(pictures.shot(120), settings);
#pragma once

#include "sunder/record/body_meshes.h"
#include "sunder/show/caged_normals.h"
#include "sunder/show/picture/path_tracer.h"
#include "sunder/show/run_summary.h"

#include <optional>
#include <string>
#include <vector>

namespace sunder::show {

enum class ColourBy {
  Material,
  Body,   // each body its own colour
  Speed,  // of the centre of mass
  Field,  // a recorded number per body, or per particle or vertex
};

struct RunShotSettings {
  double aspect = 16.0 / 9;
  ColourBy colourBy = ColourBy::Material;
  std::string field = {};                // for ColourBy::Field
  std::optional<double> colourTop = {};  // the value that is red; else the largest of the frame
  bool particles = false;                // liquids as spheres too
  bool fronts = false;                   // crack fronts: those that grow red, those that are arrested dark
};

class RunPictures {
 public:
  // The reader must outlive it. Throws as summarise() does.
  explicit RunPictures(const record::RunReader& run);

  const RunSummary& summary() const { return summary_; }

  // `frame` counts from 0 to frameCount() - 1. Throws Error (Usage) for one that is not there, or a field
  // that was not recorded. Liquids are smooth surfaces where colours go by material or body; other particles
  // are spheres. Ends the life of the shot before.
  Shot shot(size_t frame, const RunShotSettings& settings = {});
  Image render(const Shot& shot, const PictureSettings& settings) { return tracer_.render(shot, settings); }

 private:
  void placeMesh(uint32_t mesh, bool byMaterial, PlacedMesh& placed);  // kNoIndex: it is lost, or empty
  void placeShape(const record::BodyShape& shape, const std::string& material,
                  const RunShotSettings& settings, double top, PlacedMesh& placed);
  std::shared_ptr<const SolidTexture> solidOfBody(const record::BodyShape& shape,
                                                  const std::string& material);
  void paintSlots(const std::vector<std::string>& materials, PlacedMesh& placed) const;
  uint32_t liquid(const record::BodyPoints& points);
  std::vector<float> colourValues(const RunShotSettings& settings) const;
  const std::vector<float>* pointValues(const std::vector<record::PointField>& fields,
                                        const RunShotSettings& settings);
  void placeFronts(size_t frame, Shot& shot) const;
  void placeParticles(const record::BodyPoints& points, const Look& look, const RunShotSettings& settings,
                      double top, Shot& shot);

  const record::RunReader& run_;
  RunSummary summary_;
  PathTracer tracer_;
  record::BodyMeshes meshes_;
  CagedNormals normals_;
  std::vector<uint32_t> handles_;                        // in the tracer, by mesh
  std::vector<std::vector<std::string>> slotMaterials_;  // of the same meshes
  std::vector<uint32_t> ofShot_;                         // meshes of bodies that deform, in the tracer
  // Of surfaces in cages, by what they were before any tear.
  struct Depths {
    std::shared_ptr<const record::MeshEntry> surface;
    std::shared_ptr<const SoftDepths> depths;
  };
  std::vector<Depths> depths_;
  record::Frame frame_;
  std::vector<float> speeds_;
};

}  // namespace sunder::show
