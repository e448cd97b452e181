#include "sunder/world/parts/breakage.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/fracture/crack/crack_change.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/spatial/query/triangle_distance.h"
#include "sunder/tet/box_tets.h"
#include "sunder/tet/revolved_tets.h"
#include "sunder/tet/solid_fill.h"
#include "sunder/tet/stuffing.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

namespace sunder::world {

namespace {

using rigid::BodyIndex;

struct Size {
  double longest = 0, thickness = 0;  // sides of the box around it; twice the volume by the area

  // Lattices would need tetrahedra much shorter than the body.
  bool thin() const { return 1.2 * thickness < longest / 12; }
};

Size sizeOf(const geometry::TriMesh& surface) {
  double area = 0;
  for (const auto& t : surface.triangles) area += geometry::triangleArea(surface.positions, t);
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

// Throws Error (Geometry) where the tetrahedra are not the whole body and the edge was `given`.
geometry::TetMesh filled(const BuiltShape& built, double edge, bool given) {
  if (built.shape->kind() == rigid::ShapeKind::Box) return tet::boxTets(built.shape->localBounds(), edge);
  const geometry::TriMesh& surface = built.shape->surface();
  if (filledExactly(built)) {
    const tet::SolidSize size{std::abs(geometry::massProperties(surface).volume), 1};
    return tet::fillSolid([&](double e) { return tet::revolvedTets(*built.loft, e); }, size, edge, !given)
        .mesh;
  }
  const sdf::MeshField field(surface);
  const auto fill = [&](double e) {
    tet::FillReport report;
    return tet::fill(field, {.edge = e, .sharp = true}, report);
  };
  return tet::fillSolid(fill, tet::solidSize(field, surface, edge), edge, !given).mesh;
}

fracture::BrittleMaterial materialOf(const Scene& scene, const BodySpec& body) {
  const FractureSpec& spec = *body.fracture;
  const Material material = fractureMaterial(scene, body);
  const auto need = [&](double known, const char* what) {
    if (known > 0) return;
    std::string brittle;
    for (const Material& m : material::presets())
      if (m.strength > 0) brittle += (brittle.empty() ? "" : ", ") + m.name;
    throw scene.document
        .error(spec.pointer, fmt::format("the material \"{}\" has no {} that is known", material.name, what))
        .hint(
            fmt::format("give \"{}\" in the material, or take one that has it or is like one that has it: {}",
                        what, brittle));
  };
  need(material.young, "young");
  need(material.strength, "strength");
  const fracture::BrittleMaterial out = fracture::brittleMaterial(material);
  try {
    fracture::requireValid(out);
  } catch (const Error& error) {
    throw scene.document.error(spec.pointer, error.message()).hint(error.hint());
  }
  return out;
}

}  // namespace

Breakage::Breakage(const Scene& scene, const std::vector<BuiltShape>& shapes)
    : scene_(scene), sceneBodies_(uint32_t(scene.bodies.size())) {
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
  const auto pool = std::make_shared<fracture::AnalysisPool>();
  Work work("bodies that may break", scene.bodies.size(), "bodies");
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
    work.set(b);
    const BodySpec& body = scene.bodies[b];
    if (!body.fracture) continue;
    const FractureSpec& spec = *body.fracture;
    Object object;
    object.body = b;
    fracture::BrittleMaterial material;
    if (spec.sites == 0) material = materialOf(scene, body);
    object.density = material.elastic.density;
    const geometry::TriMesh& surface = shapes[body.shape].shape->surface();
    const double edge = edgeOf(spec, shapes[body.shape]);
    auto found = std::find_if(known.begin(), known.end(),
                              [&](const Known& k) { return k.shape == body.shape && k.edge == edge; });
    if (found == known.end()) {
      try {
        geometry::TetMesh tets = filled(shapes[body.shape], edge, spec.edge > 0);
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
    object.leastVolume = spec.leastPart * found->whole.shape->mass().volume;
    if (spec.sites > 0) {
      object.model = fracture::makeVoronoiModel({.sites = spec.sites,
                                                 .impulse = spec.impulse,
                                                 .focus = spec.focus,
                                                 .seed = scene.world.seed * 1000003 + b,
                                                 .mostCracks = spec.mostCracks});
    } else {
      fracture::FractureSettings settings;
      settings.finePieces = false;
      settings.everyStress = false;
      settings.refineCracks = false;
      settings.cycles = spec.cycles;
      settings.arrest = spec.arrest;
      settings.mostCracks = spec.mostCracks;
      if (spec.noise > 0) settings.noise = {spec.noise, 3 * found->rest->edge(), b + 1};
      object.model = fracture::makeStressModel(material, settings, pool);
    }
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

void Breakage::listen(rigid::Simulation& simulation) const {
  for (const auto& [body, piece] : pieces_) simulation.listen(BodyIndex(body));
}

void Breakage::reset() {
  pieces_ = wholes_;
  spawned_.clear();
  breaks_.clear();
  changes_.clear();
  shown_.clear();
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

geometry::TopologyChange Breakage::sinceStart() const {
  geometry::TopologyChange all;
  all.kind = geometry::ChangeKind::Crack;
  for (const BreakRecord& record : changes_) all = geometry::compose(all, record.change);
  return all;
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
  parallelFor(
      made.size(),
      [&](size_t p) { surfaces[p] = fracture::surfaceOf(made[p].mesh, made[p].cells, made[p].links); }, 1);
  const uint32_t first = broken.pieces > 1 ? simulation.bodyCount() : record.body;
  BreakRecord& change = changes_.emplace_back();
  change.frame = record.frame;
  change.body = record.body;
  change.firstPiece = first;
  change.change = fracture::crackChange(
      parent.record, {parent.fragment.shape->surface(), parent.faceCrack, parent.faceTet}, made, surfaces);
  stage.emplace("update");
  const std::vector<geometry::BodySources> sources = geometry::sourcesByBody(change.change);
  std::vector<fracture::FragmentPart> parts;
  for (uint32_t p = 0; p < broken.pieces; ++p)
    parts.push_back(
        {made[p].mesh, made[p].cells, sources[p].tets, sources[p].vertices, std::move(surfaces[p].mesh)});
  std::vector<fracture::Fragment> fragments =
      fracture::breakFragment(parent.fragment, parts, object.nextFragment);
  stage.reset();

  std::vector<Piece> pieces;
  for (uint32_t p = 0; p < broken.pieces; ++p)
    pieces.push_back({parent.object, std::make_shared<const fracture::CrackedMesh>(std::move(made[p].mesh)),
                      std::move(fragments[p]), parent.pose, change.change.appeared[p].body, surfaces[p].crack,
                      surfaces[p].tet});
  if (broken.pieces == 1) {
    // Cracked, but in one piece: it moves as before, in the shape that it has.
    pieces_.at(record.body) = std::move(pieces[0]);
    ++object.nextFragment;
  } else {
    note(change, broken, pieces);
    spawn(simulation, change, pieces);
    if (observer) observer(change, simulation);
    const BodyIndex old(record.body);
    moveJoints(simulation, old, first);
    pieces_.erase(record.body);
    simulation.removeBody(old);
  }
}

// For whoever looks: what broke and into what.
void Breakage::note(const BreakRecord& change, fracture::BrokenBody& broken, std::span<const Piece> pieces) {
  const Piece& parent = pieces_.at(change.body);
  ShownBreak broke;
  broke.fine = objects_[parent.object].fine;
  broke.parent = pieceNumber(change.body);
  broke.frame = change.frame;
  for (const Piece& piece : pieces) {
    ShownBreak::Coarse& coarse = broke.coarse.emplace_back(ShownBreak::Coarse{piece.fragment.shape, {}});
    for (const uint32_t crack : piece.faceCrack) coarse.interior.push_back(crack != kNoIndex);
  }
  if (broke.fine) {
    const std::span<const uint32_t> tets = parent.fragment.field->rootTets(),
                                    vertices = parent.fragment.field->rootVertices();
    broke.mesh = std::move(broken.cracked.mesh);
    broke.tetSource = std::move(broken.cracked.tetSource);
    broke.vertexSource = std::move(broken.cracked.vertexSource);
    broke.piece = std::move(broken.piece);
    for (uint32_t& t : broke.tetSource) t = tets[t];
    for (uint32_t& v : broke.vertexSource) v = vertices[v];
  }
  shown_.add(std::move(broke));
}

void Breakage::spawn(rigid::Simulation& simulation, const BreakRecord& change, std::span<Piece> pieces) {
  const Piece& parent = pieces_.at(change.body);
  Object& object = objects_[parent.object];
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
    simulation.listen(added);
    spawned_.push_back(
        {change.body, object.body, change.frame, body.name, body.shape, simulation.mass(added)});
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
