// Points of soft bodies tied to points of other soft bodies, of obstacles, or of the world, as a term of a
// step's potential: an augmented Lagrangian of the distance between both, so a tie holds to the tolerance
// whatever its force. A tie with a strength breaks once its force exceeds it.
//
// Rigid bodies that are movable feel the opposite force at the same place. State: forces and what is broken.
#pragma once

#include "sunder/fem/motion/step_term.h"
#include "sunder/geometry/mesh.h"
#include "sunder/soft/contact/linear_gap.h"
#include "sunder/soft/contact/obstacle_bodies.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
class Hasher;
}  // namespace sunder

namespace sunder::soft {

struct TetPoint {
  uint32_t tet = 0;
  std::array<double, 4> weights{0.25, 0.25, 0.25, 0.25};
};

struct Attachment {
  enum class To : uint8_t { World, Soft, Obstacle };
  TetPoint point;
  To to = To::World;
  Vec3 place = Vec3::Zero();  // in the world; in the frame of the obstacle's poses
  TetPoint other;             // of a soft body
  uint64_t key = 0;           // of the obstacle; a tie to one that is not there does nothing
  double strength = 0;        // N; 0: never breaks
  double stiffness = 0;       // N/m that it begins with; 0: from the masses and `young`
};

struct AttachmentSettings {
  double tolerance = 1e-6;  // m
  uint32_t mostRounds = 20;
  double young = 1e5;  // Pa
};

struct AttachmentReport {
  uint32_t rounds = 0, notMet = 0;
  double longest = 0;  // m between both points, of those that hold, when the step ended
};

class Attachments final : public fem::StepTerm {
 public:
  explicit Attachments(ObstacleBodies& obstacles, const AttachmentSettings& settings = {});

  // Forgets all. Throws Error (Usage) that names the first attachment with a tetrahedron that is not there,
  // weights that do not add up to 1, or numbers that are not finite.
  void set(const geometry::TetMesh& rest, std::span<const Attachment> attachments);
  // After a tear, and once after set(). `masses` by vertex; infinite for one that is held.
  void setCorners(std::span<const geometry::Tetrahedron> tets, std::span<const double> masses);

  // Moves what an attachment to the world or to an obstacle is tied to.
  void setPlace(size_t attachment, const Vec3& place);
  // Lets go, for ever.
  void release(size_t attachment);
  // On the first point, in the last step.
  const Vec3& force(size_t attachment) const { return forces_[attachment]; }
  bool broken(size_t attachment) const { return broken_[attachment] != 0; }
  std::span<const uint32_t> brokenNow() const { return brokenNow_; }  // in the last step, ascending
  const AttachmentReport& report() const { return report_; }

  void begin(const fem::StepStart& start, std::span<Vec3> own) override;
  double energy(std::span<const Vec3> x) const override;
  void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const override;
  void addCurvature(std::span<const Vec3> x, fem::BlockMatrix& matrix, std::span<Mat3> diagonal,
                    fem::OuterTerms& outer) const override;
  bool update(std::span<const Vec3> x, uint32_t round) override;
  void end(std::span<const Vec3> x, std::span<Vec3> velocities) override;

  void save(ByteWriter& out) const;
  // For the same attachments. Throws Error (Format) for what cannot be a state of these.
  void load(ByteReader& in);
  void hash(Hasher& hasher) const;

 private:
  struct Tie {  // one that holds in this step
    uint32_t attachment = 0;
    uint32_t body = kNoIndex;  // number of the obstacle
    LinearGap gap;
    Vec3 target = Vec3::Zero();  // what the place of the gap must be
    Vec3 force = Vec3::Zero();   // multiplier: on the first point
    double stiffness = 0, leastStiffness = 0, lastMiss = 0;
  };
  Vec3 miss(const Tie& tie, std::span<const Vec3> x) const { return tie.gap.place(x) - tie.target; }
  void linearise(Tie& tie, std::span<const Vec3> x);

  ObstacleBodies& obstacles_;
  AttachmentSettings settings_;
  std::vector<Attachment> attachments_;
  std::vector<double> sizes_;
  std::vector<geometry::Tetrahedron> tets_;
  std::vector<double> inverseMasses_;
  std::vector<Vec3> forces_;
  std::vector<uint8_t> broken_;
  std::vector<uint32_t> brokenNow_;
  std::vector<Tie> ties_;
  AttachmentReport report_;
};

}  // namespace sunder::soft
