// Pictures of a recorded run: what stands where in a frame, with the looks of the scene's materials, and a
// camera that frames the action by itself.
//
//   record::RunReader run("out/pile/run.sunder");
//   RunPictures pictures(run);
//   Image image = pictures.render(pictures.shot(120, aspect), settings);
//
// A flat horizontal square of two triangles, as half-spaces are recorded, becomes the ground without end.
// Where there is none, the ground lies below the lowest thing that does not move; a run without such things
// has sky all around.
#pragma once

#include "sunder/record/run_reader.h"
#include "sunder/show/path_tracer.h"

#include <string>
#include <vector>

namespace sunder::show {

enum class ColourBy {
  Material,
  Body,   // each body its own colour
  Speed,  // of the centre of mass; the fastest of the frame is red
  Field,  // a recorded number per body
};

struct RunShotSettings {
  double aspect = 16.0 / 9;
  ColourBy colourBy = ColourBy::Material;
  std::string field;                // for ColourBy::Field
  std::optional<double> colourTop;  // the value that is red; else the largest of the frame
};

class RunPictures {
 public:
  // Throws what the reader throws; Error (Format) for a scene whose materials cannot be read.
  explicit RunPictures(const record::RunReader& run);

  // Where things that move are over the whole run, but for the few that flew off: the middle 96 % along each
  // axis.
  const Box3& action() const { return action_; }

  // `frame` counts from 0 to frameCount() - 1. Throws Error (Usage) for one that is not there.
  Shot shot(size_t frame, const RunShotSettings& settings = {});
  Image render(const Shot& shot, const PictureSettings& settings) { return tracer_.render(shot, settings); }

 private:
  struct MeshUse {
    uint32_t handle = kNoIndex;  // in the tracer
    Vec3f centre = Vec3f::Zero();
    float radius = 0;
    bool square = false;  // two triangles in a plane
    Vec3f normal = Vec3f::UnitY();
  };
  const MeshUse& mesh(uint32_t index);
  void readLooks();
  void findAction();

  const record::RunReader& run_;
  PathTracer tracer_;
  std::vector<MeshUse> meshes_;
  std::vector<std::pair<std::string, Look>> looks_;  // by material's name
  Box3 action_ = {};
  record::Frame frame_;
};

}  // namespace sunder::show
