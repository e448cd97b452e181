// What can be shown of the frames somebody asks for, where a recording is damaged.
#pragma once

#include "sunder/record/body_meshes.h"
#include "sunder/record/run_reader.h"

#include <span>
#include <string>
#include <vector>

namespace sunder::show {

struct Readable {
  std::vector<size_t> frames;     // those that can be read
  std::vector<std::string> lost;  // what cannot, one sentence a kind; empty: all that was asked for is there
};

// Cost: reads the frames once, with their events and statistics.
Readable readableOf(const record::RunReader& run, std::span<const size_t> frames);

// A sentence on damage anywhere in the recording, for those who look at part of it; empty: none is known.
std::string damageNote(const record::RunReader& run);

// An empty mesh where it is lost, or has a vertex that is not finite.
record::MeshEntry meshOrNone(const record::RunReader& run, size_t index);

// The shape of a body in a frame that was read; without triangles where something of it is lost, or a vertex
// at rest is not finite. Positions that are not finite are left to the caller.
record::BodyShape shapeOrNone(record::BodyMeshes& meshes, const record::Frame& state, size_t frame,
                              uint32_t body);

// Whether a body has a shape of its own in a frame that was read: its mesh changed, or is embedded, or the
// frame brings vertices or values for it. Else it is the mesh of run.meshOf(), at rest.
bool hasOwnShape(const record::RunReader& run, const record::Frame& state, size_t frame, uint32_t body);

// Whether a body in this state can be shown: a run that diverged may end with numbers that are none.
bool showable(const record::BodyState& state);
// Whether a place can be part of a picture: ray tracers work with floats, whose squares must be finite.
bool drawable(const Vec3f& place);

}  // namespace sunder::show
