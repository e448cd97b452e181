// Breaks to and from the state of a world.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/work.h"
#include "sunder/world/parts/breakage.h"

#include <fmt/format.h>

namespace sunder::world {

void Breakage::save(ByteWriter& out) const {
  out.u32(uint32_t(breaks_.size()));
  for (const Break& b : breaks_) {
    out.u32(b.body);
    out.u64(b.frame);
    out.u32(b.nextCrack);
    fracture::save(out, b.plan);
  }
}

void Breakage::load(ByteReader& in, rigid::Simulation& simulation) {
  reset();
  const uint32_t count = in.u32("number of breaks");
  in.need(count, 24, "breaks");
  Work work("repeating breaks", count, "breaks");
  for (uint32_t i = 0; i < count; ++i) {
    Break record;
    record.body = in.u32("body that broke");
    const auto found = pieces_.find(record.body);
    if (found == pieces_.end())
      in.fail(fmt::format("body {} breaks in the checkpoint but cannot", record.body));
    const Piece& piece = found->second;
    const Object& object = objects_[piece.object];
    record.frame = in.u64("frame of a break");
    record.nextCrack = in.u32("number of a crack");
    if (record.nextCrack < object.nextCrack) in.fail("cracks of a body are out of order");
    record.plan = fracture::loadPlan(in, piece.mesh->size());
    if (const std::string problem = object.model->problemOf(record.plan); !problem.empty()) in.fail(problem);
    for (const fracture::PlannedCrack& crack : record.plan.cracks)
      if (crack.id < object.nextCrack || crack.id >= record.nextCrack)
        in.fail("the number of a crack is out of order");
    uint32_t next = object.nextCrack;
    try {
      fracture::BrokenBody broken =
          object.model->repeat(struckBody(record.body, piece, 0, {}), record.plan, next);
      if (!record.plan.sites.empty() && next != record.nextCrack) in.fail("its cracks have other numbers");
      breaks_.push_back(std::move(record));
      replace(simulation, breaks_.back(), std::move(broken), {});
    } catch (const Error& error) {
      in.fail(fmt::format("break {} of the checkpoint cannot be repeated: {}", i, error.message()));
    }
    work.step();
  }
}

}  // namespace sunder::world
