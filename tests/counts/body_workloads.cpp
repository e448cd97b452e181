#include "sunder/base/random.h"
#include "sunder/fem/body.h"
#include "sunder/fem/dynamics.h"
#include "sunder/fem/elements.h"
#include "sunder/fem/solver.h"
#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/fill.h"
#include "sunder/fluid/solver/fluid.h"
#include "sunder/fluid/surface/surface.h"
#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/fracture/model/voronoi.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/run_writer.h"
#include "sunder/rigid/contact/contact.h"
#include "sunder/rigid/shape/shape.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/stuffing.h"

#include "temporary_folder.h"
#include "workloads.h"

#include <memory>

namespace sunder::counts {

namespace {

geometry::TetMesh ball(double edge) {
  tet::FillReport report;
  return tet::fill(*sdf::makeSphereField(Vec3::Zero(), 1), {.edge = edge, .levels = 2}, report);
}

std::function<void()> fillBall() {
  return [] { use(ball(0.06).tets.size()); };
}

const fem::ElasticMaterial kGlass{7e10, 0.22, 2500};

std::function<void()> factorMatrix() {
  const auto body = std::make_shared<fem::ElasticBody>(ball(0.25), kGlass);
  return [body] {
    fem::BlockMatrix matrix;
    matrix.setPattern(body->pattern());
    fem::assemble(body->elements(), body->material(), 1, 1e-11, fem::MassKind::Lumped, matrix);
    const auto solver = fem::makeSolver({"block"});
    solver->factor(matrix);
    const std::vector<Vec3> b(body->vertices(), Vec3(1, 2, 3));
    std::vector<Vec3> x(b.size());
    for (int i = 0; i < 10; ++i) solver->solve(b, x);
    use(x[0].x() < 0);
  };
}

std::function<void()> breakBall() {
  const auto body = std::make_shared<fracture::CrackedMesh>(ball(0.15));
  return [body] {
    uint32_t nextCrack = 1;
    const std::vector<Vec3> sites = fracture::voronoiSites(*body, 20, 3);
    use(fracture::voronoiPieces(*body, sites, 1e-3, nextCrack).pieces);
  };
}

Quat randomTurn(RandomStream& random) {
  const double angle = random.uniform(0, 2 * kPi);
  return Quat(Eigen::AngleAxisd(angle, random.unitVector()));
}

// Bodies over the ground, in a grid with random turns.
std::shared_ptr<rigid::Simulation> heap(const std::vector<rigid::ShapePtr>& shapes, int side, int high) {
  rigid::SimulationSettings settings;
  settings.sleep = false;
  const auto world = std::make_shared<rigid::Simulation>(settings);
  rigid::BodySettings body;
  body.kind = rigid::BodyKind::Static;
  body.shape = rigid::makePlane();
  world->addBody(body);
  body.kind = rigid::BodyKind::Dynamic;
  RandomStream random(5);
  for (int i = 0; i < side * side * high; ++i) {
    body.shape = shapes[static_cast<size_t>(i) % shapes.size()];
    body.pose.position = Vec3(i % side, 0.6 + i / (side * side), i / side % side);
    body.pose.rotation = randomTurn(random);
    world->addBody(body);
  }
  return world;
}

std::function<void()> stepBoxes() {
  const auto world = heap({rigid::makeBox({0.4, 0.3, 0.45}), rigid::makeSphere(0.4)}, 5, 4);
  for (int i = 0; i < 60; ++i) world->step();
  return [world] {
    for (int i = 0; i < 30; ++i) world->step();
    use(world->report().contacts);
  };
}

rigid::ShapePtr ring() {
  const geometry::TriMesh mesh =
      shapes::makeShape("torus", {{"radius", "0.3"}, {"tube", "0.15"}, {"segments", "32"}, {"sides", "16"}});
  rigid::SolidSettings solid;
  solid.fieldError = 0.01;
  solid.surfacePoints = 200;
  return rigid::makeSolid(mesh, solid);
}

std::function<void()> stepRings() {
  const auto world = heap({ring()}, 3, 3);
  for (int i = 0; i < 40; ++i) world->step();
  return [world] {
    for (int i = 0; i < 20; ++i) world->step();
    use(world->report().contacts);
  };
}

// Two bodies at random poses that overlap or nearly do.
std::function<void()> findContacts() {
  const std::vector<rigid::ShapePtr> shapes{rigid::makeBox({0.5, 0.4, 0.3}), rigid::makeSphere(0.4),
                                            rigid::makeCapsule(0.4, 0.2), ring()};
  return [shapes] {
    RandomStream random(6);
    rigid::ContactScratch scratch;
    std::vector<rigid::Contact> contacts;
    for (size_t i = 0; i < 9000; ++i) {
      const rigid::Shape &a = *shapes[i % 4], &b = *shapes[i / 4 % 4];
      const Vec3 apart = 0.8 * random.unitVector();
      const rigid::Pose at{apart, randomTurn(random)}, origin{Vec3::Zero(), randomTurn(random)};
      rigid::PairMemory memory;
      rigid::findContacts(a, at, b, origin, 0.02, {}, memory, scratch, contacts);
    }
    use(contacts.size());
  };
}

constexpr double kRadius = 0.02;

std::shared_ptr<const fluid::DensityMap> tankMap(const Box3& tank) {
  Box3 domain = tank;
  domain.lower.array() -= 0.1;
  domain.upper.array() += 0.1;
  return std::make_shared<const fluid::DensityMap>(
      *sdf::makeBoxField(tank), domain,
      fluid::DensityMapSettings{.support = 4 * kRadius, .cell = 0, .offset = 0.5, .outside = true});
}

std::function<void()> makeMap() {
  return [] { use(tankMap({Vec3::Zero(), Vec3(0.06, 0.05, 0.04)})->bytes()); };
}

std::function<void()> stepLiquid() {
  fluid::FluidSettings settings;
  settings.radius = kRadius;
  const auto water = std::make_shared<fluid::Fluid>(settings);
  water->addPhase({});
  const double edge = 8 * 2 * kRadius;
  fluid::BoundaryBody body;
  body.map = tankMap({Vec3::Zero(), Vec3(2 * edge, 2 * edge, edge)});
  water->addBody(body);
  water->add(fluid::fillBox({Vec3::Zero(), Vec3::Constant(edge)}, 2 * kRadius), Vec3::Zero());
  water->relax();
  for (int i = 0; i < 5; ++i) water->step(0.002);
  return [water] {
    for (int i = 0; i < 20; ++i) water->step(0.002);
  };
}

std::function<void()> liquidSurface() {
  std::vector<Vec3> points = fluid::fillBox({Vec3::Zero(), Vec3::Constant(24 * kRadius)}, 2 * kRadius);
  RandomStream random(7);
  for (Vec3& p : points)
    for (int k = 0; k < 3; ++k) p[k] += random.uniform(-0.3, 0.3) * kRadius;
  return [points] { use(fluid::liquidSurface(points, {}, {.radius = kRadius}).mesh.triangles.size()); };
}

// Bodies that fly and turn, each frame written and read again.
std::function<void()> recordFrames() {
  RandomStream random(8);
  std::vector<std::vector<record::BodyState>> frames(40, std::vector<record::BodyState>(500));
  for (record::BodyState& s : frames[0]) {
    s.present = true;
    s.position = random.pointIn({Vec3(-1, 0, -1), Vec3(1, 2, 1)}).cast<float>();
    s.velocity = 3 * random.unitVector().cast<float>();
    s.rotation = randomTurn(random).cast<float>();
  }
  for (size_t f = 1; f < frames.size(); ++f)
    for (size_t b = 0; b < frames[f].size(); ++b) {
      record::BodyState& s = frames[f][b];
      s = frames[f - 1][b];
      s.velocity += 0.5f * random.unitVector().cast<float>();
      s.position += s.velocity / 60;
      const Quat turn(Eigen::AngleAxisd(0.1, random.unitVector()));
      s.rotation = (turn.cast<float>() * s.rotation).normalized();
    }
  const auto folder = std::make_shared<TemporaryFolder>();
  return [frames, folder] {
    const std::filesystem::path path = *folder / "run.sunder";
    {
      record::RunWriter writer(path, {"sunder_counts", "frames", "{}", 60});
      for (size_t b = 0; b < frames[0].size(); ++b)
        writer.addBody({"body", kNoIndex, "steel", kNoIndex, 1, record::BodyKind::Dynamic, 0});
      for (size_t f = 0; f < frames.size(); ++f)
        writer.frame(f, static_cast<double>(f) / 60, frames[f], {}, {}, {});
      writer.finish({record::EndKind::Finished, "", 1, "{}"});
    }
    const record::RunReader run(path);
    record::Frame frame;
    for (size_t i = 0; i < run.frameCount(); ++i) run.readFrame(i, frame);
    use(frame.bodies.size());
  };
}

}  // namespace

std::vector<Workload> bodyWorkloads() {
  return {{"tet/fill", fillBall},         {"fem/factor", factorMatrix}, {"fracture/voronoi", breakBall},
          {"rigid/boxes", stepBoxes},     {"rigid/rings", stepRings},   {"rigid/contacts", findContacts},
          {"fluid/map", makeMap},         {"fluid/step", stepLiquid},   {"fluid/surface", liquidSurface},
          {"record/frames", recordFrames}};
}

}  // namespace sunder::counts
