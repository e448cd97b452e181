// The soft bodies of a scene as a part of the world: cages of tetrahedra in one fem::Motion, with contacts,
// attachments and tears. They move first in a step; rigid bodies that they touch take part in it with what
// they would do by themselves, and get what was done to them before they move.
//
// A tear gives corners of tetrahedra to new vertices. The body stays one body, whatever pieces it has.
//
// Local numbers are those of the scene's soft bodies. Meshes: of each kind of body its cage, then its
// surface.
#pragma once

#include "sunder/fem/motion/motion.h"
#include "sunder/fem/solid/solid.h"
#include "sunder/soft/contact/attachment.h"
#include "sunder/soft/contact/obstacle_bodies.h"
#include "sunder/soft/contact/sphere_contacts.h"
#include "sunder/soft/tear/bonds.h"
#include "sunder/soft/tear/tear.h"
#include "sunder/world/build/soft_library.h"
#include "sunder/world/part/part.h"
#include "sunder/world/parts/soft_boundary.h"
#include "sunder/world/parts/soft_obstacles.h"
#include "sunder/world/scene/scene.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sunder::world {

struct SoftReport {
  fem::StepReport last;
  uint64_t steps = 0, splits = 0;
  uint64_t mostContacts = 0;    // in a step
  uint64_t missed = 0;          // steps that ended above their tolerance
  uint64_t missedContacts = 0;  // contacts deeper than theirs, by step
};

class SoftPart : public Part {
 public:
  // For a scene with soft bodies. Throws Error with the place in the scene.
  SoftPart(const Scene& scene, const std::vector<BuiltShape>& shapes, Ledger& ledger);

  const char* name() const override { return "soft"; }
  Stage stage() const override { return Stage::Deforming; }
  bool meetsSolids() const override { return true; }
  void start(StepContext& context) override;
  // "impulse": 3 numbers, N s, spread over the body by mass, or 6, with the place in the world: on what is
  // nearest.
  void accept(const Input& input, const StepContext& context) const override;
  void apply(const Input& input, StepContext& context) override;
  void step(StepContext& context) override;
  void change(StepContext& context) override;
  void endFrame(StepContext& context) override;

  record::BodyEntry body(uint32_t local) const override;
  record::MeshEntry mesh(uint32_t local, Ledger& ledger) override;
  std::optional<record::Embedding> embedding(uint32_t local) const override;
  void states(const PartBodies& bodies, std::span<record::BodyState> out) const override;
  void points(const PartBodies& bodies, std::vector<record::BodyPoints>& out) const override;
  void statistics(std::vector<record::Statistic>& out) const override;
  void addTotals(Totals& totals) const override;
  std::string suspect() const override;
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, StepContext& context) override;

  const fem::Motion& motion() const { return motion_; }
  const soft::SphereContacts& contacts() const { return contacts_; }
  const soft::Bonds& bonds() const { return bonds_; }
  const geometry::TetMesh& cageAtRest(uint32_t local) const { return bodies_[local].built->cage.rest; }
  const soft::Torn& torn(uint32_t local) const { return bodies_[local].torn; }
  // Of a body's vertices, in the order in which recordings have them: numbers in motion().
  std::span<const uint32_t> verticesOf(uint32_t local) const { return bodies_[local].vertices; }
  const SoftReport& report() const { return report_; }
  // As liquids meet them; null where the scene has none.
  const SoftBoundary* boundary() const { return boundary_.get(); }

 private:
  struct Body {
    BuiltSoftPtr built;
    uint32_t firstTet = 0;
    std::vector<uint32_t> vertices;  // of the motion, by vertex of the cage, then new ones
    soft::Torn torn;
    std::optional<soft::TearSettings> tear;
    soft::BondLaw law;
    bool present = true;          // has not left the bounds of the world
    std::vector<uint32_t> pinOf;  // by vertex of the cage at rest: a pin that moves it; kNoIndex: none
  };
  // Ties that let go together.
  struct Tie {
    uint32_t first = 0, last = 0;  // of the attachments
    double strength = 0;           // N; infinite: never
    double until = 0;              // s
    uint32_t obstacle = kNoIndex;  // number of the table
    uint32_t body = 0;             // that it is of
    uint32_t other = kNoIndex;     // the soft body that it holds to
  };

  void populate();
  std::vector<float> vertexStresses() const;  // Pa
  void addTies();
  void addTie(const Body& body, const SoftBodySpec& spec, const Box3& box, std::optional<uint32_t> rigid,
              std::optional<uint32_t> soft, const std::string& pointer, Tie tie);
  soft::TetPoint nearestPoint(const Body& body, const Vec3& place) const;
  void findPins(double time);
  void giveCorners();
  std::vector<Box3> boxes(double h) const;
  std::vector<uint32_t> tied() const;
  void letGo(StepContext& context);
  void count(StepContext& context);
  void findAccelerations(const StepContext& context);
  void leave(uint32_t local);
  void tearBodies(StepContext& context);
  void tellTear(uint32_t local, const soft::TearOutcome& outcome, StepContext& context);

  const Scene& scene_;
  std::vector<BuiltSoftPtr> built_;  // each kind once
  std::vector<uint32_t> kindOf_;     // of each body, of built_
  std::vector<uint32_t> shapeOf_;    // of each kind: the scene's shape
  std::vector<uint32_t> meshOf_;     // of each kind: number of its cage; its surface follows
  fem::Solid solid_;
  fem::Motion motion_;
  soft::ObstacleBodies obstacles_;
  soft::SphereContacts contacts_{obstacles_};
  soft::Attachments attachments_{obstacles_};
  soft::Bonds bonds_;
  SoftObstacles around_;
  std::unique_ptr<SoftBoundary> boundary_;  // of a scene with liquids
  std::vector<Body> bodies_;
  std::vector<uint32_t> bodyOf_;  // by vertex of the motion
  std::vector<soft::Attachment> allTies_;
  std::vector<Tie> ties_;
  std::vector<fem::Pin> pins_;
  std::vector<double> masses_;                            // by vertex; infinite where a pin holds it
  std::vector<Vec3> accelerations_;                       // by vertex
  std::vector<double> massDampings_, stiffnessDampings_;  // by vertex; empty where there are none
  std::vector<fem::NodalForce> pressed_;                  // by liquids
  SoftReport report_;
};

}  // namespace sunder::world
