// The pairs of bodies that are near each other with their contacts: what the solver starts from and what it
// leaves for the next step. Sorted by (a, b); the next step's table is merged with it, so a pair keeps its
// memory and a contact, by its id, its impulses.
#pragma once

#include "sunder/base/scratch_pool.h"
#include "sunder/rigid/solver/body_set.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::rigid {

struct KeptContact {
  Contact contact;
  float normalImpulse = 0;        // of a substep, to start the next one from
  float friction[3] = {0, 0, 0};  // on b
  // Of the whole last step, bounces included:
  float total = 0;             // normal impulse
  float slide[3] = {0, 0, 0};  // tangential impulse on b
};

struct PairRecord {
  uint32_t a = 0, b = 0;
  uint32_t first = 0, count = 0;  // contacts
  PairMemory memory;
  float rolling[3] = {0, 0, 0};  // angular impulse on b
};

struct PairTable {
  std::vector<PairRecord> pairs;
  std::vector<KeptContact> contacts;
  std::vector<PairGap> gaps;  // by pair; empty where they are not known
};

// Sum of the normal impulses that the contacts of a pair carried at the end of the last step, N s in a
// substep.
double pressureOf(const PairTable& table, const PairRecord& pair);

// What detection found, besides the contacts.
struct DetectionReport {
  ContactWork work;
  double deepest = 0, depthSum = 0;
  uint64_t overlapping = 0, touching = 0;
};

class PairDetection {
 public:
  // Fills `next` from the broad phase's keys and the last step's table: contacts anew for pairs with an
  // active body, kept ones for the others.
  DetectionReport run(const BodySet& bodies, std::span<const uint64_t> keys, std::span<const double> margin,
                      const SimulationSettings& settings, const PairTable& last, PairTable& next);

 private:
  struct Block {
    std::vector<Contact> found;
    std::vector<KeptContact> contacts;
    DetectionReport report;
  };
  void fillBlock(const BodySet& bodies, std::span<const double> margin, const SimulationSettings& settings,
                 const PairTable& last, PairTable& next, size_t block);

  struct Source {
    uint64_t key;
    uint32_t last;  // index of the pair in the last table, or kNoIndex
  };
  std::vector<Source> source_;
  std::vector<Block> blocks_;
  ScratchPool<ContactScratch> scratch_;
};

// How near contacts of a pair are looked for.
double pairMargin(const BodySet& bodies, std::span<const double> margin, const SimulationSettings& settings,
                  uint32_t a, uint32_t b);

}  // namespace sunder::rigid
