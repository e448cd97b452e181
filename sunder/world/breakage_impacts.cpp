// From the contacts of a step to what breaks: impacts are gathered and analysed.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/fracture/model/voronoi.h"
#include "sunder/world/breakage.h"
#include "sunder/world/steady_load.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

using rigid::BodyIndex;

namespace {

constexpr double kWeakest = 0.02;  // of the strongest impulse on a body: others do not count

fracture::ContactSide sideOf(const rigid::Simulation& simulation, const Scene& scene, BodyIndex body,
                             const Vec3& point, std::span<const SpawnedBody> spawned) {
  fracture::ContactSide side;
  if (!body.valid()) return side;
  uint32_t origin = body.value;
  if (origin >= scene.bodies.size()) origin = spawned[origin - scene.bodies.size()].origin;
  const Material& material = scene.materials[scene.bodies[origin].material];
  if (material.young > 0) {
    side.young = material.young;
    side.poisson = material.poisson;
  }
  if (simulation.kind(body) != rigid::BodyKind::Dynamic) return side;
  side.mass = simulation.mass(body);
  side.radius = std::max((simulation.centre(body) - point).norm(), 1e-3);
  return side;
}

}  // namespace

uint32_t Breakage::originOf(uint32_t body) const {
  return body < scene_.bodies.size() ? body : spawned_[body - scene_.bodies.size()].origin;
}

std::vector<fracture::Impact> Breakage::impactsOn(uint32_t body, const Piece& piece,
                                                  const rigid::Simulation& simulation,
                                                  std::span<const double> steady) const {
  const std::span<const rigid::ContactEvent> events = simulation.events();
  std::vector<fracture::Impact> impacts;
  double fastest = 0, strongest = 0;
  for (size_t i = 0; i < events.size(); ++i)
    if (events[i].a.value == body || events[i].b.value == body) {
      fastest = std::max(fastest, events[i].approach);
      strongest = std::max(strongest, events[i].impulse - steady[i]);
    }
  if (fastest < slowestImpact(simulation.settings()) || !(strongest > 0)) return impacts;
  // What it rests on pushes back while it is struck: without that, plates would not bend.
  for (size_t i = 0; i < events.size(); ++i) {
    const rigid::ContactEvent& event = events[i];
    if (event.a.value != body && event.b.value != body) continue;
    const double impulse = event.impulse - steady[i];
    if (impulse < kWeakest * strongest) continue;
    const bool second = event.b.value == body;
    fracture::Impact impact;
    impact.point = piece.pose.localPoint(event.point);
    // Friction is shared between impact and steady load as the normal impulse is.
    impact.impulse = piece.pose.localDirection(
        (second ? 1 : -1) * (impulse * event.normal + (impulse / event.impulse) * event.tangential));
    impact.speed = fastest;
    impact.other = sideOf(simulation, scene_, second ? event.a : event.b, event.point, spawned_);
    impacts.push_back(impact);
  }
  return impacts;
}

AnalysisPool::Loan::Loan(AnalysisPool& pool) : pool_(pool) {
  const std::lock_guard lock(pool_.mutex_);
  if (pool_.idle_.empty()) {
    analysis_ = std::make_unique<fracture::AdaptiveFracture>();
  } else {
    analysis_ = std::move(pool_.idle_.back());
    pool_.idle_.pop_back();
  }
}

AnalysisPool::Loan::~Loan() {
  const std::lock_guard lock(pool_.mutex_);
  pool_.idle_.push_back(std::move(analysis_));
}

bool Breakage::mayBreak(const Struck& hit, const rigid::Simulation& simulation) const {
  const Piece& piece = pieces_.at(hit.body);
  const Object& object = objects_[piece.object];
  const rigid::Shape& shape = *piece.fragment.shape;
  const double mass = simulation.mass(BodyIndex(hit.body));
  const FractureSpec& spec = *scene_.bodies[object.body].fracture;
  return std::any_of(hit.impacts.begin(), hit.impacts.end(), [&](const fracture::Impact& impact) {
    if (spec.sites > 0) return hit.body < scene_.bodies.size() && impact.impulse.norm() >= spec.impulse;
    return !fracture::AdaptiveFracture::hopeless(shape.localBounds(), mass, object.material, impact,
                                                 shape.mass().centre, object.settings);
  });
}

std::vector<Breakage::Struck> Breakage::struck(const rigid::Simulation& simulation) const {
  std::vector<Struck> out;
  std::vector<uint32_t> bodies;
  // First those that the whole impulses might break: the steady load is worked out for these alone.
  const std::vector<double> none(simulation.events().size(), 0.0);
  for (const auto& [body, piece] : pieces_) {
    if (!simulation.exists(BodyIndex(body)) || leastPart(piece) >= 1) continue;
    Struck hit;
    hit.body = body;
    hit.impacts = impactsOn(body, piece, simulation, none);
    if (!mayBreak(hit, simulation)) continue;
    bodies.push_back(body);
    out.push_back(std::move(hit));
  }
  if (out.empty()) return out;
  const std::vector<double> steady = steadyImpulses(
      simulation, bodies, [&](uint32_t body) { return scene_.bodies[originOf(body)].gravityScale; },
      slowestImpact(simulation.settings()));
  for (Struck& hit : out) hit.impacts = impactsOn(hit.body, pieces_.at(hit.body), simulation, steady);
  std::erase_if(out, [&](const Struck& hit) { return !mayBreak(hit, simulation); });
  return out;
}

std::span<const std::array<uint32_t, 4>> Breakage::neighboursOf(uint32_t body) const {
  const auto whole = wholes_.find(body);
  if (whole == wholes_.end() || whole->second.mesh != pieces_.at(body).mesh) return {};
  return objects_[whole->second.object].rest->neighbours();
}

// Changes nothing but `hit`: all impacts of a step are analysed at the same time.
void Breakage::analyse(Struck& hit) {
  const Piece& piece = pieces_.at(hit.body);
  const Object& object = objects_[piece.object];
  const FractureSpec& spec = *scene_.bodies[object.body].fracture;
  const uint32_t firstCrack = hit.nextCrack;
  try {
    if (spec.sites > 0) {
      const auto strongest = std::max_element(
          hit.impacts.begin(), hit.impacts.end(),
          [](const auto& a, const auto& b) { return a.impulse.squaredNorm() < b.impulse.squaredNorm(); });
      hit.sites = fracture::voronoiSites(*piece.mesh, spec.sites, scene_.world.seed * 1000003 + object.body,
                                         strongest->point, spec.focus);
      if (hit.sites.size() < 2) return;
      hit.broken = fracture::voronoiPieces(*piece.mesh, hit.sites, leastPart(piece), hit.nextCrack,
                                           neighboursOf(hit.body));
      hit.report.cracks = hit.nextCrack - firstCrack;
      hit.report.tinyParts = hit.broken->tinyParts;
      return;
    }
    fracture::FractureSettings settings = object.settings;
    settings.leastPart = leastPart(piece);
    fracture::FractureOutcome outcome;
    {
      const AnalysisPool::Loan analysis(analyses_);
      outcome = analysis->strike(*piece.mesh, object.material, hit.impacts, settings, object.rest->edge(),
                                 hit.nextCrack);
    }
    hit.report.analyses = 1;
    hit.report.seconds = outcome.seconds;
    hit.report.cracks = outcome.cracks.size();
    hit.report.cutShort = outcome.analysed && outcome.steps < settings.steps;
    hit.report.tinyParts = outcome.tinyParts;
    // Cracks that separate nothing would add up from impact to impact; only where cracks may stop are they
    // kept.
    if (!outcome.broken || (outcome.broken->pieces == 1 && !object.settings.arrest)) return;
    hit.broken = std::move(outcome.broken);
    hit.plan = std::move(outcome.plan);
  } catch (const Error& error) {
    hit.refusal = error;
  }
}

std::span<const BreakRecord> Breakage::act(rigid::Simulation& simulation, uint64_t frame) {
  if (simulation.events().empty()) return {};
  const ProfileScope scope("fracture");
  const size_t known = changes_.size();
  // Pieces that appear now have not been hit; breaking changes the events, so all impacts are gathered first.
  std::vector<Struck> hits = struck(simulation);
  {
    const ProfileScope analysis("analysis");
    // Cracks are numbered by object: each impact of a step gets numbers of its own, as many as it may need.
    std::map<uint32_t, uint32_t> next;
    for (Struck& hit : hits) {
      const uint32_t object = pieces_.at(hit.body).object;
      hit.nextCrack = next.try_emplace(object, objects_[object].nextCrack).first->second;
      next[object] += objects_[object].settings.mostCracks;
    }
    Work work("breaking", hits.size(), "bodies");
    parallelFor(
        hits.size(),
        [&](size_t i) {
          analyse(hits[i]);
          work.step();
        },
        1);
  }
  for (Struck& hit : hits) {
    if (hit.refusal) refuse(hit.body, *hit.refusal);
    report_.analyses += hit.report.analyses;
    report_.seconds.add(hit.report.seconds);
    report_.cracks += hit.report.cracks;
    report_.cutShort += hit.report.cutShort;
    report_.tinyParts += hit.report.tinyParts;
    if (!hit.broken) continue;
    ++report_.breaks;
    breaks_.push_back({hit.body, frame, hit.nextCrack, std::move(hit.plan), std::move(hit.sites)});
    replace(simulation, breaks_.back(), std::move(*hit.broken), observer_);
  }
  return std::span(changes_).subspan(known);
}

void Breakage::refuse(uint32_t body, const Error& error) {
  // A body that is too finely cut or too thin to be analysed is no reason to stop everything else; wrong use
  // is.
  if (error.kind() != ErrorKind::Limit && error.kind() != ErrorKind::Numerical &&
      error.kind() != ErrorKind::Geometry)
    throw error;
  const size_t own = scene_.bodies.size();
  if (report_.refused++ == 0)
    report_.refusal = fmt::format("{}: {}", body < own ? scene_.bodies[body].id : spawned_[body - own].name,
                                  error.message());
}

}  // namespace sunder::world
