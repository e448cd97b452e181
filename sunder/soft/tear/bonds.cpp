#include "sunder/soft/tear/bonds.h"

#include "sunder/base/bytes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

// A bond rises to its strength over this part of its reach, so that it has a stiffness where it begins.
constexpr double kRise = 0.02;
constexpr uint32_t kMostRounds = 12;  // of secants in a step
constexpr double kSettled = 1e-3;     // relative change of a secant that calls for no other round

double pull(const Bonds::Bond& bond) {  // N, at the largest opening
  const double rise = kRise * bond.reach;
  if (bond.largest >= bond.reach) return 0;
  return bond.strength * bond.area * std::min(1.0, (bond.reach - bond.largest) / (bond.reach - rise));
}

}  // namespace

double effectiveStrength(const BondLaw& law, double young, double edge) {
  if (!(law.surfaceEnergy > 0) || !(edge > 0)) return law.strength;
  return std::min(law.strength, std::sqrt(2 * young * law.surfaceEnergy / edge));
}

double Bonds::Bond::stiffness() const { return pull(*this) / std::max(largest, kRise * reach); }

double Bonds::Bond::spent() const {
  const double rise = kRise * reach, most = std::min(largest, reach);
  if (most <= rise) return 0;
  const double left = reach - most, whole = reach - rise;
  const double under = rise / 2 + (whole * whole - left * left) / (2 * whole);
  return strength * area * under - pull(*this) * most / 2;
}

double Bonds::spent() const {
  double sum = lost_;
  for (const Bond& bond : bonds_) sum += bond.spent();
  return sum;
}

void Bonds::follow(const Cage& cage, const Torn& torn, const TearOutcome& outcome, uint32_t firstTet,
                   const BondLaw& law) {
  if (!(law.surfaceEnergy > 0)) return;
  std::vector<uint32_t> touched;
  for (const TornCorner& c : outcome.corners) touched.push_back(c.tet);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const uint32_t t : touched) {
    for (int face = 0; face < 4; ++face) {
      const uint32_t other = cage.neighbours[t][face];
      const uint8_t bits = torn.disagrees(t, face);
      // Where both sides were touched, the smaller one does it.
      if (bits == 0 || (other < t && std::binary_search(touched.begin(), touched.end(), other))) continue;
      for (int k = 0; k < 4; ++k) {
        // Corners that disagree since this tear: their vertices were the same before it.
        if (!(bits >> k & 1)) continue;
        const uint32_t vertex = cage.rest.tets[t][k];
        const int there = cornerOf(cage.rest.tets[other], vertex);
        const auto before = [&](uint32_t tet, int corner) {
          uint32_t v = torn.tets()[tet][corner];
          while (v >= outcome.firstNew) v = outcome.sources[v - outcome.firstNew];
          return v;
        };
        if (before(t, k) != before(other, there)) continue;
        uint32_t a = 4 * (firstTet + t) + static_cast<uint32_t>(k);
        uint32_t b = 4 * (firstTet + other) + static_cast<uint32_t>(there);
        if (a > b) std::swap(a, b);
        const geometry::Tetrahedron& rest = cage.rest.tets[t];
        const Vec3& p = cage.rest.positions[rest[(face + 1) & 3]];
        const Vec3& q = cage.rest.positions[rest[(face + 2) & 3]];
        const Vec3& r = cage.rest.positions[rest[(face + 3) & 3]];
        Bond bond{.a = a, .b = b, .area = (q - p).cross(r - p).norm() / 6, .strength = law.strength};
        bond.reach = 2 * law.surfaceEnergy / law.strength;
        bonds_.push_back(bond);
      }
    }
  }
  std::sort(bonds_.begin(), bonds_.end(),
            [](const Bond& x, const Bond& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
}

void Bonds::setCorners(std::span<const geometry::Tetrahedron> tets) {
  tets_ = tets;
  gather();
}

void Bonds::gather() {
  order_.resize(bonds_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  const auto ends = [&](uint32_t i) {
    const uint32_t a = tets_[bonds_[i].a >> 2][bonds_[i].a & 3], b = tets_[bonds_[i].b >> 2][bonds_[i].b & 3];
    return std::pair(std::min(a, b), std::max(a, b));
  };
  std::stable_sort(order_.begin(), order_.end(), [&](uint32_t i, uint32_t j) { return ends(i) < ends(j); });
  springs_.clear();
  for (uint32_t i = 0; i < order_.size(); ++i) {
    const auto [a, b] = ends(order_[i]);
    if (springs_.empty() || springs_.back().a != a || springs_.back().b != b)
      springs_.push_back({a, b, 0, i, i});
    springs_.back().last = i + 1;
  }
  stiffen();
}

void Bonds::stiffen() {
  for (Spring& spring : springs_) {
    spring.stiffness = 0;
    for (uint32_t i = spring.first; i < spring.last; ++i) spring.stiffness += bonds_[order_[i]].stiffness();
  }
}

void Bonds::begin(const fem::StepStart&, std::span<Vec3>) { stiffen(); }

double Bonds::energy(std::span<const Vec3> x) const {
  double sum = 0;
  for (const Spring& s : springs_) sum += s.stiffness / 2 * (x[s.b] - x[s.a]).squaredNorm();
  return sum;
}

void Bonds::addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const {
  for (const Spring& s : springs_) {
    const Vec3 force = s.stiffness * (x[s.b] - x[s.a]);
    gradient[s.b] += force;
    gradient[s.a] -= force;
  }
}

void Bonds::addCurvature(std::span<const Vec3>, fem::BlockMatrix&, std::span<Mat3>,
                         fem::OuterTerms& outer) const {
  for (const Spring& s : springs_) {
    if (!(s.stiffness > 0)) continue;
    for (int axis = 0; axis < 3; ++axis) {
      const uint32_t rows[2] = {s.a, s.b};
      const Vec3 blocks[2] = {-Vec3::Unit(axis), Vec3::Unit(axis)};
      outer.add(s.stiffness, rows, blocks);
    }
  }
}

bool Bonds::update(std::span<const Vec3> x, uint32_t round) {
  bool moved = false;
  for (Spring& s : springs_) {
    const double opening = (x[s.b] - x[s.a]).norm(), before = s.stiffness;
    for (uint32_t i = s.first; i < s.last; ++i) {
      Bond& bond = bonds_[order_[i]];
      bond.largest = std::max(bond.largest, opening);
    }
    s.stiffness = 0;
    for (uint32_t i = s.first; i < s.last; ++i) s.stiffness += bonds_[order_[i]].stiffness();
    moved |= std::abs(s.stiffness - before) > kSettled * before;
  }
  return moved && round < kMostRounds;
}

void Bonds::end(std::span<const Vec3>, std::span<Vec3>) {
  const size_t before = bonds_.size();
  for (const Bond& bond : bonds_)
    if (bond.largest >= bond.reach) lost_ += bond.spent();
  std::erase_if(bonds_, [](const Bond& bond) { return bond.largest >= bond.reach; });
  if (bonds_.size() != before) gather();
}

void Bonds::save(ByteWriter& out) const {
  out.f64(lost_);
  out.u32(static_cast<uint32_t>(bonds_.size()));
  for (const Bond& bond : bonds_) {
    out.u32(bond.a);
    out.u32(bond.b);
    for (const double value : {bond.area, bond.strength, bond.reach, bond.largest}) out.f64(value);
  }
}

void Bonds::load(ByteReader& in) {
  lost_ = in.boundedF64("energy of tears");
  const uint32_t count = in.u32("number of bonds");
  in.need(count, 40, "bonds");
  bonds_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    Bond bond;
    bond.a = in.u32("corner of a bond");
    bond.b = in.u32("corner of a bond");
    if (bond.a / 4 >= tets_.size() || bond.b / 4 >= tets_.size())
      in.fail(fmt::format("a bond of corners {} and {} of {}", bond.a, bond.b, 4 * tets_.size()));
    for (double* value : {&bond.area, &bond.strength, &bond.reach, &bond.largest}) {
      *value = in.boundedF64("number of a bond");
      if (!(*value >= 0)) in.fail("a bond has a negative number");
    }
    if (!(bond.reach > 0)) in.fail("a bond without reach");
    bonds_.push_back(bond);
  }
  gather();
}

}  // namespace sunder::soft
