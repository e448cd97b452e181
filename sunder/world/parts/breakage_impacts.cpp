// From the contacts of a step to what breaks: impacts are gathered and analysed.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/world/parts/breakage.h"
#include "sunder/world/parts/steady_load.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

using rigid::BodyIndex;

namespace {

constexpr double kWeakest = 0.02;  // of the strongest impulse on a body: others do not count

fracture::ContactSide sideOf(const rigid::Simulation& simulation, const Scene& scene, BodyIndex body,
                             const Vec3& point, uint32_t origin) {
  fracture::ContactSide side;
  if (!body.valid()) return side;
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

std::optional<uint32_t> Breakage::pieceNumber(uint32_t body) const {
  if (body < sceneBodies_) return {};
  return body - sceneBodies_;
}

uint32_t Breakage::originOf(uint32_t body) const {
  const std::optional<uint32_t> piece = pieceNumber(body);
  return piece ? spawned_[*piece].origin : body;
}

std::vector<fracture::Impact> Breakage::impactsOn(uint32_t body, const Piece& piece,
                                                  const rigid::Simulation& simulation,
                                                  std::span<const rigid::ContactEvent> events,
                                                  std::span<const double> steady) const {
  const auto steadyOf = [&](size_t event) { return steady.empty() ? 0.0 : steady[event]; };
  std::vector<fracture::Impact> impacts;
  double fastest = 0, strongest = 0;
  for (size_t i = 0; i < events.size(); ++i)
    if (events[i].a.value == body || events[i].b.value == body) {
      fastest = std::max(fastest, events[i].approach);
      strongest = std::max(strongest, events[i].impulse - steadyOf(i));
    }
  if (fastest < rigid::slowestImpact(simulation.settings()) || !(strongest > 0)) return impacts;
  // What it rests on pushes back while it is struck: without that, plates would not bend.
  for (size_t i = 0; i < events.size(); ++i) {
    const rigid::ContactEvent& event = events[i];
    if (event.a.value != body && event.b.value != body) continue;
    const double impulse = event.impulse - steadyOf(i);
    if (impulse < kWeakest * strongest) continue;
    const bool second = event.b.value == body;
    fracture::Impact impact;
    impact.point = piece.pose.localPoint(event.point);
    // Friction is shared between impact and steady load as the normal impulse is.
    impact.impulse = piece.pose.localDirection(
        (second ? 1 : -1) * (impulse * event.normal + (impulse / event.impulse) * event.tangential));
    impact.speed = fastest;
    const BodyIndex other = second ? event.a : event.b;
    impact.other = sideOf(simulation, scene_, other, event.point, other.valid() ? originOf(other.value) : 0);
    impacts.push_back(impact);
  }
  return impacts;
}

fracture::StruckBody Breakage::struckBody(uint32_t body, const Piece& piece, double mass,
                                          std::span<const fracture::Impact> impacts) const {
  const rigid::Shape& shape = *piece.fragment.shape;
  return {*piece.mesh,
          shape.localBounds(),
          shape.mass().centre,
          mass,
          !pieceNumber(body),
          impacts,
          objects_[piece.object].rest->edge(),
          leastPart(piece),
          neighboursOf(body, piece)};
}

std::vector<Breakage::Struck> Breakage::struck(const rigid::Simulation& simulation) const {
  std::vector<Struck> out;
  std::vector<uint32_t> bodies;
  const auto mayBreak = [&](const Struck& hit) {
    const Piece& piece = pieces_.at(hit.body);
    return objects_[piece.object].model->mayBreak(
        struckBody(hit.body, piece, simulation.mass(BodyIndex(hit.body)), hit.impacts));
  };
  // First those that the whole impulses might break: the steady load is worked out for these alone.
  for (const auto& [body, piece] : pieces_) {
    if (!simulation.exists(BodyIndex(body)) || leastPart(piece) >= 1) continue;
    Struck hit;
    hit.body = body;
    hit.impacts = impactsOn(body, piece, simulation, simulation.events(), {});
    if (!mayBreak(hit)) continue;
    bodies.push_back(body);
    out.push_back(std::move(hit));
  }
  if (out.empty()) return out;
  // Loads travel through bodies that nobody listens to.
  const std::vector<rigid::ContactEvent> events = simulation.everyContact();
  const std::vector<double> steady = steadyImpulses(
      simulation, events, bodies, [&](uint32_t body) { return scene_.bodies[originOf(body)].gravityScale; },
      rigid::slowestImpact(simulation.settings()));
  for (Struck& hit : out) hit.impacts = impactsOn(hit.body, pieces_.at(hit.body), simulation, events, steady);
  std::erase_if(out, [&](const Struck& hit) { return !mayBreak(hit); });
  return out;
}

std::span<const std::array<uint32_t, 4>> Breakage::neighboursOf(uint32_t body, const Piece& piece) const {
  const auto whole = wholes_.find(body);
  if (whole == wholes_.end() || whole->second.mesh != piece.mesh) return {};
  return objects_[whole->second.object].rest->neighbours();
}

// Changes nothing but `hit`: all impacts of a step are analysed at the same time.
void Breakage::analyse(Struck& hit, const rigid::Simulation& simulation) const {
  const Piece& piece = pieces_.at(hit.body);
  try {
    hit.outcome = objects_[piece.object].model->strike(
        struckBody(hit.body, piece, simulation.mass(BodyIndex(hit.body)), hit.impacts), hit.nextCrack);
  } catch (const Error& error) {
    hit.refusal = error;
  }
}

// The strongest impact, for events. Its place is that before the step, as the impact's.
void Breakage::tell(BreakRecord& record, const Struck& hit, const rigid::Pose& pose) const {
  const auto strongest = std::max_element(
      hit.impacts.begin(), hit.impacts.end(),
      [](const auto& a, const auto& b) { return a.impulse.squaredNorm() < b.impulse.squaredNorm(); });
  if (strongest == hit.impacts.end()) return;
  record.point = pose.point(strongest->point);
  record.impulse = strongest->impulse.norm();
  if (record.impulse > 0) record.normal = pose.rotation * Vec3(strongest->impulse / record.impulse);
  record.energy = 0.5 * record.impulse * strongest->speed;
}

std::span<const BreakRecord> Breakage::act(rigid::Simulation& simulation, uint64_t frame, Ledger& ledger) {
  if (simulation.events().empty()) return {};
  const ProfileScope scope("fracture");
  const size_t known = changes_.size();
  const BreakageReport before = report_;
  // Pieces that appear now have not been hit; breaking changes the events, so all impacts are gathered first.
  std::vector<Struck> hits = struck(simulation);
  {
    const ProfileScope analysis("analysis");
    // Cracks are numbered by object: each impact of a step gets numbers of its own, as many as it may need.
    std::map<uint32_t, uint32_t> next;
    for (Struck& hit : hits) {
      const uint32_t object = pieces_.at(hit.body).object;
      hit.nextCrack = next.try_emplace(object, objects_[object].nextCrack).first->second;
      next[object] += objects_[object].model->mostCracks();
    }
    Work work("breaking", hits.size(), "bodies");
    parallelFor(
        hits.size(),
        [&](size_t i) {
          analyse(hits[i], simulation);
          work.step();
        },
        1);
  }
  for (Struck& hit : hits) {
    if (hit.refusal) refuse(hit.body, *hit.refusal);
    fracture::BreakOutcome& outcome = hit.outcome;
    report_.analyses += outcome.analyses;
    report_.seconds.add(outcome.seconds);
    report_.cracks += outcome.cracks;
    report_.cutShort += outcome.cutShort;
    report_.tinyParts += outcome.tinyParts;
    if (!outcome.broken) continue;
    ++report_.breaks;
    const rigid::Pose pose = pieces_.at(hit.body).pose;
    breaks_.push_back({hit.body, frame, hit.nextCrack, std::move(outcome.plan)});
    replace(simulation, breaks_.back(), std::move(*outcome.broken), observer_);
    tell(changes_.back(), hit, pose);
  }
  ledger.add("pieces too small to go their own way stayed with a neighbour",
             report_.tinyParts - before.tinyParts, frame);
  ledger.add("breaks could not be made", report_.refused - before.refused, frame, report_.refusal);
  ledger.add("analyses of impacts were ended by their limit of work: cracks may be missing",
             report_.cutShort - before.cutShort, frame);
  ledger.add("splinters fly on but touch nothing", report_.splinters - before.splinters, frame);
  return std::span(changes_).subspan(known);
}

void Breakage::refuse(uint32_t body, const Error& error) {
  // A body that is too finely cut or too thin to be analysed is no reason to stop everything else; wrong use
  // is.
  if (error.kind() != ErrorKind::Limit && error.kind() != ErrorKind::Numerical &&
      error.kind() != ErrorKind::Geometry)
    throw error;
  const std::optional<uint32_t> piece = pieceNumber(body);
  if (report_.refused++ == 0)
    report_.refusal =
        fmt::format("{}: {}", piece ? spawned_[*piece].name : scene_.bodies[body].id, error.message());
}

}  // namespace sunder::world
