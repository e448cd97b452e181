// Breaks to and from the state of a world.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/work.h"
#include "sunder/fracture/model/voronoi.h"
#include "sunder/world/parts/breakage.h"

#include <fmt/format.h>

namespace sunder::world {

void Breakage::save(ByteWriter& out) const {
  out.u32(uint32_t(breaks_.size()));
  for (const Break& b : breaks_) {
    out.u32(b.body);
    out.u64(b.frame);
    out.u32(b.nextCrack);
    out.u32(uint32_t(b.sites.size()));
    for (const Vec3& site : b.sites)
      for (const double x : site) out.f64(x);
    out.u32(uint32_t(b.plan.size()));
    for (const fracture::PlannedCrack& crack : b.plan) {
      out.u32(crack.id);
      out.u32(uint32_t(crack.marks.size()));
      for (const fracture::PlannedMark& mark : crack.marks) {
        out.u32(mark.slot);
        for (const double phi : mark.phi) out.f64(phi);
        out.u32(uint32_t(mark.sides.size()));
        for (const auto& [surface, side] : mark.sides) out.u32(2 * surface + (side > 0));
      }
    }
  }
}

namespace {

fracture::PlannedMark readMark(ByteReader& in, size_t tets) {
  fracture::PlannedMark mark;
  mark.slot = in.u32("tetrahedron");
  if (mark.slot >= tets) in.fail(fmt::format("a crack cuts tetrahedron {} of {}", mark.slot, tets));
  for (double& phi : mark.phi) phi = in.boundedF64("a value of a crack");
  const uint32_t sides = in.u32("number of sides");
  in.need(sides, 4, "sides");
  if (sides > fracture::kMostCuts) in.fail(fmt::format("a tetrahedron was cut {} times before", sides));
  for (uint32_t k = 0; k < sides; ++k) {
    const uint32_t packed = in.u32("side");
    mark.sides.emplace_back(packed / 2, packed % 2 ? int8_t(1) : int8_t(-1));
  }
  return mark;
}

fracture::PlannedCrack readCrack(ByteReader& in, size_t tets) {
  fracture::PlannedCrack crack;
  crack.id = in.u32("number of a crack");
  const uint32_t marks = in.u32("number of cut tetrahedra");
  in.need(marks, 40, "cut tetrahedra");
  // None of these would cost as much as one: a walk through the whole mesh.
  if (marks == 0) in.fail("a crack cuts nothing");
  crack.marks.reserve(marks);
  for (uint32_t m = 0; m < marks; ++m) crack.marks.push_back(readMark(in, tets));
  return crack;
}

}  // namespace

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
    const uint32_t sites = in.u32("number of sites");
    in.need(sites, 24, "sites");
    const uint32_t most = uint32_t(scene_.bodies[object.body].fracture->sites);
    if (sites > most) in.fail(fmt::format("a body breaks into {} cells, in the scene into {}", sites, most));
    record.sites.resize(sites);
    for (Vec3& site : record.sites)
      for (double& x : site) x = in.boundedF64("a site");
    const uint32_t cracks = in.u32("number of cracks");
    in.need(cracks, 48, "cracks");
    if ((sites == 0) == (cracks == 0)) in.fail("a body breaks by cracks or by sites, not by both or none");
    record.plan.reserve(cracks);
    for (uint32_t c = 0; c < cracks; ++c) {
      record.plan.push_back(readCrack(in, piece.mesh->size()));
      const uint32_t id = record.plan.back().id;
      if (id < object.nextCrack || id >= record.nextCrack) in.fail("the number of a crack is out of order");
    }
    uint32_t next = object.nextCrack;
    try {
      fracture::BrokenBody broken =
          record.sites.empty() ? fracture::applyCracks(*piece.mesh, record.plan)
                               : fracture::voronoiPieces(*piece.mesh, record.sites, leastPart(piece), next);
      if (!record.sites.empty() && next != record.nextCrack) in.fail("its cracks have other numbers");
      breaks_.push_back(std::move(record));
      replace(simulation, breaks_.back(), std::move(broken), {});
    } catch (const Error& error) {
      in.fail(fmt::format("break {} of the checkpoint cannot be repeated: {}", i, error.message()));
    }
    work.step();
  }
}

}  // namespace sunder::world
