#include "sunder/rigid/solver/contact_graph.h"

#include "sunder/base/index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace sunder::rigid {

namespace {

constexpr double kSink =
    0.005;  // of the smaller body's outer radius: what a load may press two bodies together
constexpr double kStiffest = 4;  // times the usual stiffness

// A spring of rate w (rad/s) gives way by a / w^2 under a load that would give the two bodies the relative
// acceleration a. Where that is more than the bodies can do with, the spring is as much stiffer: in a pile a
// contact carries dozens of bodies, and columns of boxes that sink into each other buckle.
Softness underLoad(const Softness& usual, double rate, double acceleration, double radius,
                   const SimulationSettings& settings) {
  const double omega = 2 * kPi * rate;
  const double stiffer = std::min(acceleration / (kSink * radius * omega * omega), kStiffest);
  if (!(stiffer > 1)) return usual;
  return makeSoftness(rate * std::sqrt(stiffer), settings.contactDamping,
                      settings.timeStep / settings.substeps);
}

}  // namespace

void ContactGraph::build(const BodySet& bodies, const PairTable& table) {
  units_.clear();
  colourOf_.clear();
  used_.assign(bodies.count(), 0);
  // Units by colour and, within it, by number of contacts, so that the lanes of a block are equally long.
  std::array<std::array<uint32_t, kMostRows>, kColours + 1> sizes{};
  for (uint32_t i = 0; i < table.pairs.size(); ++i) {
    const PairRecord& pair = table.pairs[i];
    if (!pair.count) continue;
    const bool movesA = bodies.moves(pair.a), movesB = bodies.moves(pair.b);
    if (!movesA && !movesB) continue;
    const bool flipped = !movesA;
    const uint32_t p = flipped ? pair.b : pair.a, q = flipped ? pair.a : pair.b;
    const bool both = movesA && movesB;
    for (uint32_t done = 0; done < pair.count; done += kMostRows) {
      const uint32_t count = std::min(kMostRows, pair.count - done);
      const uint32_t taken = used_[p] | (both ? used_[q] : 0u);
      const uint32_t colour = uint32_t(std::countr_one(taken));
      if (colour < kColours) {
        used_[p] |= 1u << colour;
        if (both) used_[q] |= 1u << colour;
      }
      units_.push_back({i, pair.first + done, count, p, q, flipped});
      colourOf_.push_back(uint8_t(colour));
      ++sizes[colour][kMostRows - count];
    }
  }

  std::array<std::array<uint32_t, kMostRows>, kColours + 1> place{};
  uint32_t at = 0;
  colours_.clear();
  for (uint32_t c = 0; c <= kColours; ++c) {
    for (uint32_t k = 0; k < kMostRows; ++k) {
      place[c][k] = at;
      at += sizes[c][k];
    }
  }
  order_.resize(units_.size());
  for (uint32_t u = 0; u < units_.size(); ++u) order_[place[colourOf_[u]][kMostRows - units_[u].count]++] = u;

  // Blocks in order of colours; a colour starts a new block, an overflowing unit has one of its own.
  blockCount_ = 0;
  overflow_ = {};
  std::array<uint32_t, kColours + 1> colourSize{};
  for (uint32_t c = 0; c <= kColours; ++c) {
    for (uint32_t k = 0; k < kMostRows; ++k) colourSize[c] += sizes[c][k];
  }
  for (uint32_t c = 0; c < kColours; ++c) {
    if (!colourSize[c]) continue;
    const uint32_t blocks = (colourSize[c] + kLanes - 1) / kLanes;
    colours_.push_back({uint32_t(blockCount_), blocks});
    blockCount_ += blocks;
  }
  overflow_ = {uint32_t(blockCount_), colourSize[kColours]};
  blockCount_ += colourSize[kColours];
  ContactBlock* blocks = blocks_.reserve(blockCount_);
  rowCount_ = 0;
  size_t next = 0;
  const auto place4 = [&](ContactBlock& block, uint32_t lanes) {
    block.rows = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      block.unit[lane] = lane < lanes ? order_[next + lane] : kNoIndex;
      if (lane < lanes) block.rows = std::max(block.rows, units_[block.unit[lane]].count);
    }
    next += lanes;
    block.firstRow = uint32_t(rowCount_);
    rowCount_ += block.rows;
  };
  for (const Colour& colour : colours_) {
    const uint32_t c = colourOf_[order_[next]];
    uint32_t left = colourSize[c];
    for (uint32_t b = 0; b < colour.blocks; ++b) {
      const uint32_t lanes = std::min(left, kLanes);
      place4(blocks[colour.firstBlock + b], lanes);
      left -= lanes;
    }
  }
  for (uint32_t b = 0; b < overflow_.blocks; ++b) place4(blocks[overflow_.firstBlock + b], 1);
  rows_.reserve(rowCount_);
  slides_.reserve(rowCount_);
}

void ContactGraph::fill(const BodySet& bodies, const PairTable& table, const SimulationSettings& settings,
                        const Softness& soft, const Softness& softOnStatic, size_t begin, size_t end) {
  const Vec3* position = bodies.state.position.data();
  const double substeps = settings.substeps / settings.timeStep;  // a second
  for (size_t b = begin; b < end; ++b) {
    ContactBlock& block = blocks_.data()[b];
    ContactRow* rows = rows_.data() + block.firstRow;
    std::memset(static_cast<void*>(rows), 0, sizeof(ContactRow) * block.rows);
    std::memset(static_cast<void*>(slides_.data() + block.firstRow), 0, sizeof(Slide) * block.rows);
    block.writeP = block.writeQ = block.rolls = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      if (block.unit[lane] == kNoIndex) {
        block.p[lane] = block.q[lane] = bodies.dummy();
        for (int k = 0; k < 3; ++k) block.between[k][lane] = 0, block.rollingImpulse[k][lane] = 0;
        block.friction[lane] = block.rolling[lane] = block.slop[lane] = block.rollingMass[lane] = 0;
        block.bouncy[lane] = 0;
        block.biasRate[lane] = block.massScale[lane] = block.impulseScale[lane] = 0;
        continue;
      }
      const ContactUnit& unit = units_[block.unit[lane]];
      const PairRecord& pair = table.pairs[unit.pair];
      const BodyConstants &cp = bodies.constants[unit.p], &cq = bodies.constants[unit.q];
      block.p[lane] = unit.p;
      block.q[lane] = unit.q;
      const bool both = bodies.moves(unit.q);
      block.writeP |= 1u << lane;
      if (both) block.writeQ |= 1u << lane;
      const double acceleration =
          pressureOf(table, pair) *
          (bodies.state.solverBody[unit.p].inverseMass + bodies.state.solverBody[unit.q].inverseMass) *
          substeps;
      const Softness softness =
          underLoad(both ? soft : softOnStatic, (both ? 1 : 2) * settings.contactRate * substeps,
                    acceleration, std::min(cp.outer, cq.outer), settings);
      block.biasRate[lane] = float(softness.biasRate);
      block.massScale[lane] = float(softness.massScale);
      block.impulseScale[lane] = float(softness.impulseScale);
      block.slop[lane] = float(settings.slop * std::min(cp.outer, cq.outer));
      block.friction[lane] = float(std::sqrt(cp.surface.friction * cq.surface.friction));
      block.rolling[lane] = float(std::max(cp.surface.rollingFriction, cq.surface.rollingFriction));
      block.bouncy[lane] = std::max(cp.surface.restitution, cq.surface.restitution) > 0
                               ? std::numeric_limits<float>::min()
                               : 0;
      block.rolls |= block.rolling[lane] > 0;
      block.rollingMass[lane] = 0;
      const float sign = unit.flipped ? -1.f : 1.f;
      const Vec3 between = position[unit.p] - position[unit.q];
      for (int k = 0; k < 3; ++k) {
        block.between[k][lane] = between[k];
        // A pair of several units carries its rolling impulse in the first.
        block.rollingImpulse[k][lane] = unit.first == pair.first ? sign * pair.rolling[k] : 0;
      }
      for (uint32_t i = 0; i < unit.count; ++i) {
        const KeptContact& kept = table.contacts[unit.first + i];
        ContactRow& row = rows[i];
        // Where p will be touched: the middle of a gap is not on its surface.
        const double ahead = 0.5 * sign * std::max(kept.contact.separation, 0.0);
        for (int k = 0; k < 3; ++k) {
          row.normal[k][lane] = sign * float(kept.contact.normal[k]);
          row.arm[k][lane] =
              float(kept.contact.point[k] - ahead * kept.contact.normal[k] - position[unit.p][k]);
          row.friction[k][lane] = sign * kept.friction[k];
        }
        row.startSeparation[lane] = row.separation[lane] = float(kept.contact.separation);
        row.normalImpulse[lane] = kept.normalImpulse;
      }
    }
  }
}

void ContactGraph::addFriction(size_t begin, size_t end) {
  for (size_t b = begin; b < end; ++b) {
    const ContactBlock& block = blocks_.data()[b];
    for (uint32_t r = block.firstRow; r < block.firstRow + block.rows; ++r)
      for (int k = 0; k < 3; ++k)
        for (uint32_t lane = 0; lane < kLanes; ++lane)
          slides_.data()[r].impulse[k][lane] += rows_.data()[r].friction[k][lane];
  }
}

void ContactGraph::store(PairTable& table, size_t begin, size_t end) const {
  for (size_t b = begin; b < end; ++b) {
    const ContactBlock& block = blocks_.data()[b];
    const ContactRow* rows = rows_.data() + block.firstRow;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      if (block.unit[lane] == kNoIndex) continue;
      const ContactUnit& unit = units_[block.unit[lane]];
      PairRecord& pair = table.pairs[unit.pair];
      const float sign = unit.flipped ? -1.f : 1.f;
      if (unit.first == pair.first) {
        for (int k = 0; k < 3; ++k) pair.rolling[k] = sign * block.rollingImpulse[k][lane];
      }
      for (uint32_t i = 0; i < unit.count; ++i) {
        KeptContact& kept = table.contacts[unit.first + i];
        kept.normalImpulse = rows[i].normalImpulse[lane];
        kept.total += rows[i].total[lane];
        for (int k = 0; k < 3; ++k) {
          kept.friction[k] = sign * rows[i].friction[k][lane];
          kept.slide[k] += sign * slides_.data()[block.firstRow + i].impulse[k][lane];
        }
      }
    }
  }
}

}  // namespace sunder::rigid
