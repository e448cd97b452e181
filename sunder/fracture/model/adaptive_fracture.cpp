#include "sunder/fracture/model/adaptive_fracture.h"

#include "sunder/base/error.h"
#include "sunder/base/stopwatch.h"
#include "sunder/base/work.h"
#include "sunder/fracture/crack/healing.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/spatial/query/triangle_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sunder::fracture {

namespace {

constexpr double kLeastFraction = 1e-3;        // of a tetrahedron that the analysis counts it with
constexpr double kContactPatchFraction = 0.1;  // of a tetrahedron that an impact may act on
constexpr double kOffset = 0.05;               // of the mean edge: how far a crack passes from its seed
constexpr double kStillLong = 1.7320508;       // of the wanted edge: half-way between two cycles

// A force on three vertices of a face.
struct ContactPatch {
  std::array<uint32_t, 3> vertices{};
  std::array<double, 3> weights{};
};

// Slivers are passed over: the whole force on next to no mass would throw them away.
ContactPatch contactPatchAt(const CrackedMesh& mesh, std::span<const CutCell> cells,
                            std::span<const Link> links, std::span<const double> fractions,
                            const Vec3& point) {
  std::vector<char> inner(4 * mesh.size(), 0);
  for (const Link& link : links) inner[4 * link.a + link.sideA] = inner[4 * link.b + link.sideB] = 1;
  ContactPatch best;
  double nearest = Box3::kInfinity;
  for (uint32_t t = 0; t < mesh.size(); ++t)
    for (uint8_t side = 0; side < 4; ++side) {
      if (inner[4 * t + side]) continue;
      if (!mesh.cuts[t].empty() && (fractions[t] < kContactPatchFraction || !cells[t].face(side))) continue;
      const geometry::Triangle f = geometry::tetFace(mesh.mesh.tets[t], side);
      const Vec3 &a = mesh.mesh.positions[f[0]], &b = mesh.mesh.positions[f[1]],
                 &c = mesh.mesh.positions[f[2]];
      const spatial::PointOnTriangle on = spatial::closestPointOnTriangle(point, a, b, c);
      const double distance = (on.point - point).squaredNorm();
      if (!(distance < nearest)) continue;
      nearest = distance;
      const Vec3 n = geometry::twiceVectorArea(a, b, c);
      const double area = n.squaredNorm();
      best.vertices = f;
      best.weights[1] = n.dot(geometry::twiceVectorArea(a, on.point, c)) / area;
      best.weights[2] = n.dot(geometry::twiceVectorArea(a, b, on.point)) / area;
      best.weights[0] = 1 - best.weights[1] - best.weights[2];
    }
  return best;
}

double longestEdge(const CrackedMesh& mesh, uint32_t t) {
  double longest = 0;
  const auto p = mesh.corners(t);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < i; ++j) longest = std::max(longest, (p[i] - p[j]).squaredNorm());
  return std::sqrt(longest);
}

}  // namespace

BrittleMaterial brittleMaterial(const material::Material& material) {
  BrittleMaterial out;
  out.elastic = fem::elasticMaterial(material);
  out.strength = material.strength;
  if (material.surfaceEnergy > 0) out.surfaceEnergy = material.surfaceEnergy;
  return out;
}

void requireValid(const BrittleMaterial& material) {
  fem::requireValid(material.elastic);
  if (!(material.strength > 0) || !(material.surfaceEnergy > 0) || !std::isfinite(material.surfaceEnergy))
    throw Error(ErrorKind::Usage, "a brittle material needs a strength and a surface energy above 0")
        .hint("glass has 4e7 Pa and 8 J/m^2; infinite strength never breaks");
}

void FractureStages::add(const FractureStages& o) {
  assemble += o.assemble;
  factor += o.factor;
  substitute += o.substitute;
  recover += o.recover;
  refine += o.refine;
  coarsen += o.coarsen;
  dissect += o.dissect;
  partition += o.partition;
}

double meanEdge(const geometry::TetMesh& mesh) {
  double sum = 0;
  for (const auto& t : mesh.tets)
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < i; ++j) sum += (mesh.positions[t[i]] - mesh.positions[t[j]]).norm();
  return mesh.tets.empty() ? 0 : sum / double(6 * mesh.tets.size());
}

namespace {

BrokenBody brokenBody(const FractureGeometry::State& state) {
  BrokenBody out;
  out.cracked = {state.mesh, state.cells, state.links, state.vertexSource, state.slots};
  out.piece = partsOf(state.mesh.size(), state.links, out.pieces);
  return out;
}

}  // namespace

BrokenBody applyCracks(const CrackedMesh& body, std::span<const PlannedCrack> cracks) {
  FractureGeometry::State state{CrackedMesh(body)};
  for (const PlannedCrack& crack : cracks) state.insert(crack);
  return brokenBody(state);
}

// One impact on one body.
class FractureRun {
 public:
  FractureRun(AdaptiveFracture& tools, const CrackedMesh& body, const BrittleMaterial& material,
              std::span<const Impact> impacts, const FractureSettings& settings, double edge,
              uint32_t& nextCrack)
      : tools_(tools),
        material_(material),
        impacts_(impacts),
        settings_(settings),
        leastEdge_(edge / std::pow(3.0, settings.cycles)),
        nextCrack_(nextCrack),
        geometry_(body) {}

  FractureOutcome run() {
    out_.tets = geometry_.body().size();
    start();
    uint32_t refinements = 0;
    while (step_ < settings_.steps && out_.work < settings_.mostWork) {
      stepOnce();
      if (!(largest_ > material_.strength)) continue;
      if (refinements < settings_.cycles && refineAtPeaks()) {
        ++refinements;
        again();
        --step_;  // the same step once more
        continue;
      }
      if (geometry_.cracks().size() < settings_.mostCracks) crackNow();
    }
    out_.steps = step_;
    finish();
    return std::move(out_);
  }

 private:
  void start() {
    const CrackedMesh& body = geometry_.body();
    {
      const ScopeTimer timer(out_.seconds.refine);
      live_ = geometry_.uncracked();
    }
    Vec3 centre = Vec3::Zero();
    double volume = 0;
    const std::vector<double> fractions = fractionsOf(body, live_.cells);
    for (size_t t = 0; t < body.size(); ++t) {
      const auto p = body.corners(t);
      const double v = fractions[t] * geometry::signedVolume(p[0], p[1], p[2], p[3]);
      volume += v;
      centre += 0.25 * v * (p[0] + p[1] + p[2] + p[3]);
    }
    centre /= volume;
    double radius = 0;
    for (const Vec3& p : body.mesh.positions) radius = std::max(radius, (p - centre).norm());
    for (const Impact& impact : impacts_) {
      ContactSide struck{volume * material_.elastic.density, material_.elastic.young,
                         material_.elastic.poisson, std::max((impact.point - centre).norm(), 0.01 * radius)};
      Pulse pulse{impact.impulse, contactDuration(settings_.contact, struck, impact.other, impact.speed),
                  settings_.contact.form};
      out_.duration = std::max(out_.duration, pulse.duration);
      pulses_.push_back(pulse);
    }
    dynamics_.step = out_.duration / settings_.steps;
    dynamics_.scheme = settings_.scheme;
    dynamics_.alpha = settings_.alpha;
    dynamics_.beta = settings_.beta * out_.duration;
    out_.analysed = true;
    begin();
  }

  // The live mesh to the analysis, with the state that it has in u_ and v_ where that is known.
  void setBody(bool keepState) {
    std::vector<double> fractions;
    {
      const ScopeTimer timer(out_.seconds.assemble);
      fractions = fractionsOf(live_.mesh, live_.cells);
      for (double& f : fractions) f = std::clamp(f, kLeastFraction, 1.0);
      tools_.dynamics_.setBody(live_.mesh.mesh, material_.elastic, fractions);
      contactPatches_.clear();
      for (const Impact& impact : impacts_)
        contactPatches_.push_back(
            contactPatchAt(live_.mesh, live_.cells, live_.links, fractions, impact.point));
      if (keepState) tools_.dynamics_.setState(u_, v_);
      tools_.recovery_.setBody(tools_.dynamics_.body(), settings_.recovery);
      neighbours_ = vertexNeighbours(live_.mesh.mesh);
    }
    const ScopeTimer timer(out_.seconds.factor);
    count(kPrepareSteps);
    tools_.dynamics_.prepare(dynamics_);
    out_.refinedTets = std::max(out_.refinedTets, live_.mesh.size());
  }

  void restart() {
    {
      const ScopeTimer timer(out_.seconds.refine);
      live_ = geometry_.uncracked();
    }
    begin();
  }

  // At rest, with the live mesh as it is.
  void begin() {
    inserted_ = 0;
    step_ = 0;
    ++out_.analyses;
    setBody(false);
  }

  // From the start to where the analysis was, on the mesh as it is now.
  void again() {
    const uint32_t until = step_;
    restart();
    while (step_ < until) {
      insertCracks();
      substitute();
    }
    recover();
  }

  void insertCracks() {
    bool changed = false;
    const auto& cracks = geometry_.cracks();
    for (; inserted_ < cracks.size() && cracks[inserted_].step <= step_; ++inserted_) {
      if (!changed) {
        u_.assign(tools_.dynamics_.displacements().begin(), tools_.dynamics_.displacements().end());
        v_.assign(tools_.dynamics_.velocities().begin(), tools_.dynamics_.velocities().end());
      }
      const ScopeTimer timer(out_.seconds.dissect);
      std::vector<uint32_t> source;
      live_.insert(cracks[inserted_], &source);
      std::vector<Vec3> u(source.size()), v(source.size());
      for (size_t i = 0; i < source.size(); ++i) {
        u[i] = u_[source[i]];
        v[i] = v_[source[i]];
      }
      u_ = std::move(u);
      v_ = std::move(v);
      changed = true;
    }
    if (changed) setBody(true);
  }

  void substitute() {
    const ScopeTimer timer(out_.seconds.substitute);
    forces_.clear();
    const double from = step_ * dynamics_.step, to = (step_ + 1) * dynamics_.step;
    for (size_t i = 0; i < pulses_.size(); ++i) {
      const Vec3 force = pulses_[i].meanForce(from, to);
      for (size_t k = 0; k < 3; ++k)
        forces_.push_back({contactPatches_[i].vertices[k], contactPatches_[i].weights[k] * force});
    }
    tools_.dynamics_.step(forces_);
    ++step_;
    count(1);
  }

  // Work on the live mesh, in steps.
  void count(double steps) {
    const double work = steps * double(live_.mesh.size());
    out_.work += work;
    progress_.note(fmt::format("step {} of {}, {} tetrahedra, {} cracks", step_, settings_.steps,
                               live_.mesh.size(), geometry_.cracks().size()));
    progress_.step(uint64_t(work));
  }

  // Means of tetrahedra are not above their largest, and a principal value is above the mean pressure by at
  // most the root of two thirds of the deviator's norm.
  bool surelyBelow() {
    if (settings_.everyStress || settings_.recovery != fem::Recovery::Lumped) return false;
    elements_.resize(live_.mesh.size());
    fem::elementStresses(tools_.dynamics_.body(), tools_.dynamics_.displacements(), elements_);
    double most = 0;
    for (const fem::Stress& s : elements_) {
      const double mean = s.head<3>().sum() / 3;
      const double deviator =
          (s.head<3>() - Vec3::Constant(mean)).squaredNorm() + 2 * s.tail<3>().squaredNorm();
      most = std::max(most, mean + std::sqrt(2.0 / 3 * deviator));
    }
    constexpr double kRounding = 1 - 1e-9;
    return most < kRounding * material_.strength;
  }

  void recover() {
    const ScopeTimer timer(out_.seconds.recover);
    largest_ = 0;
    if (surelyBelow()) return;
    tools_.recovery_.update(tools_.dynamics_.displacements(), tools_.dynamics_.velocities());
    // The stress in cut tetrahedra jumps about while the crack opens, and slivers see anything: it counts
    // neither
    // here nor as a seed of further cracks.
    torn_.assign(live_.mesh.mesh.positions.size(), 0);
    for (size_t t = 0; t < live_.mesh.size(); ++t)
      if (!live_.mesh.cuts[t].empty() && live_.mesh.cuts[t].back().surface >= firstCrack_)
        for (const uint32_t v : live_.mesh.mesh.tets[t]) torn_[v] = 1;
    const auto principals = tools_.recovery_.principals();
    for (size_t v = 0; v < principals.size(); ++v)
      if (!torn_[v]) largest_ = std::max(largest_, principals[v].value);
    out_.largestStress = std::max(out_.largestStress, largest_);
  }

  void stepOnce() {
    insertCracks();
    substitute();
    recover();
  }

  bool refineAtPeaks() {
    const ScopeTimer timer(out_.seconds.refine);
    const std::vector<uint32_t> peaks =
        peakVertices(tools_.recovery_.principals(), neighbours_, material_.strength, settings_.gamma);
    std::vector<char> marked(live_.mesh.mesh.positions.size(), 0);
    for (const uint32_t v : peaks) marked[v] = 1;
    std::vector<uint32_t> chosen;
    for (uint32_t t = 0; t < live_.mesh.size(); ++t) {
      const auto& v = live_.mesh.mesh.tets[t];
      if (std::any_of(v.begin(), v.end(), [&](uint32_t i) { return marked[i]; }) && tooLong(live_, t))
        chosen.push_back(live_.slots[t]);
    }
    return geometry_.refine(chosen);
  }

  bool tooLong(const FractureGeometry::State& state, uint32_t t) const {
    return state.mesh.cuts[t].empty() && longestEdge(state.mesh, t) > kStillLong * leastEdge_;
  }

  void crackNow() {
    SeedReport report;
    const SeedSettings seeds{material_.strength, settings_.fading * material_.strength / out_.duration,
                             settings_.gamma};
    const std::vector<uint32_t> found =
        crackSeeds(tools_.recovery_.principals(), neighbours_, seeds, &report);
    out_.fadingSeeds += report.fading;
    double energy = 0;
    if (settings_.arrest && !found.empty())
      energy = fem::elasticEnergy(tools_.dynamics_.body(), tools_.recovery_.elements());
    bool refined = false;
    const size_t before = geometry_.cracks().size();

    for (const uint32_t seed : found) {
      if (torn_[seed]) continue;
      if (geometry_.cracks().size() >= settings_.mostCracks) break;
      // Nor beside one that started at this very moment.
      if (geometry_.cracks().size() > before && besideACrack(live_.mesh.mesh.positions[seed])) continue;
      refined |= plan(seed, energy);
    }
    if (geometry_.cracks().size() == before) return;
    if (refined) again();
  }

  // Adds a crack that starts at a vertex of the live mesh; returns whether the mesh was refined for it.
  bool plan(uint32_t seed, double& energy) {
    const Vec3 at = live_.mesh.mesh.positions[seed];
    const fem::Principal& stress = tools_.recovery_.principals()[seed];
    // It passes the seed on the side where less of the star is.
    double above = 0, below = 0, length = 0, edges = 0;
    for (const auto& t : live_.mesh.mesh.tets) {
      if (std::find(t.begin(), t.end(), seed) == t.end()) continue;
      Vec3 centre = Vec3::Zero();
      for (const uint32_t v : t) centre += 0.25 * live_.mesh.mesh.positions[v];
      const auto& p = live_.mesh.mesh.positions;
      (stress.direction.dot(centre - at) > 0 ? above : below) +=
          geometry::signedVolume(p[t[0]], p[t[1]], p[t[2]], p[t[3]]);
      for (const uint32_t v : t)
        if (v != seed) {
          length += (p[v] - at).norm();
          ++edges;
        }
    }
    const double offset = kOffset * length / edges * (above >= below ? 1 : -1);
    const Vec3 on = at - offset * stress.direction;
    CrackNoise noise = settings_.noise;
    noise.seed += nextCrack_;
    const CrackFunction function =
        noise.amplitude > 0 ? noisyCrack(on, stress.direction, noise) : planeCrack(on, stress.direction);
    const double mostArea = settings_.arrest ? energy / material_.surfaceEnergy : Box3::kInfinity;
    if (!(mostArea > 0)) return false;

    bool refined = false;
    PlannedCrack crack;
    crack.id = nextCrack_;
    crack.step = step_;
    for (int round = 0;; ++round) {
      const ScopeTimer timer(out_.seconds.dissect);
      const FractureGeometry::State& state = geometry_.cracked();
      const uint32_t vertex = vertexAt(state, at);
      if (vertex == kNoIndex) return refined;
      const std::vector<double> values = crackValues(state.mesh.mesh, function);
      double area = 0;
      const std::vector<Mark> marks =
          markCrack(state.mesh, state.cells, state.links, values, vertex, mostArea, &area);
      std::vector<uint32_t> chosen;
      if (settings_.refineCracks && settings_.cycles > 0 && round < int(settings_.cycles) + 1)
        for (const Mark& mark : marks)
          if (tooLong(state, mark.tet)) chosen.push_back(state.slots[mark.tet]);
      if (!chosen.empty()) {
        const ScopeTimer refining(out_.seconds.refine);
        if (geometry_.refine(chosen)) {
          refined = true;
          continue;
        }
      }
      if (marks.empty()) return refined;
      for (const Mark& mark : marks) crack.marks.push_back(state.planned(mark));
      energy -= area * material_.surfaceEnergy;
      out_.cracks.push_back({crack.id, at, stress.direction, step_ * dynamics_.step, stress.value, area});
      break;
    }
    geometry_.add(std::move(crack));
    functions_.push_back(function);
    ++nextCrack_;
    return refined;
  }

  // Whether a crack of this impact cuts a tetrahedron that has a vertex at the place.
  bool besideACrack(const Vec3& at) {
    const CrackedMesh& mesh = geometry_.cracked().mesh;
    for (size_t t = 0; t < mesh.size(); ++t)
      if (!mesh.cuts[t].empty() && mesh.cuts[t].back().surface >= firstCrack_)
        for (const uint32_t v : mesh.mesh.tets[t])
          if (mesh.mesh.positions[v] == at) return true;
    return false;
  }

  // The copy of the vertex at a place of which something is there.
  static uint32_t vertexAt(const FractureGeometry::State& state, const Vec3& at) {
    for (uint32_t t = 0; t < state.mesh.size(); ++t)
      for (size_t i = 0; i < 4; ++i) {
        const uint32_t v = state.mesh.mesh.tets[t][i];
        if (state.mesh.mesh.positions[v] != at) continue;
        if (state.mesh.cuts[t].empty()) return v;
        for (const CutCell::Corner& c : state.cells[t].corners)
          if (c.weights[i] == 1) return v;
      }
    return kNoIndex;
  }

  void healSplinters(FractureGeometry& geometry) {
    const Healing healing = heal(geometry, settings_.leastPart);
    out_.tinyParts = healing.healed;
    out_.splinters = healing.left;
  }

  // The cracks again, on the body's own tetrahedra.
  void finishCoarse() {
    FractureGeometry coarse(geometry_.body());
    {
      const ScopeTimer timer(out_.seconds.dissect);
      for (size_t k = 0; k < functions_.size(); ++k) {
        const FractureGeometry::State& state = coarse.cracked();
        const Vec3& seed = out_.cracks[k].seed;
        std::vector<uint32_t> around;
        for (uint32_t t = 0; t < state.mesh.size(); ++t)
          if (reaches(state, t, seed)) around.push_back(t);
        const double most = settings_.arrest ? out_.cracks[k].area : Box3::kInfinity;
        const std::vector<Mark> marks =
            markCrack(state.mesh, state.cells, state.links, crackValues(state.mesh.mesh, functions_[k]), seed,
                      around, most);
        if (marks.empty()) continue;
        PlannedCrack crack{out_.cracks[k].id, 0, {}};
        for (const Mark& mark : marks) crack.marks.push_back(state.planned(mark));
        coarse.add(std::move(crack));
      }
    }
    const ScopeTimer timer(out_.seconds.partition);
    healSplinters(coarse);
    out_.plan = coarse.cracks();
    if (out_.plan.empty()) return;
    out_.broken = brokenBody(coarse.cracked());
    out_.broken->tinyParts = out_.tinyParts;
  }

  // Whether the place is in or at the tetrahedron.
  static bool reaches(const FractureGeometry::State& state, uint32_t t, const Vec3& at) {
    constexpr double kSlack = 0.02;
    const auto p = state.mesh.corners(t);
    Mat3 m;
    m << p[1] - p[0], p[2] - p[0], p[3] - p[0];
    const Vec3 w = m.inverse() * (at - p[0]);
    return w.minCoeff() > -kSlack && w.sum() < 1 + kSlack;
  }

  void finish() {
    if (!settings_.finePieces) {
      if (!geometry_.cracks().empty()) finishCoarse();
      return;
    }
    if (geometry_.cracks().empty()) {
      out_.pieces.push_back(geometry_.body());
      return;
    }
    if (settings_.coarsen) {
      const ScopeTimer timer(out_.seconds.coarsen);
      geometry_.coarsen();
    }
    {
      const ScopeTimer timer(out_.seconds.dissect);
      geometry_.cracked();
    }
    const ScopeTimer timer(out_.seconds.partition);
    healSplinters(geometry_);
    if (geometry_.cracks().empty()) {
      out_.pieces.push_back(geometry_.body());
      return;
    }
    out_.broken = brokenBody(geometry_.cracked());
    for (MeshPart& part : splitParts(out_.broken->cracked, out_.broken->piece, out_.broken->pieces))
      out_.pieces.push_back(std::move(part.mesh));
  }

  AdaptiveFracture& tools_;
  const BrittleMaterial& material_;
  std::span<const Impact> impacts_;
  const FractureSettings& settings_;
  double leastEdge_;
  uint32_t& nextCrack_;
  uint32_t firstCrack_ = nextCrack_;
  FractureGeometry geometry_;
  FractureGeometry::State live_;  // what is analysed
  fem::DynamicsSettings dynamics_;
  std::vector<Pulse> pulses_;
  std::vector<ContactPatch> contactPatches_;
  std::vector<fem::NodalForce> forces_;
  std::vector<CrackFunction> functions_;  // of the cracks
  std::vector<Vec3> u_, v_;
  geometry::Rows neighbours_;
  std::vector<char> torn_;
  std::vector<fem::Stress> elements_;
  double largest_ = 0;
  uint32_t step_ = 0;
  Work progress_{"striking", 0, "tetrahedron steps"};
  size_t inserted_ = 0;
  FractureOutcome out_;
};

bool AdaptiveFracture::hopeless(const Box3& bounds, double mass, const BrittleMaterial& material,
                                const Impact& impact, const Vec3& centre, const FractureSettings& settings) {
  if (!std::isfinite(material.strength)) return true;
  if (!(settings.trigger > 0)) return false;
  const double radius = 0.5 * bounds.diagonal();
  const ContactSide struck{mass, material.elastic.young, material.elastic.poisson,
                           std::max((impact.point - centre).norm(), 0.01 * radius)};
  const double duration = contactDuration(settings.contact, struck, impact.other, impact.speed);
  Vec3 extent = bounds.extent();
  std::sort(extent.begin(), extent.end());
  // Hollow bodies have less than their box across.
  const double across = std::min(extent[0] * extent[1], mass / (material.elastic.density * extent[2]));
  return impact.impulse.norm() < settings.trigger * material.strength * across * duration;
}

FractureOutcome AdaptiveFracture::strike(const CrackedMesh& body, const BrittleMaterial& material,
                                         std::span<const Impact> impacts, const FractureSettings& settings,
                                         double edge, uint32_t& nextCrack) {
  requireValid(material);
  if (settings.steps == 0 || !(edge > 0))
    throw Error(ErrorKind::Usage, "an analysis needs at least one step and an edge length above 0");
  if (body.size() == 0) throw Error(ErrorKind::Geometry, "a body with no tetrahedra cannot break");
  for (const Impact& impact : impacts)
    if (!impact.point.allFinite() || !impact.impulse.allFinite() || !std::isfinite(impact.speed))
      throw Error(ErrorKind::Usage, "an impact has a number that is not finite");
  if (impacts.empty() || !std::isfinite(material.strength)) {
    FractureOutcome unchanged;
    if (settings.finePieces) unchanged.pieces.push_back(body);
    unchanged.tets = unchanged.refinedTets = body.size();
    return unchanged;
  }
  return FractureRun(*this, body, material, impacts, settings, edge, nextCrack).run();
}

}  // namespace sunder::fracture
