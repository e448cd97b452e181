// Breaks to and from the state of a world.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/fracture/voronoi.h"
#include "sunder/world/breakage.h"

#include <fmt/core.h>

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

void Breakage::load(ByteReader& in, rigid::Simulation& simulation) {
  reset();
  const uint32_t count = in.u32("number of breaks");
  in.need(count, 20, "breaks");
  for (uint32_t i = 0; i < count; ++i) {
    Break record;
    record.body = in.u32("body that broke");
    record.frame = in.u64("frame of a break");
    record.nextCrack = in.u32("number of a crack");
    const uint32_t sites = in.u32("number of sites");
    in.need(sites, 24, "sites");
    record.sites.resize(sites);
    for (Vec3& site : record.sites)
      for (double& x : site) x = in.f64("site");
    const uint32_t cracks = in.u32("number of cracks");
    in.need(cracks, 8, "cracks");
    record.plan.resize(cracks);
    for (fracture::PlannedCrack& crack : record.plan) {
      crack.id = in.u32("number of a crack");
      const uint32_t marks = in.u32("number of cut tetrahedra");
      in.need(marks, 40, "cut tetrahedra");
      crack.marks.resize(marks);
      for (fracture::PlannedMark& mark : crack.marks) {
        mark.slot = in.u32("tetrahedron");
        for (double& phi : mark.phi) phi = in.f64("crack");
        const uint32_t sides = in.u32("number of sides");
        in.need(sides, 4, "sides");
        for (uint32_t k = 0; k < sides; ++k) {
          const uint32_t packed = in.u32("side");
          mark.sides.emplace_back(packed / 2, packed % 2 ? int8_t(1) : int8_t(-1));
        }
      }
    }
    const auto found = pieces_.find(record.body);
    if (found == pieces_.end())
      throw Error(ErrorKind::Format, fmt::format("body {} breaks in the checkpoint but cannot", record.body));
    const Piece& piece = found->second;
    const double least = leastPart(piece);
    uint32_t next = objects_[piece.object].nextCrack;
    fracture::BrokenBody broken = record.sites.empty()
                                      ? fracture::applyCracks(*piece.mesh, record.plan)
                                      : fracture::voronoiPieces(*piece.mesh, record.sites, least, next);
    breaks_.push_back(std::move(record));
    replace(simulation, breaks_.back(), std::move(broken), {});
  }
}

}  // namespace sunder::world
