// A part: one kind of matter of a world, stepped together. Rigid bodies with their breaking are a part, the
// liquids are one. A part owns its bodies; the world owns the clock, the table of bodies (bodies.h) and what
// parts exchange (exchange.h). docs/writing-a-part.md builds one.
//
// A step of the world, in this order:
//   apply()     inputs of this step, to the part that each names
//   begin()     every part: forces, the impulses that others left; solids are published as they are before
//   touch()     every part: contacts of its points with bodies of other parts
//   then for each stage, Deforming before Solids, for its parts: step(), then change(); after each change()
//   follow() of every part for every body that appeared or went and at the end of a frame endFrame() of every
//   part, with follow() as above.
// Parts are called in the order of their stage, then of their registration (part_kind.h).
//
// A part must give the same state for any number of threads, and go on bit for bit from what save() wrote.
#pragma once

#include "sunder/geometry/topology_change.h"
#include "sunder/record/mesh_change.h"
#include "sunder/record/recording.h"
#include "sunder/world/part/bodies.h"
#include "sunder/world/part/exchange.h"
#include "sunder/world/part/ledger.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
class Hasher;
}  // namespace sunder

namespace sunder::world {

enum class Stage : uint8_t {
  Solids,     // moves, and solves the contacts with sites
  Deforming,  // steps before the solids, with them as they are; leaves them impulses that act in this very
              // step
  Touching,   // then: takes what its sites got from these contacts
  Flowing     // last: moves between the poses of the solids before and after the step
};

// What somebody does to a running world: a hand that pulls, a parameter that changes.
struct Input {
  uint64_t step = 0;         // acts at the beginning of this step, counted from 0
  std::string part;          // name of the part it is for
  std::string what;          // "impulse"; the part says what it knows
  uint32_t body = kNoIndex;  // of the table, where it is for one
  std::vector<double> values;
  uint64_t sequence = 0;  // the world gives it: inputs are numbered as they act
  bool operator==(const Input&) const = default;
};

// Bodies that appeared and went, in numbers of the table.
struct BodyChange {
  geometry::TopologyChange topology;            // kind, and the maps of vertices, faces and tetrahedra
  std::vector<uint32_t> disappeared, appeared;  // as topology.disappeared and topology.appeared
};

// What a part is given in a step. `bodies` is the table as the part sees it.
struct StepContext {
  uint64_t step = 0;   // that is made, counted from 0
  uint64_t frame = 0;  // that is made; the first is 1
  double dt = 0;       // s
  OwnBodies bodies;
  Exchange& exchange;
  Ledger& ledger;
  std::vector<record::Event>& events;            // of the frame
  std::vector<record::MeshChange>& meshChanges;  // of the frame: of meshes that bodies go on to show
  std::vector<BodyChange>& changes;              // of the table: parts append, the world tells everyone
  double endTime() const { return static_cast<double>(step + 1) * dt; }
};

// Of all parts together.
struct Totals {
  rigid::Energy energy;
  uint64_t awake = 0, contacts = 0;
  uint64_t mostContacts = 0;  // in a step, so far
};

class Part {
 public:
  virtual ~Part() = default;

  virtual const char* name() const = 0;
  virtual Stage stage() const = 0;
  // Whether it reads the solids of other parts.
  virtual bool meetsSolids() const { return false; }

  // Adds the bodies and meshes of the scene to the table, and publishes solids where they are wanted.
  virtual void start(StepContext& context) = 0;
  // Looks, before the first step, for what a user would want to know of the scene.
  virtual void inspect(Ledger&, uint64_t /*frame*/) const {}

  // Throws Error (Usage) for an input that it does not know, or cannot take. Asked when the input is given,
  // so that no run ends in the middle: what passes is applied.
  virtual void accept(const Input& input, const StepContext& context) const;
  virtual void apply(const Input&, StepContext&) {}
  virtual void begin(StepContext&) {}
  virtual void touch(StepContext&) {}
  virtual void step(StepContext& context) = 0;
  virtual void change(StepContext&) {}
  virtual void endFrame(StepContext&) {}
  virtual void follow(const BodyChange&, StepContext&) {}

  // For recordings, by local number. Name, material, kind and mass of a body; the rest is in the table.
  virtual record::BodyEntry body(uint32_t local) const = 0;
  // What is seen of a body; made when it is asked for. `ledger` is for what could not be made as asked.
  virtual record::MeshEntry mesh(uint32_t local, Ledger& ledger);
  // Where a mesh is a surface that a cage carries: how. Numbers of meshes are those of the table.
  virtual std::optional<record::Embedding> embedding(uint32_t /*local*/) const { return {}; }
  // States of its bodies, by number of the table; those of other parts are not touched.
  virtual void states(const PartBodies& bodies, std::span<record::BodyState> out) const = 0;
  virtual void fields(const PartBodies&, std::vector<record::BodyField>&) const {}
  virtual void points(const PartBodies&, std::vector<record::BodyPoints>&) const {}
  virtual void statistics(std::vector<record::Statistic>&) const {}
  virtual void addTotals(Totals&) const {}
  // Who may be to blame where a step failed: ends a sentence ("; the farthest is body..."). Empty: nobody.
  virtual std::string suspect() const { return {}; }

  // load() is called for a part that was started, in the order of the parts; the table and the exchange are
  // those of the state. It publishes the solids again. Throws Error (Format) where the data do not fit.
  virtual void save(ByteWriter& out) const = 0;
  virtual void load(ByteReader& in, StepContext& context) = 0;
  // All that later steps depend on; by default what save() writes.
  virtual void hash(Hasher& hasher) const;
};

// For parts that take the input "impulse": 3 numbers, N s, or 6 with the place in the world. Throws Error
// (Usage) for a body that is not the part's, which has `matter` ("rigid"), and for other values.
void requireImpulse(const Input& input, const StepContext& context, const char* matter);

}  // namespace sunder::world
