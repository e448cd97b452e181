#include "sunder/world/breakage.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/fem/material.h"
#include "sunder/fracture/crack_change.h"
#include "sunder/fracture/voronoi.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/spatial/triangle_distance.h"
#include "sunder/tet/box_tets.h"
#include "sunder/tet/revolved_tets.h"
#include "sunder/tet/stuffing.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

namespace sunder::world {

namespace {

using rigid::BodyIndex;

constexpr double kSlowest = 0.05;  // m/s: what touches more slowly rests
constexpr double kWeakest = 0.02;  // of the strongest impulse on a body: others do not count

struct Size {
  double longest = 0, thickness = 0;  // sides of the box around it; twice the volume by the area

  // Lattices would need tetrahedra much shorter than the body.
  bool thin() const { return 1.2 * thickness < longest / 12; }
};

Size sizeOf(const geometry::TriMesh& surface) {
  double area = 0;
  for (const auto& t : surface.triangles)
    area += 0.5 * (surface.positions[t[1]] - surface.positions[t[0]])
                      .cross(surface.positions[t[2]] - surface.positions[t[0]])
                      .norm();
  return {geometry::bounds(surface.positions).extent().maxCoeff(),
          2 * std::abs(geometry::massProperties(surface).volume) / area};
}

// Boxes and vessels are filled exactly: their tetrahedra have no other surface than the shape. Solid bodies
// of revolution have better tetrahedra in a lattice, which knows no axis.
bool filledExactly(const BuiltShape& built) {
  return built.shape->kind() == rigid::ShapeKind::Box ||
         (built.loft && sizeOf(built.shape->surface()).thin());
}

// Tetrahedra as long as a twelfth of the longest side, or as the walls are thick unless they are turned.
double edgeOf(const FractureSpec& spec, const BuiltShape& built) {
  if (spec.edge > 0) return spec.edge;
  const Size size = sizeOf(built.shape->surface());
  return size.thin() && !built.loft ? 1.2 * size.thickness : size.longest / 12;
}

geometry::TetMesh filled(const BuiltShape& built, double edge) {
  if (built.shape->kind() == rigid::ShapeKind::Box) return tet::boxTets(built.shape->localBounds(), edge);
  if (filledExactly(built)) return tet::revolvedTets(*built.loft, edge);
  tet::FillReport report;
  return tet::fill(sdf::MeshField(built.shape->surface()), {.edge = edge, .sharp = true}, report);
}

fracture::BrittleMaterial materialOf(const Scene& scene, const BodySpec& body) {
  const FractureSpec& spec = *body.fracture;
  const Material& material = scene.materials[body.material];
  const std::optional<fem::ElasticPreset> preset = fem::elasticPreset(material.name);
  fracture::BrittleMaterial out;
  const auto pick = [&](const std::optional<double>& given, double known, const char* what) {
    if (given) return *given;
    if (preset && known > 0) return known;
    throw scene.document
        .error(spec.pointer, fmt::format("the material \"{}\" has no {} that is known", material.name, what))
        .hint(fmt::format(
            "give \"{}\" here, or take glass, porcelain, concrete, plaster, limestone, granite, brick "
            "or ice",
            what));
  };
  out.elastic.young = pick(spec.young, preset ? preset->young : 0, "young");
  out.elastic.poisson = spec.poisson.value_or(preset ? preset->poisson : 0.22);
  out.elastic.density = material.density;
  out.strength = pick(spec.strength, preset ? preset->strength : 0, "strength");
  out.surfaceEnergy =
      spec.surfaceEnergy.value_or(preset && preset->surfaceEnergy > 0 ? preset->surfaceEnergy : 10);
  try {
    fracture::requireValid(out);
  } catch (const Error& error) {
    throw scene.document.error(spec.pointer, error.message()).hint(error.hint());
  }
  return out;
}

fracture::ContactSide sideOf(const rigid::Simulation& simulation, const Scene& scene, BodyIndex body,
                             const Vec3& point, std::span<const SpawnedBody> spawned) {
  fracture::ContactSide side;
  if (!body.valid()) return side;
  uint32_t origin = body.value;
  if (origin >= scene.bodies.size()) origin = spawned[origin - scene.bodies.size()].origin;
  if (const auto preset = fem::elasticPreset(scene.materials[scene.bodies[origin].material].name)) {
    side.young = preset->young;
    side.poisson = preset->poisson;
  }
  if (simulation.kind(body) != rigid::BodyKind::Dynamic) return side;
  side.mass = simulation.mass(body);
  side.radius = std::max((simulation.centre(body) - point).norm(), 1e-3);
  return side;
}

}  // namespace

Breakage::Breakage(const Scene& scene, const std::vector<BuiltShape>& shapes) : scene_(scene) {
  struct Known {
    uint32_t shape;
    double edge;
    fracture::RestMeshPtr rest;
    fracture::Fragment whole;
    std::shared_ptr<const fracture::CrackedMesh> mesh;
    fracture::CrackedSurface surface;
    std::shared_ptr<const fracture::FineSurface> fine = nullptr;
    bool fineTried = false;
  };
  std::vector<Known> known;
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
    const BodySpec& body = scene.bodies[b];
    if (!body.fracture) continue;
    const FractureSpec& spec = *body.fracture;
    Object object;
    object.body = b;
    if (spec.sites == 0) object.material = materialOf(scene, body);
    const geometry::TriMesh& surface = shapes[body.shape].shape->surface();
    const double edge = edgeOf(spec, shapes[body.shape]);
    auto found = std::find_if(known.begin(), known.end(),
                              [&](const Known& k) { return k.shape == body.shape && k.edge == edge; });
    if (found == known.end()) {
      try {
        geometry::TetMesh tets = filled(shapes[body.shape], edge);
        if (tets.tets.empty())
          throw Error(ErrorKind::Geometry,
                      fmt::format("no tetrahedron of edge {:.3g} m fits into the body", edge))
              .hint("give a smaller \"edge\"");
        std::shared_ptr<const fracture::RestMesh> rest;
        if (shapes[body.shape].shape->kind() == rigid::ShapeKind::Box) {
          const sdf::FieldPtr exact = sdf::makeBoxField(shapes[body.shape].shape->localBounds());
          rest = std::make_shared<const fracture::RestMesh>(std::move(tets), exact);
        } else {
          const rigid::ShapePtr solid = rigid::makeSolid(geometry::boundarySurface(tets).surface);
          rest = std::make_shared<const fracture::RestMesh>(std::move(tets), solid);
        }
        const auto mesh = std::make_shared<const fracture::CrackedMesh>(rest->mesh());
        const std::vector<fracture::CutCell> cells(mesh->size());
        known.push_back({body.shape, edge, rest, fracture::makeWhole(rest), mesh,
                         fracture::surfaceOf(*mesh, cells, fracture::linksOf(*mesh, cells))});
      } catch (const Error& error) {
        throw scene.document.error(spec.pointer, error.message()).hint(error.hint());
      }
      found = known.end() - 1;
    }
    object.rest = found->rest;
    if (spec.fine && !filledExactly(shapes[body.shape])) {
      if (!found->fineTried) {
        found->fineTried = true;
        try {
          found->fine = std::make_shared<const fracture::FineSurface>(surface, found->rest->edge());
        } catch (const Error&) {  // what it costs is said below
        }
      }
      object.fine = found->fine;
      report_.coarse += !object.fine;
    }
    object.settings.finePieces = false;
    object.settings.everyStress = false;
    object.settings.refineCracks = false;
    object.settings.cycles = spec.cycles;
    object.settings.arrest = spec.arrest;
    object.leastVolume = spec.leastPart * found->whole.shape->mass().volume;
    object.settings.mostCracks = spec.mostCracks;
    if (spec.noise > 0) object.settings.noise = {spec.noise, 3 * found->rest->edge(), b + 1};
    Piece& whole = wholes_[b] = {uint32_t(objects_.size()), found->mesh, found->whole, {}, {}, {}, {}};
    whole.faceCrack = found->surface.crack;
    whole.faceTet = found->surface.tet;
    whole.record = {b, uint32_t(whole.mesh->mesh.positions.size()), uint32_t(whole.faceTet.size()),
                    uint32_t(whole.mesh->size())};
    objects_.push_back(std::move(object));
  }
  pieces_ = wholes_;
}

rigid::ShapePtr Breakage::wholeShape(uint32_t body) const {
  const auto found = wholes_.find(body);
  return found == wholes_.end() ? nullptr : found->second.fragment.shape;
}

const geometry::TriMesh& Breakage::wholeSurface(uint32_t body) const {
  const Piece& piece = wholes_.at(body);
  const auto& fine = objects_[piece.object].fine;
  return fine ? fine->whole().mesh : piece.fragment.shape->surface();
}

void Breakage::reset() {
  pieces_ = wholes_;
  spawned_.clear();
  breaks_.clear();
  changes_.clear();
  for (Object& object : objects_) object.nextCrack = object.nextFragment = 1;
}

void Breakage::watch(const rigid::Simulation& simulation) {
  for (auto& [body, piece] : pieces_)
    if (simulation.exists(BodyIndex(body))) piece.pose = simulation.pose(BodyIndex(body));
}

double Breakage::leastPart(const Piece& piece) const {
  const double part = objects_[piece.object].leastVolume / piece.fragment.shape->mass().volume;
  return part > 0.25 ? 1 : part;
}

std::vector<fracture::Blow> Breakage::blowsOn(uint32_t body, const Piece& piece,
                                              const rigid::Simulation& simulation) const {
  std::vector<fracture::Blow> blows;
  double fastest = 0, strongest = 0;
  for (const rigid::ContactEvent& event : simulation.events())
    if (event.a.value == body || event.b.value == body) {
      fastest = std::max(fastest, event.approach);
      strongest = std::max(strongest, event.impulse);
    }
  if (fastest < kSlowest) return blows;
  // What it rests on pushes back while it is struck: without that, plates would not bend.
  for (const rigid::ContactEvent& event : simulation.events()) {
    if (event.a.value != body && event.b.value != body) continue;
    if (event.impulse < kWeakest * strongest) continue;
    const bool second = event.b.value == body;
    fracture::Blow blow;
    blow.point = piece.pose.localPoint(event.point);
    blow.impulse = piece.pose.localDirection((second ? 1 : -1) * event.impulse * event.normal);
    blow.speed = fastest;
    blow.other = sideOf(simulation, scene_, second ? event.a : event.b, event.point, spawned_);
    blows.push_back(blow);
  }
  return blows;
}

geometry::TopologyChange Breakage::sinceStart() const {
  geometry::TopologyChange all;
  all.kind = geometry::ChangeKind::Crack;
  for (const BreakRecord& record : changes_) all = geometry::compose(all, record.change);
  return all;
}

std::span<const BreakRecord> Breakage::act(rigid::Simulation& simulation, uint64_t frame) {
  if (simulation.events().empty()) return {};
  const ProfileScope scope("fracture");
  const size_t known = changes_.size();
  // Pieces that appear now have not been hit; breaking changes the events, so all blows are gathered first.
  std::vector<std::pair<uint32_t, std::vector<fracture::Blow>>> hit;
  for (const auto& [body, piece] : pieces_) {
    if (!simulation.exists(BodyIndex(body)) || leastPart(piece) >= 1) continue;
    std::vector<fracture::Blow> blows = blowsOn(body, piece, simulation);
    if (blows.empty()) continue;
    const Object& object = objects_[piece.object];
    const rigid::Shape& shape = *piece.fragment.shape;
    const double mass = simulation.mass(BodyIndex(body));
    const FractureSpec& spec = *scene_.bodies[object.body].fracture;
    const bool strong = std::any_of(blows.begin(), blows.end(), [&](const fracture::Blow& blow) {
      if (spec.sites > 0) return body < scene_.bodies.size() && blow.impulse.norm() >= spec.impulse;
      return !fracture::AdaptiveFracture::hopeless(shape.localBounds(), mass, object.material, blow,
                                                   shape.mass().centre, object.settings);
    });
    if (strong) hit.emplace_back(body, std::move(blows));
  }
  for (const auto& [body, blows] : hit) {
    const FractureSpec& spec = *scene_.bodies[objects_[pieces_.at(body).object].body].fracture;
    report_.breaks += spec.sites > 0 ? breakByCells(simulation, body, blows, frame)
                                     : breakByStress(simulation, body, blows, frame);
  }
  return std::span(changes_).subspan(known);
}

bool Breakage::refuse(uint32_t body, const Error& error) {
  // A body that is too finely cut or too thin to be analysed is no reason to stop everything else; wrong use
  // is.
  if (error.kind() != ErrorKind::Limit && error.kind() != ErrorKind::Numerical &&
      error.kind() != ErrorKind::Geometry)
    throw error;
  const size_t own = scene_.bodies.size();
  if (report_.refused++ == 0)
    report_.refusal = fmt::format("{}: {}", body < own ? scene_.bodies[body].id : spawned_[body - own].name,
                                  error.message());
  return false;
}

bool Breakage::breakByStress(rigid::Simulation& simulation, uint32_t body,
                             std::span<const fracture::Blow> blows, uint64_t frame) {
  const Piece& piece = pieces_.at(body);
  const Object& object = objects_[piece.object];
  uint32_t next = object.nextCrack;
  fracture::FractureOutcome outcome;
  {
    const ProfileScope analysis("analysis");
    fracture::FractureSettings settings = object.settings;
    settings.leastPart = leastPart(piece);
    try {
      outcome = fracture_.strike(*piece.mesh, object.material, blows, settings, object.rest->edge(), next);
    } catch (const Error& error) {
      return refuse(body, error);
    }
  }
  ++report_.analyses;
  report_.seconds.add(outcome.seconds);
  report_.cracks += outcome.cracks.size();
  report_.tinyParts += outcome.tinyParts;
  if (!outcome.broken) return false;
  // Cracks that separate nothing would add up from blow to blow; only where cracks may stop are they kept.
  if (outcome.broken->pieces == 1 && !object.settings.arrest) return false;
  breaks_.push_back({body, frame, next, outcome.plan, {}});
  replace(simulation, breaks_.back(), std::move(*outcome.broken), observer_);
  return true;
}

bool Breakage::breakByCells(rigid::Simulation& simulation, uint32_t body,
                            std::span<const fracture::Blow> blows, uint64_t frame) {
  const Piece& piece = pieces_.at(body);
  const Object& object = objects_[piece.object];
  const FractureSpec& spec = *scene_.bodies[object.body].fracture;
  const auto strongest = std::max_element(blows.begin(), blows.end(), [](const auto& a, const auto& b) {
    return a.impulse.squaredNorm() < b.impulse.squaredNorm();
  });
  std::optional<ProfileScope> analysis("analysis");
  const std::vector<Vec3> sites = fracture::voronoiSites(
      *piece.mesh, spec.sites, scene_.world.seed * 1000003 + object.body, strongest->point, spec.focus);
  if (sites.size() < 2) return false;
  uint32_t next = object.nextCrack;
  fracture::BrokenBody broken;
  try {
    broken = fracture::voronoiPieces(*piece.mesh, sites, leastPart(piece), next);
  } catch (const Error& error) {
    return refuse(body, error);
  }
  analysis.reset();
  report_.cracks += next - object.nextCrack;
  report_.tinyParts += broken.tinyParts;
  breaks_.push_back({body, frame, next, {}, sites});
  replace(simulation, breaks_.back(), std::move(broken), observer_);
  return true;
}

void Breakage::replace(rigid::Simulation& simulation, const Break& record, fracture::BrokenBody broken,
                       const BreakObserver& observer) {
  const Piece parent = pieces_.at(record.body);
  Object& object = objects_[parent.object];
  object.nextCrack = record.nextCrack;
  // Stages as the literature has them: what makes pieces belongs to the fracture, what lets them touch is
  // the update.
  std::optional<ProfileScope> stage("pieces");
  fracture::Dissection& cracked = broken.cracked;
  std::vector<fracture::MeshPart> made =
      fracture::splitParts({cracked.mesh, std::move(cracked.cells), std::move(cracked.links),
                            cracked.vertexSource, cracked.tetSource},
                           broken.piece, broken.pieces);
  std::vector<fracture::CrackedSurface> surfaces(broken.pieces);
  for (uint32_t p = 0; p < broken.pieces; ++p)
    surfaces[p] = fracture::surfaceOf(made[p].mesh, made[p].cells, made[p].links);
  const uint32_t first = broken.pieces > 1 ? simulation.bodyCount() : record.body;
  changes_.push_back({record.frame, record.body, first,
                      fracture::crackChange(
                          parent.record, {parent.fragment.shape->surface(), parent.faceCrack, parent.faceTet},
                          made, surfaces)});
  const BreakRecord& change = changes_.back();
  stage.emplace("update");
  const std::vector<geometry::BodySources> sources = geometry::sourcesByBody(change.change);
  std::vector<fracture::FragmentPart> parts;
  for (uint32_t p = 0; p < broken.pieces; ++p)
    parts.push_back({made[p].mesh, made[p].cells, sources[p].tets, sources[p].vertices, surfaces[p].mesh});
  std::vector<fracture::Fragment> fragments =
      fracture::breakFragment(parent.fragment, parts, object.nextFragment);
  stage.reset();

  std::vector<Piece> pieces;
  for (uint32_t p = 0; p < broken.pieces; ++p)
    pieces.push_back({parent.object, std::make_shared<const fracture::CrackedMesh>(std::move(made[p].mesh)),
                      std::move(fragments[p]), parent.pose, change.change.appeared[p].body, surfaces[p].crack,
                      surfaces[p].tet, parent.coarse});
  if (broken.pieces == 1) {
    // Cracked, but in one piece: it moves as before, in the shape that it has.
    pieces_.at(record.body) = std::move(pieces[0]);
    ++object.nextFragment;
  } else {
    spawn(simulation, change, broken, pieces, surfaces);
    if (observer) observer(change, simulation);
    const BodyIndex old(record.body);
    moveJoints(simulation, old, first);
    pieces_.erase(record.body);
    simulation.removeBody(old);
  }
}

std::vector<fracture::FinePiece> Breakage::shownPieces(const BreakRecord& change,
                                                       const fracture::BrokenBody& broken,
                                                       std::span<Piece> pieces,
                                                       std::span<const fracture::CrackedSurface> surfaces) {
  const ProfileScope stage("fine surfaces");
  const Piece& parent = pieces_.at(change.body);
  const Object& object = objects_[parent.object];
  const fracture::FinePiece* whole = object.fine ? &object.fine->whole() : nullptr;
  if (whole && change.body >= scene_.bodies.size())
    whole = &spawned_[change.body - scene_.bodies.size()].shown;
  std::vector<fracture::FinePiece> shown(pieces.size());
  if (whole && !parent.coarse) {  // pieces of what is coarse are as well
    const std::span<const uint32_t> tets = parent.fragment.field->rootTets(),
                                    vertices = parent.fragment.field->rootVertices();
    std::vector<uint32_t> tetSource(broken.cracked.tetSource), vertexSource(broken.cracked.vertexSource);
    for (uint32_t& t : tetSource) t = tets[t];
    for (uint32_t& v : vertexSource) v = vertices[v];
    shown = object.fine->split(*whole,
                               {broken.cracked.mesh, tetSource, vertexSource, broken.piece, broken.pieces});
  }
  for (size_t p = 0; p < pieces.size(); ++p) {
    if (!shown[p].mesh.triangles.empty()) continue;
    shown[p].mesh = pieces[p].fragment.shape->surface();
    shown[p].interior.clear();
    for (const uint32_t crack : surfaces[p].crack) shown[p].interior.push_back(crack != kNoIndex);
    pieces[p].coarse = true;
    report_.coarse += whole != nullptr;
  }
  return shown;
}

void Breakage::spawn(rigid::Simulation& simulation, const BreakRecord& change,
                     const fracture::BrokenBody& broken, std::span<Piece> pieces,
                     std::span<const fracture::CrackedSurface> surfaces) {
  const Piece& parent = pieces_.at(change.body);
  Object& object = objects_[parent.object];
  std::vector<fracture::FinePiece> shown = shownPieces(change, broken, pieces, surfaces);
  const BodyIndex old(change.body);
  const BodySpec& spec = scene_.bodies[object.body];
  const rigid::Pose pose = simulation.pose(old);
  const Vec3 centre = simulation.centre(old), velocity = simulation.velocity(old),
             spin = simulation.angularVelocity(old);
  // A mass that was given stays in proportion.
  const double density = simulation.mass(old) / parent.fragment.shape->mass().volume;
  for (size_t p = 0; p < pieces.size(); ++p) {
    rigid::BodySettings body = bodySettings(scene_, spec);
    body.shape = pieces[p].fragment.shape;
    body.mass.reset();
    body.pose = pose;
    body.velocity = velocity + spin.cross(pose.point(body.shape->mass().centre) - centre);
    body.angularVelocity = spin;
    body.density = density;
    // Splinters that found no neighbour to stay with fly on but touch nothing: contacts with next to no mass
    // would throw them about.
    if (body.shape->mass().volume < object.leastVolume) {
      body.mask = 0;
      ++report_.splinters;
    }
    body.name = fmt::format("{}.{}", spec.id, object.nextFragment + p);
    const BodyIndex added = simulation.addBody(body);
    spawned_.push_back({change.body, object.body, change.frame, body.name, body.shape, simulation.mass(added),
                        std::move(shown[p])});
    pieces[p].pose = pose;
    pieces_[added.value] = std::move(pieces[p]);
  }
  object.nextFragment += uint32_t(pieces.size());
}

void Breakage::moveJoints(rigid::Simulation& simulation, BodyIndex old, uint32_t firstPiece) const {
  for (uint32_t j = 0; j < simulation.jointCount(); ++j) {
    const rigid::JointIndex joint(j);
    if (simulation.joint(joint).a != old && simulation.joint(joint).b != old) continue;
    const Vec3 anchor = simulation.jointAnchor(joint, old);
    // The piece that has it; else, for anchors beside the body, the nearest.
    uint32_t best = firstPiece;
    double nearest = Box3::kInfinity;
    for (uint32_t b = firstPiece; b < simulation.bodyCount(); ++b) {
      const fracture::Fragment& fragment = pieces_.at(b).fragment;
      double distance = 0;
      if (!fragment.field->holds(anchor)) {
        distance = Box3::kInfinity;
        const geometry::TriMesh& surface = fragment.shape->surface();
        for (const auto& [p, q, r] : surface.triangles)
          distance =
              std::min(distance, (spatial::closestPointOnTriangle(anchor, surface.positions[p],
                                                                  surface.positions[q], surface.positions[r])
                                      .point -
                                  anchor)
                                     .squaredNorm());
      }
      if (distance < nearest) {
        nearest = distance;
        best = b;
      }
    }
    simulation.moveJoint(joint, old, BodyIndex(best));
  }
}

}  // namespace sunder::world
