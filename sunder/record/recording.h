// What a run file holds, as plain values: the resolved scene, materials, meshes, bodies, frames, events,
// statistics, checkpoints and how the run ended. Written by RunWriter, read by RunReader;
// docs/file-formats.md has the bytes. How meshes change with time is in mesh_change.h, what users and cracks
// do in frames in frame_lists.h.
//
// Frames are for looking at: positions and velocities are floats (velocities of 16 bits), rotations are
// within 2e-6 rad. The exact state is in the checkpoints, whose content only the world understands.
#pragma once

#include "sunder/base/index.h"
#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sunder::record {

using Quatf = Eigen::Quaternionf;

// Something a user did: a grip, a cut, a parameter. It acts before the step with its number. Together with
// the scene all inputs give the same run again, so they are complete and in order.
struct Input {
  uint64_t step = 0;      // of the simulation, from 0
  uint64_t sequence = 0;  // increases over the whole recording
  std::string kind;       // "grip", "parameter"
  std::string data;       // its values, as the part of the world that takes it writes them
  bool operator==(const Input&) const = default;
};

struct RunInfo {
  std::string program;    // "sunder 0.1.0"
  std::string sceneName;  // of the scene's file, without folder and ending
  std::string scene;      // the resolved scene, JSON
  double frameRate = 60;  // frames a second
  // What the run was given before it began, by ascending step. Frames have what acted; this is for a run that
  // begins again because it was ended before its first checkpoint.
  std::vector<Input> inputs = {};
};

// A surface, and for deformable bodies the tetrahedra inside. Stored once, in the frame of the bodies that
// use it.
struct MeshEntry {
  std::string name;
  std::vector<Vec3f> positions;
  std::vector<geometry::Triangle> triangles;
  std::vector<geometry::Tetrahedron> tets;
  std::vector<uint8_t> interior;  // by triangle: 1 where a crack or a cut made it; empty: nowhere
  std::vector<Vec2f> uvs = {};    // texture coordinates by corner, three a triangle; empty: none
  // Material slot by triangle: 0 is the material of the body, k the row of the table of materials with the
  // name slotMaterials[k - 1]. Empty: 0 everywhere.
  std::vector<uint16_t> slots = {};
  std::vector<std::string> slotMaterials = {};
};

enum class BodyKind : uint8_t { Static, Kinematic, Dynamic, Deformable, Particles, Fluid };
const char* name(BodyKind kind);
// Whether frames bring positions of such a body's points.
inline bool hasPoints(BodyKind kind) { return kind >= BodyKind::Deformable; }

struct BodyEntry {
  std::string name;            // unique: "pile[12]"
  uint32_t parent = kNoIndex;  // the body it is a fragment of
  std::string material;        // name of a row of the table of materials
  uint32_t mesh = kNoIndex;    // its index; none for particles
  double mass = 0;             // kg; 0 where it does not move freely
  BodyKind kind = BodyKind::Dynamic;
  uint64_t born = 0;  // the first frame it is part of
  // Whether it is the ground without end: a half-space below its own y = 0 that does not move. None: programs
  // before this one did not say.
  std::optional<bool> ground = {};
};

struct BodyState {
  Vec3f position = Vec3f::Zero();  // of the mesh's frame
  Quatf rotation = Quatf::Identity();
  Vec3f velocity = Vec3f::Zero();         // of the centre of mass, m/s
  Vec3f angularVelocity = Vec3f::Zero();  // rad/s
  bool present = false;                   // born and not yet gone
};

// A number for every body: impulse, temperature, damage.
struct BodyField {
  std::string name;
  std::vector<float> values;  // by body index; bodies beyond the end have 0
};

// Numbers for every point of a body: "velocity" (three components), "radius", "density". 16 bits each in the
// file.
struct PointField {
  std::string name;
  uint8_t components = 1;     // 1 to 4
  std::vector<float> values;  // those of one point together
  bool operator==(const PointField&) const = default;
};

// Points that a body has of its own: particles, or the vertices of its mesh where it deforms; in the frame of
// the body. Point i is the same one in all frames, as far as there are so many. Of a body whose mesh changes
// (mesh_change.h) there are as many as the mesh has vertices in that frame, of one whose mesh is embedded in
// a cage (Embedding) as many as the cage has.
//
// Without positions the vertices rest in the frame of the body, and the fields alone are recorded: so rigid
// bodies have values at their vertices.
struct BodyPoints {
  uint32_t body = 0;
  float resolution = 1e-4f;  // m: positions are rounded to multiples of it
  float radius = 0;  // m, of particles; those with a field "radius" have their own. 0: these are vertices
  std::vector<Vec3f> positions;
  std::vector<PointField> fields;
};
// How many points the entry is about: its positions, or else the values of its first field.
size_t pointCount(const BodyPoints& points);

struct Frame {
  uint64_t number = 0;
  double time = 0;                // s
  std::vector<BodyState> bodies;  // by body index
  std::vector<BodyField> fields;
  std::vector<BodyPoints>
      points;  // by ascending body; of those bodies that have points or fields of vertices
};

enum class EventKind : uint8_t { Contact, Birth, Death, JointBreak, Fracture, Cut };
const char* name(EventKind kind);

// Of a fracture or a cut: `a` is the body that comes apart and `b` what struck or cut it; the point is where
// the load acted or the cut began, the normal is that of the load or of the cut's surface, the impulse is
// that of the load, and the energy what the new surfaces took.
struct Event {
  EventKind kind = EventKind::Contact;
  uint32_t a = kNoIndex, b = kNoIndex;  // bodies; of a joint: its bodies; kNoIndex is the world
  Vec3f point = Vec3f::Zero(), normal = Vec3f::Zero();
  float impulse = 0;      // N s
  float approach = 0;     // m/s
  std::string text = {};  // name of the joint, reason of the death
  float energy = 0;       // J
  bool operator==(const Event&) const = default;
};

struct Statistic {
  std::string name;  // "energy", "contacts", "seconds.solve"
  double value = 0;
  bool operator==(const Statistic&) const = default;
};

struct Checkpoint {
  uint64_t frame = 0;
  uint64_t hash = 0;  // of the world's state
  std::string state;
};

enum class EndKind : uint8_t { Finished, Stopped, Diverged };
const char* name(EndKind kind);

struct RunEnd {
  EndKind kind = EndKind::Finished;
  std::string message;  // why it stopped
  uint64_t hash = 0;    // of the final state
  std::string report;   // JSON: what degraded, times of the stages
};

}  // namespace sunder::record
