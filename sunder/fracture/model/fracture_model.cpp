#include "sunder/fracture/model/fracture_model.h"

#include "sunder/base/bytes.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::fracture {

namespace {

class StressModel : public FractureModel {
 public:
  StressModel(const BrittleMaterial& material, const FractureSettings& settings,
              std::shared_ptr<AnalysisPool> pool)
      : material_(material), settings_(settings), pool_(std::move(pool)) {}

  bool mayBreak(const StruckBody& body) const override {
    return std::any_of(body.impacts.begin(), body.impacts.end(), [&](const Impact& impact) {
      return !AdaptiveFracture::hopeless(body.bounds, body.mass, material_, impact, body.centre, settings_);
    });
  }

  BreakOutcome strike(const StruckBody& body, uint32_t& nextCrack) const override {
    FractureSettings settings = settings_;
    settings.leastPart = body.leastPart;
    FractureOutcome found;
    {
      const AnalysisPool::Loan analysis(*pool_);
      found = analysis->strike(body.mesh, material_, body.impacts, settings, body.edge, nextCrack);
    }
    BreakOutcome out;
    out.analyses = 1;
    out.seconds = found.seconds;
    out.cracks = found.cracks.size();
    out.cutShort = found.analysed && found.steps < settings.steps;
    out.tinyParts = found.tinyParts;
    // Cracks that separate nothing would add up from impact to impact; only where cracks may stop are they
    // kept.
    if (!found.broken || (found.broken->pieces == 1 && !settings.arrest)) return out;
    out.broken = std::move(found.broken);
    out.plan.cracks = std::move(found.plan);
    return out;
  }

  uint32_t mostCracks() const override { return settings_.mostCracks; }

  BrokenBody repeat(const StruckBody& body, const BreakPlan& plan, uint32_t&) const override {
    return applyCracks(body.mesh, plan.cracks);
  }

  std::string problemOf(const BreakPlan& plan) const override {
    if (!plan.sites.empty()) return "a body that breaks by stress breaks into cells";
    return plan.cracks.empty() ? "a body breaks without a crack" : "";
  }

 private:
  BrittleMaterial material_;
  FractureSettings settings_;
  std::shared_ptr<AnalysisPool> pool_;
};

class VoronoiModel : public FractureModel {
 public:
  explicit VoronoiModel(const VoronoiSettings& settings) : settings_(settings) {}

  bool mayBreak(const StruckBody& body) const override {
    return body.whole && std::any_of(body.impacts.begin(), body.impacts.end(), [&](const Impact& impact) {
             return impact.impulse.norm() >= settings_.impulse;
           });
  }

  BreakOutcome strike(const StruckBody& body, uint32_t& nextCrack) const override {
    const auto strongest = std::max_element(
        body.impacts.begin(), body.impacts.end(),
        [](const Impact& a, const Impact& b) { return a.impulse.squaredNorm() < b.impulse.squaredNorm(); });
    BreakOutcome out;
    out.plan.sites =
        voronoiSites(body.mesh, settings_.sites, settings_.seed, strongest->point, settings_.focus);
    if (out.plan.sites.size() < 2) return out;
    const uint32_t first = nextCrack;
    out.broken = voronoiPieces(body.mesh, out.plan.sites, body.leastPart, nextCrack, body.neighbours);
    out.cracks = nextCrack - first;
    out.tinyParts = out.broken->tinyParts;
    return out;
  }

  uint32_t mostCracks() const override { return settings_.mostCracks; }

  BrokenBody repeat(const StruckBody& body, const BreakPlan& plan, uint32_t& nextCrack) const override {
    return voronoiPieces(body.mesh, plan.sites, body.leastPart, nextCrack);
  }

  std::string problemOf(const BreakPlan& plan) const override {
    if (!plan.cracks.empty() || plan.sites.empty()) return "a body that breaks into cells breaks by cracks";
    if (plan.sites.size() > settings_.sites)
      return fmt::format("a body breaks into {} cells, in the scene into {}", plan.sites.size(),
                         settings_.sites);
    return "";
  }

 private:
  VoronoiSettings settings_;
};

PlannedMark readMark(ByteReader& in, size_t tets) {
  PlannedMark mark;
  mark.slot = in.u32("tetrahedron");
  if (mark.slot >= tets) in.fail(fmt::format("a crack cuts tetrahedron {} of {}", mark.slot, tets));
  for (double& phi : mark.phi) phi = in.boundedF64("a value of a crack");
  const uint32_t sides = in.u32("number of sides");
  in.need(sides, 4, "sides");
  if (sides > kMostCuts) in.fail(fmt::format("a tetrahedron was cut {} times before", sides));
  for (uint32_t k = 0; k < sides; ++k) {
    const uint32_t packed = in.u32("side");
    mark.sides.emplace_back(packed / 2, packed % 2 ? int8_t(1) : int8_t(-1));
  }
  return mark;
}

PlannedCrack readCrack(ByteReader& in, size_t tets) {
  PlannedCrack crack;
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

FractureModelPtr makeStressModel(const BrittleMaterial& material, const FractureSettings& settings,
                                 std::shared_ptr<AnalysisPool> pool) {
  return std::make_shared<const StressModel>(material, settings, std::move(pool));
}

FractureModelPtr makeVoronoiModel(const VoronoiSettings& settings) {
  return std::make_shared<const VoronoiModel>(settings);
}

void save(ByteWriter& out, const BreakPlan& plan) {
  out.u32(uint32_t(plan.sites.size()));
  for (const Vec3& site : plan.sites)
    for (const double x : site) out.f64(x);
  out.u32(uint32_t(plan.cracks.size()));
  for (const PlannedCrack& crack : plan.cracks) {
    out.u32(crack.id);
    out.u32(uint32_t(crack.marks.size()));
    for (const PlannedMark& mark : crack.marks) {
      out.u32(mark.slot);
      for (const double phi : mark.phi) out.f64(phi);
      out.u32(uint32_t(mark.sides.size()));
      for (const auto& [surface, side] : mark.sides) out.u32(2 * surface + (side > 0));
    }
  }
}

BreakPlan loadPlan(ByteReader& in, size_t tets) {
  BreakPlan plan;
  const uint32_t sites = in.u32("number of sites");
  in.need(sites, 24, "sites");
  plan.sites.resize(sites);
  for (Vec3& site : plan.sites)
    for (double& x : site) x = in.boundedF64("a site");
  const uint32_t cracks = in.u32("number of cracks");
  in.need(cracks, 48, "cracks");
  plan.cracks.reserve(cracks);
  for (uint32_t c = 0; c < cracks; ++c) plan.cracks.push_back(readCrack(in, tets));
  return plan;
}

}  // namespace sunder::fracture
