// Rigid bodies for recordings, and their state as bytes.
#include "sunder/base/bytes.h"
#include "sunder/base/hash.h"
#include "sunder/world/parts/rigid_part.h"

#include <fmt/core.h>

namespace sunder::world {

namespace {

using rigid::BodyIndex;

record::BodyKind recordKind(rigid::BodyKind kind) {
  switch (kind) {
    case rigid::BodyKind::Static:
      return record::BodyKind::Static;
    case rigid::BodyKind::Kinematic:
      return record::BodyKind::Kinematic;
    case rigid::BodyKind::Dynamic:
      break;
  }
  return record::BodyKind::Dynamic;
}

}  // namespace

record::BodyEntry RigidPart::body(uint32_t local) const {
  const BodySpec& spec = scene_.bodies[breakage_.originOf(local)];
  record::BodyEntry body;
  body.material = scene_.materials[spec.material].name;
  body.kind = recordKind(spec.kind);
  if (const std::optional<uint32_t> number = breakage_.pieceNumber(local)) {
    const SpawnedBody& piece = breakage_.spawned()[*number];
    body.name = piece.name;
    body.mass = piece.mass;
  } else {
    body.name = spec.id;
    body.ground = spec.kind == rigid::BodyKind::Static &&
                  std::holds_alternative<PlaneShape>(scene_.shapes[spec.shape].value);
    body.mass = spec.kind == rigid::BodyKind::Dynamic ? simulation_.mass(BodyIndex(local)) : 0;
  }
  return body;
}

const fracture::FinePiece& RigidPart::shownPiece(uint32_t piece, Ledger& ledger) {
  ShownPieces& shown = breakage_.shown();
  shown.finish();
  for (const uint64_t frame : shown.coarseSince(shownBreaks_)) ledger.add(kCoarsePieces, 1, frame);
  shownBreaks_ = std::max<uint64_t>(shownBreaks_, shown.finished());
  return shown.piece(piece);
}

record::MeshEntry RigidPart::mesh(uint32_t local, Ledger& ledger) {
  record::MeshEntry mesh;
  const geometry::TriMesh* surface = nullptr;
  const auto [of, index] = meshes_[local];
  if (of == ShownMesh::Of::Shape) {
    mesh.name = shapeTitle(scene_.shapes[index]);
    surface = &shapes_[index].shape->surface();
    mesh.interior = shapes_[index].interior;
  } else if (of == ShownMesh::Of::Whole) {
    mesh.name = scene_.bodies[index].id;
    surface = &breakage_.wholeSurface(index);
  } else {
    const fracture::FinePiece& looks = shownPiece(index, ledger);
    mesh.name = breakage_.spawned()[index].name;
    surface = &looks.mesh;
    mesh.interior = looks.interior;
  }
  for (const Vec3& p : surface->positions) mesh.positions.push_back(p.cast<float>());
  mesh.triangles = surface->triangles;
  return mesh;
}

void RigidPart::states(const PartBodies& bodies, std::span<record::BodyState> out) const {
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) {
    const BodyIndex body(i);
    if (!simulation_.exists(body)) continue;
    const rigid::Pose pose = simulation_.pose(body);
    out[bodies.number(i)] = {pose.position.cast<float>(), pose.rotation.cast<float>(),
                             simulation_.velocity(body).cast<float>(),
                             simulation_.angularVelocity(body).cast<float>(), true};
  }
}

void RigidPart::fields(const PartBodies& bodies, std::vector<record::BodyField>& out) const {
  const size_t count = bodies.all().size();
  if (scene_.recording.impulseField) {
    record::BodyField field{"impulse", std::vector<float>(count)};
    for (const rigid::ContactView& contact : simulation_.contacts())
      for (const BodyIndex body : {contact.a, contact.b})
        if (body.valid())
          field.values[bodies.number(body.value)] += static_cast<float>(contact.impulse.norm());
    out.push_back(std::move(field));
  }
  if (scene_.recording.asleepField) {
    record::BodyField field{"asleep", std::vector<float>(count)};
    for (uint32_t i = 0; i < simulation_.bodyCount(); ++i)
      if (simulation_.exists(BodyIndex(i)) && !simulation_.awake(BodyIndex(i)))
        field.values[bodies.number(i)] = 1;
    out.push_back(std::move(field));
  }
}

void RigidPart::statistics(std::vector<record::Statistic>& out) const {
  const rigid::StepReport& report = simulation_.report();
  const rigid::Energy energy = simulation_.energy();
  const auto number = [](uint64_t value) { return static_cast<double>(value); };
  for (const record::Statistic& statistic : {record::Statistic{"energy.kinetic", energy.kinetic},
                                             {"energy.potential", energy.potential},
                                             {"bodies.awake", number(report.awake)},
                                             {"bodies.removed", number(removed_)},
                                             {"pairs", number(report.pairs)},
                                             {"contacts", number(report.contacts)},
                                             {"islands", number(report.islands)},
                                             {"depth.deepest", report.deepest},
                                             {"depth.mean", report.meanDepth}})
    out.push_back(statistic);
}

void RigidPart::addTotals(Totals& totals) const {
  const rigid::Energy energy = simulation_.energy();
  totals.energy.kinetic += energy.kinetic;
  totals.energy.potential += energy.potential;
  totals.awake += simulation_.report().awake;
  totals.contacts += simulation_.report().contacts;
  totals.mostContacts += mostContacts_;
}

void RigidPart::save(ByteWriter& out) const {
  out.u64(mostContacts_);
  out.u64(removed_);
  out.u64(shownBreaks_);
  breakage_.save(out);
  simulation_.save(out);
}

void RigidPart::load(ByteReader& in, StepContext& context) {
  const uint64_t most = in.u64("contacts"), removed = in.u64("removed bodies");
  const uint64_t shownBreaks = in.u64("breaks that were looked at");
  if (breakage_.any()) {
    breakage_.reset();
    simulation_ = rigid::Simulation(scene_.world.simulation);
    populate();
  }
  breakage_.load(in, simulation_);
  if (shownBreaks > breakage_.changes().size())
    in.fail(fmt::format("{} breaks were looked at, of {}", shownBreaks, breakage_.changes().size()));
  std::vector<uint32_t> broken;
  for (uint32_t b = 0; b < simulation_.bodyCount() && breakage_.any(); ++b)
    if (!simulation_.exists(BodyIndex(b))) broken.push_back(b);
  simulation_.load(in);
  for (const uint32_t b : broken)
    if (simulation_.exists(BodyIndex(b))) in.fail(fmt::format("body {} broke, but is still there", b));
  mostContacts_ = most;
  removed_ = removed;
  shownBreaks_ = shownBreaks;
  for (uint32_t j = 0; j < brokenJoints_.size(); ++j)
    brokenJoints_[j] = simulation_.jointState(rigid::JointIndex(j)).broken ? 1 : 0;

  // The table must know the same pieces.
  const BodyTable& table = context.bodies.all();
  if (context.bodies.count() != simulation_.bodyCount())
    in.fail(fmt::format("the table has {} rigid bodies, the state {}", context.bodies.count(),
                        simulation_.bodyCount()));
  std::erase_if(meshes_, [](const ShownMesh& mesh) { return mesh.of == ShownMesh::Of::Piece; });
  if (table.meshCountOf(context.bodies.part()) != meshes_.size() + breakage_.spawned().size())
    in.fail("the table has other meshes than the state");
  BodyChange born;
  for (uint32_t p = 0; p < breakage_.spawned().size(); ++p) {
    const SpawnedBody& piece = breakage_.spawned()[p];
    const uint32_t local = static_cast<uint32_t>(scene_.bodies.size()) + p;
    const BodyRow& row = table[context.bodies.number(local)];
    const bool fits = row.parent == context.bodies.number(piece.parent) && row.born == piece.born &&
                      row.mesh != kNoIndex && table.mesh(row.mesh).local == meshes_.size();
    if (!fits) in.fail(fmt::format("the table and the state disagree on piece {}", p));
    meshes_.push_back({ShownMesh::Of::Piece, p});
    born.appeared.push_back(context.bodies.number(local));
  }
  forces_ = scene_.forces;
  follow(born, context);
  publishAll(context, true);
}

// Not what was looked at so far: it does not change what comes.
void RigidPart::hash(Hasher& hasher) const {
  std::string breaks;
  ByteWriter writer(breaks);
  breakage_.save(writer);
  hasher.update(mostContacts_);
  hasher.update(removed_);
  hasher.update(simulation_.hash());
  hasher.updateSized(std::string_view(breaks));
}

}  // namespace sunder::world
