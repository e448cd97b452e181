// Soft bodies for recordings, and their state as bytes.
#include "sunder/base/bytes.h"
#include "sunder/world/parts/soft_part.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::world {

namespace {

// Positions are rounded to this part of the size of a body.
constexpr double kResolution = 1e-5;

// Von Mises' equivalent of a Cauchy stress: in pure tension the tension.
double equivalentStress(const Mat3& stress) {
  const Mat3 shear = stress - stress.trace() / 3 * Mat3::Identity();
  return std::sqrt(1.5) * shear.norm();
}

}  // namespace

// At each vertex of the motion the mean of its tetrahedra, by their volumes at rest.
std::vector<float> SoftPart::vertexStresses() const {
  const size_t tets = solid_.tets().size();
  std::vector<Mat3> stresses(tets), rotations(tets);
  solid_.stresses(motion_.positions(), stresses, rotations);
  std::vector<double> sums(motion_.vertices(), 0), volumes(motion_.vertices(), 0);
  for (size_t t = 0; t < tets; ++t) {
    const double volume = solid_.elements()[t].volume, stress = equivalentStress(stresses[t]);
    for (const uint32_t v : solid_.tets()[t]) {
      sums[v] += volume * stress;
      volumes[v] += volume;
    }
  }
  std::vector<float> out(sums.size(), 0);
  for (size_t v = 0; v < sums.size(); ++v)
    if (volumes[v] > 0) out[v] = static_cast<float>(sums[v] / volumes[v]);
  return out;
}

record::BodyEntry SoftPart::body(uint32_t local) const {
  const SoftBodySpec& spec = scene_.softBodies[local];
  record::BodyEntry entry;
  entry.name = spec.id;
  entry.material = scene_.materials[spec.material].name;
  entry.kind = record::BodyKind::Deformable;
  for (const uint32_t v : bodies_[local].vertices) entry.mass += solid_.masses()[v];
  return entry;
}

record::MeshEntry SoftPart::mesh(uint32_t local, Ledger&) {
  const BuiltSoft& built = *built_[local / 2];
  if (local % 2 == 1) return built.surface;
  record::MeshEntry cage;
  cage.name = "cage of " + built.surface.name;
  for (const Vec3& p : built.cage.rest.positions) cage.positions.push_back(p.cast<float>());
  cage.tets = built.cage.rest.tets;
  return cage;
}

// The meshes of the scene's shapes have the numbers of the shapes.
std::optional<record::Embedding> SoftPart::embedding(uint32_t local) const {
  if (local % 2 == 0) return {};
  record::Embedding embedding = built_[local / 2]->embedding;
  embedding.cage = meshOf_[local / 2];
  embedding.surface = embedding.cage + 1;
  embedding.source = shapeOf_[local / 2];
  return embedding;
}

void SoftPart::states(const PartBodies& bodies, std::span<record::BodyState> out) const {
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    Vec3 momentum = Vec3::Zero();
    double mass = 0;
    for (const uint32_t v : bodies_[b].vertices) {
      momentum += solid_.masses()[v] * motion_.velocities()[v];
      mass += solid_.masses()[v];
    }
    record::BodyState& state = out[bodies.number(b)];
    state.present = bodies_[b].present;
    state.velocity = (momentum / mass).cast<float>();
  }
}

void SoftPart::points(const PartBodies& bodies, std::vector<record::BodyPoints>& out) const {
  const bool stressed = scene_.recording.stressField;
  const std::vector<float> stresses = stressed ? vertexStresses() : std::vector<float>();
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    record::BodyPoints points;
    points.body = bodies.number(b);
    points.resolution = static_cast<float>(kResolution * bodies_[b].built->size);
    for (const uint32_t v : bodies_[b].vertices)
      points.positions.push_back(motion_.positions()[v].cast<float>());
    if (stressed) {
      record::PointField field{"stress", 1, {}};
      for (const uint32_t v : bodies_[b].vertices) field.values.push_back(stresses[v]);
      points.fields.push_back(std::move(field));
    }
    out.push_back(std::move(points));
  }
}

void SoftPart::statistics(std::vector<record::Statistic>& out) const {
  const auto number = [](uint64_t value) { return static_cast<double>(value); };
  out.push_back({"soft.vertices", number(motion_.vertices())});
  out.push_back({"soft.iterations", number(report_.last.iterations)});
  out.push_back({"soft.residual", report_.last.residual});
  out.push_back({"soft.energy.elastic", report_.last.elastic});
  out.push_back({"soft.contacts", number(contacts_.report().contacts)});
  out.push_back({"soft.splits", number(report_.splits)});
  out.push_back({"soft.energy.torn", bonds_.spent()});
  if (boundary_) out.push_back({"soft.liquid.force", boundary_->force().norm()});
}

void SoftPart::addTotals(Totals& totals) const {
  const Vec3& gravity = scene_.world.simulation.gravity;
  totals.energy.kinetic += motion_.kineticEnergy();
  totals.energy.potential += report_.last.elastic;
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    if (!bodies_[b].present) continue;
    ++totals.awake;
    for (const uint32_t v : bodies_[b].vertices)
      totals.energy.potential -=
          solid_.masses()[v] * scene_.softBodies[b].gravityScale * gravity.dot(motion_.positions()[v]);
  }
  totals.contacts += contacts_.report().contacts;
  totals.mostContacts += report_.mostContacts;
}

void SoftPart::save(ByteWriter& out) const {
  for (const Body& body : bodies_) {
    out.u8(body.present);
    body.torn.save(out);
    for (size_t v = body.built->cage.rest.positions.size(); v < body.vertices.size(); ++v)
      out.u32(body.vertices[v]);
  }
  motion_.save(out);
  contacts_.save(out);
  attachments_.save(out);
  bonds_.save(out);
  around_.save(out);
  if (boundary_) boundary_->save(out);
  for (const uint64_t number :
       {report_.steps, report_.splits, report_.mostContacts, report_.missed, report_.missedContacts})
    out.u64(number);
  out.f64(report_.last.elastic);
}

void SoftPart::load(ByteReader& in, StepContext& context) {
  if (context.bodies.count() != bodies_.size()) in.fail("the table has other soft bodies");
  uint32_t rest = 0;
  for (const Body& body : bodies_) rest += geometry::u32(body.built->cage.rest.positions.size());
  std::vector<uint32_t> owners(bodyOf_.begin(), bodyOf_.begin() + rest);
  uint32_t added = 0;
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];
    const uint8_t present = in.u8("whether a soft body is there");
    if (present > 1) in.fail("a soft body is neither there nor gone");
    body.present = present != 0;
    contacts_.setPresent(b, body.present);
    if (boundary_) boundary_->setPresent(b, body.present);
    body.torn.load(in);
    const size_t first = body.built->cage.rest.positions.size();
    body.vertices.resize(body.torn.vertices());
    added += geometry::u32(body.vertices.size() - first);
    for (size_t v = first; v < body.vertices.size(); ++v) {
      body.vertices[v] = in.u32("vertex of a tear");
      if (body.vertices[v] < rest || body.vertices[v] - rest > 4 * solid_.tets().size())
        in.fail(fmt::format("a tear made vertex {}", body.vertices[v]));
      if (owners.size() <= body.vertices[v]) owners.resize(body.vertices[v] + 1, kNoIndex);
      if (owners[body.vertices[v]] != kNoIndex) in.fail("two tears made one vertex");
      owners[body.vertices[v]] = b;
    }
  }
  if (owners.size() != rest + added) in.fail("a vertex belongs to no tear");
  bodyOf_ = std::move(owners);
  motion_.load(in);
  if (motion_.vertices() != bodyOf_.size()) in.fail("the motion has other vertices than the tears");
  for (const Body& body : bodies_)
    for (size_t t = 0; t < body.torn.tets().size(); ++t)
      for (int k = 0; k < 4; ++k)
        if (solid_.tets()[body.firstTet + t][k] != body.vertices[body.torn.tets()[t][k]])
          in.fail("the motion and the tears disagree on a corner");
  pins_.clear();
  giveCorners();
  contacts_.load(in);
  attachments_.load(in);
  bonds_.load(in);
  around_.load(in, context.bodies.all().size());
  if (boundary_) boundary_->load(in);
  for (uint64_t* number :
       {&report_.steps, &report_.splits, &report_.mostContacts, &report_.missed, &report_.missedContacts})
    *number = in.u64("number of soft bodies");
  report_.last = {};
  report_.last.elastic = in.boundedF64("elastic energy");
}

}  // namespace sunder::world
