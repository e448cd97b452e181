// What holds the two sides of a tear together until the energy of the tear is spent: cohesive bonds
// (Hillerborg, Modeer and Petersson 1976). A face that opens has one for each of its three vertices, with a
// third of its area.
//
// A bond pulls with `strength` times its area when it begins and with less the wider it opens, down to
// nothing; the work until then is the surface energy times the area. It pulls along the opening, whatever its
// direction. On the way back it unloads in a straight line to zero. So a tear takes up the energy it should,
// runs where there is enough and stops where there is not.
//
// That is true where elements are short against the zone in which bonds act. On longer ones a vertex would be
// torn late, with more energy than the tear takes; effectiveStrength() lowers the strength there, so that the
// energy is right instead (as in the crack band of Bazant and Oh 1983).
//
// A term of the steps of fem::Motion. Within a round the bonds are springs with the secant of what they have
// been opened to so far; update() brings these up to date.
#pragma once

#include "sunder/fem/motion/step_term.h"
#include "sunder/soft/tear/tear.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::soft {

// Of what tears; a surface energy of 0 makes no bonds.
struct BondLaw {
  double strength = 1e5;     // Pa
  double surfaceEnergy = 0;  // J/m^2, of both sides together
};

// At most what a tear of that energy can be begun with among elements of that length:
// sqrt(2 young surfaceEnergy / edge).
double effectiveStrength(const BondLaw& law, double young, double edge);

class Bonds : public fem::StepTerm {
 public:
  struct Bond {
    uint32_t a = 0, b = 0;     // corners 4 t + k of tetrahedra on both sides
    double area = 0;           // m^2
    double strength = 0;       // Pa
    double reach = 0;          // m: where it ends
    double largest = 0;        // m: opened to so far
    double spent() const;      // J, for good
    double stiffness() const;  // N/m: the secant
  };

  // Bonds of the faces that opened in a tear of a part of a mesh whose tetrahedra begin at `firstTet` of the
  // motion's.
  void follow(const Cage& cage, const Torn& torn, const TearOutcome& outcome, uint32_t firstTet,
              const BondLaw& law);
  // The corners of the motion's tetrahedra, after every tear; must stay as they are until the next call.
  void setCorners(std::span<const geometry::Tetrahedron> tets);

  std::span<const Bond> bonds() const { return bonds_; }
  double spent() const;  // J, of bonds that are there and that were

  void begin(const fem::StepStart& start, std::span<Vec3> own) override;
  double energy(std::span<const Vec3> x) const override;
  void addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const override;
  void addCurvature(std::span<const Vec3> x, fem::BlockMatrix& matrix, std::span<Mat3> diagonal,
                    fem::OuterTerms& outer) const override;
  bool update(std::span<const Vec3> x, uint32_t round) override;
  void end(std::span<const Vec3> x, std::span<Vec3> velocities) override;

  void save(ByteWriter& out) const;
  // Throws Error (Format) for corners that are not there and numbers that make no sense. setCorners() comes
  // first.
  void load(ByteReader& in);

 private:
  // Bonds between the same two vertices act as one spring.
  struct Spring {
    uint32_t a = 0, b = 0;  // vertices
    double stiffness = 0;
    uint32_t first = 0, last = 0;  // of order_
  };
  void gather();
  void stiffen();

  std::vector<Bond> bonds_;
  double lost_ = 0;  // J, spent by bonds that are gone
  std::span<const geometry::Tetrahedron> tets_;
  std::vector<Spring> springs_;
  std::vector<uint32_t> order_;
};

}  // namespace sunder::soft
