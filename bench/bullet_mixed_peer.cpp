#include "sunder/base/stopwatch.h"

#include "rigid_mixed.h"

#ifdef SUNDER_HAS_BULLET_DYNAMICS

#include <algorithm>
#include <memory>

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <HACD/hacdHACD.h>
#include <btBulletDynamicsCommon.h>

namespace sunder::bench {

namespace {

btVector3 toBullet(const Vec3& v) { return {btScalar(v.x()), btScalar(v.y()), btScalar(v.z())}; }

struct BulletShape {
  std::vector<std::unique_ptr<btCollisionShape>> owned;
  std::unique_ptr<btTriangleMesh> mesh;
  btCollisionShape* shape = nullptr;
};

// Parts that HACD finds with the settings its demonstration uses: concavity 100, at least 2 parts, 100
// corners each.
BulletShape hulls(const geometry::TriMesh& mesh) {
  std::vector<HACD::Vec3<HACD::Real>> points;
  std::vector<HACD::Vec3<long>> triangles;
  for (const Vec3& p : mesh.positions) points.emplace_back(p.x(), p.y(), p.z());
  for (const geometry::Triangle& t : mesh.triangles)
    triangles.emplace_back(long(t[0]), long(t[1]), long(t[2]));
  HACD::HACD hacd;
  hacd.SetPoints(points.data());
  hacd.SetNPoints(points.size());
  hacd.SetTriangles(triangles.data());
  hacd.SetNTriangles(triangles.size());
  hacd.SetCompacityWeight(0.1);
  hacd.SetVolumeWeight(0.0);
  hacd.SetNClusters(2);
  hacd.SetNVerticesPerCH(100);
  hacd.SetConcavity(100);
  hacd.SetAddExtraDistPoints(false);
  hacd.SetAddNeighboursDistPoints(false);
  hacd.SetAddFacesPoints(false);
  hacd.Compute();
  BulletShape result;
  auto compound = std::make_unique<btCompoundShape>();
  for (size_t c = 0; c < hacd.GetNClusters(); ++c) {
    std::vector<HACD::Vec3<HACD::Real>> corners(hacd.GetNPointsCH(c));
    std::vector<HACD::Vec3<long>> faces(hacd.GetNTrianglesCH(c));
    hacd.GetCH(c, corners.data(), faces.data());
    auto hull = std::make_unique<btConvexHullShape>();
    for (const auto& p : corners) hull->addPoint({btScalar(p.X()), btScalar(p.Y()), btScalar(p.Z())}, false);
    hull->recalcLocalAabb();
    hull->setMargin(0.002f);
    compound->addChildShape(btTransform::getIdentity(), hull.get());
    result.owned.push_back(std::move(hull));
  }
  result.shape = compound.get();
  result.owned.push_back(std::move(compound));
  return result;
}

BulletShape gimpact(const geometry::TriMesh& mesh) {
  BulletShape result;
  result.mesh = std::make_unique<btTriangleMesh>();
  for (const geometry::Triangle& t : mesh.triangles)
    result.mesh->addTriangle(toBullet(mesh.positions[t[0]]), toBullet(mesh.positions[t[1]]),
                             toBullet(mesh.positions[t[2]]));
  auto shape = std::make_unique<btGImpactMeshShape>(result.mesh.get());
  shape->setMargin(0.002f);
  shape->updateBound();
  result.shape = shape.get();
  result.owned.push_back(std::move(shape));
  return result;
}

}  // namespace

PeerPile runBullet(const MixedScene& scene, BulletMesh kind, double timeStep, int warm, int steps) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  if (kind == BulletMesh::Gimpact) btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, btScalar(-9.81), 0});
  world.getSolverInfo().m_numIterations = 10;
  std::vector<BulletShape> shapes;
  for (const MixedScene::Kind& k : scene.kinds)
    shapes.push_back(kind == BulletMesh::Gimpact ? gimpact(k.mesh) : hulls(k.coarse));
  std::vector<std::unique_ptr<btCollisionShape>> walls;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  for (const auto& [half, centre] : scene.tray()) {
    walls.push_back(std::make_unique<btBoxShape>(toBullet(half)));
    bodies.push_back(std::make_unique<btRigidBody>(0, nullptr, walls.back().get()));
    bodies.back()->setWorldTransform(btTransform(btQuaternion::getIdentity(), toBullet(centre)));
  }
  for (const MixedScene::Body& b : scene.bodies) {
    const MixedScene::Kind& k = scene.kinds[b.kind];
    const Vec3 inertia = k.solid->principalInertia() * scene.density;
    bodies.push_back(std::make_unique<btRigidBody>(btScalar(k.solid->mass().volume * scene.density), nullptr,
                                                   shapes[b.kind].shape, toBullet(inertia)));
    const Quat& q = b.pose.rotation;
    bodies.back()->setWorldTransform(
        btTransform(btQuaternion(btScalar(q.x()), btScalar(q.y()), btScalar(q.z()), btScalar(q.w())),
                    toBullet(b.pose.position)));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
  }
  for (const auto& b : bodies) {
    b->setFriction(btScalar(scene.friction));
    world.addRigidBody(b.get());
  }
  PeerPile result;
  for (int s = 0; s < warm; ++s) world.stepSimulation(btScalar(timeStep), 0);
  const Stopwatch watch;
  for (int s = 0; s < steps; ++s) world.stepSimulation(btScalar(timeStep), 0);
  result.secondsPerStep = watch.seconds() / std::max(steps, 1);
  for (int m = 0; m < dispatcher.getNumManifolds(); ++m)
    result.contacts += size_t(dispatcher.getManifoldByIndexInternal(m)->getNumContacts());
  for (size_t i = kTrayBodies; i < bodies.size(); ++i) {
    const btTransform& t = bodies[i]->getWorldTransform();
    const btQuaternion q = t.getRotation();
    rigid::Pose pose;
    pose.position = Vec3(t.getOrigin().x(), t.getOrigin().y(), t.getOrigin().z());
    pose.rotation = Quat(q.w(), q.x(), q.y(), q.z()).normalized();
    result.poses.push_back(pose);
  }
  for (const auto& b : bodies) world.removeRigidBody(b.get());
  return result;
}

}  // namespace sunder::bench

#endif
