// Pictures of a recorded run: what stands where in a frame, with the looks of the scene's materials, and a
// camera that frames the action by itself.
//
//   record::RunReader run("out/pile/run.sunder");
//   RunPictures pictures(run);
//   Image image = pictures.render(pictures.shot(120), settings);
#pragma once

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
  Field,  // a recorded number per body, or per particle
};

struct RunShotSettings {
  double aspect = 16.0 / 9;
  ColourBy colourBy = ColourBy::Material;
  std::string field = {};                // for ColourBy::Field
  std::optional<double> colourTop = {};  // the value that is red; else the largest of the frame
  bool particles = false;                // liquids as spheres too
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
  uint32_t handle(uint32_t mesh);  // kNoIndex: it is lost, or empty
  uint32_t liquid(const record::BodyPoints& points);
  uint32_t deformed(uint32_t mesh, const record::BodyPoints& points);
  std::vector<float> colourValues(const RunShotSettings& settings) const;
  const std::vector<float>* pointValues(const record::BodyPoints& points, const RunShotSettings& settings);
  void placeParticles(const record::BodyPoints& points, const Look& look, const RunShotSettings& settings,
                      double top, Shot& shot);

  const record::RunReader& run_;
  RunSummary summary_;
  PathTracer tracer_;
  std::vector<uint32_t> handles_;  // in the tracer, by mesh
  std::vector<uint32_t> ofShot_;   // meshes of bodies that deform, in the tracer
  record::Frame frame_;
  std::vector<float> speeds_;
};

}  // namespace sunder::show
