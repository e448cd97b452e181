#include "bench/rigid_pile.h"

#include <memory>

#ifdef SUNDER_HAS_BULLET_DYNAMICS
#include <btBulletDynamicsCommon.h>
#endif

namespace sunder::bench {

#ifdef SUNDER_HAS_BULLET_DYNAMICS

namespace {

class BulletPile : public PileEngine {
 public:
  explicit BulletPile(const PileScene& scene)
      : dispatcher_(&configuration_), world_(&dispatcher_, &broadphase_, &solver_, &configuration_) {
    world_.setGravity(btVector3(0, btScalar(-9.81), 0));
    world_.getSolverInfo().m_numIterations = 10;
    for (const PileScene::Body& wall : scene.walls) add(wall, 0, scene.friction);
    for (const PileScene::Body& box : scene.boxes) add(box, 8000 * box.half.prod(), scene.friction);
    first_ = scene.walls.size();
  }
  ~BulletPile() override {
    for (const auto& body : bodies_) world_.removeRigidBody(body.get());
  }

  void step() override { world_.stepSimulation(btScalar(1.0 / 60), 0); }

  std::vector<rigid::Pose> poses() const override {
    std::vector<rigid::Pose> poses;
    for (size_t i = first_; i < bodies_.size(); ++i) {
      const btTransform& t = bodies_[i]->getWorldTransform();
      const btQuaternion q = t.getRotation();
      poses.push_back({Vec3(t.getOrigin().x(), t.getOrigin().y(), t.getOrigin().z()),
                       Quat(q.w(), q.x(), q.y(), q.z()).normalized()});
    }
    return poses;
  }

  size_t contacts() const override {
    size_t count = 0;
    for (int i = 0; i < dispatcher_.getNumManifolds(); ++i)
      count += size_t(
          const_cast<btCollisionDispatcher&>(dispatcher_).getManifoldByIndexInternal(i)->getNumContacts());
    return count;
  }

 private:
  void add(const PileScene::Body& body, double mass, double friction) {
    const auto f = [](double x) { return static_cast<btScalar>(x); };
    const btVector3 half(f(body.half.x()), f(body.half.y()), f(body.half.z()));
    shapes_.push_back(std::make_unique<btBoxShape>(half));
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shapes_.back()->calculateLocalInertia(f(mass), inertia);
    const Quat& q = body.pose.rotation;
    const Vec3& p = body.pose.position;
    motions_.push_back(std::make_unique<btDefaultMotionState>(btTransform(
        btQuaternion(f(q.x()), f(q.y()), f(q.z()), f(q.w())), btVector3(f(p.x()), f(p.y()), f(p.z())))));
    btRigidBody::btRigidBodyConstructionInfo info(f(mass), motions_.back().get(), shapes_.back().get(),
                                                  inertia);
    info.m_friction = f(friction);
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
  }

  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_;
  std::vector<std::unique_ptr<btBoxShape>> shapes_;
  std::vector<std::unique_ptr<btDefaultMotionState>> motions_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  size_t first_ = 0;
};

}  // namespace

PileEngine* makeBulletPile(const PileScene& scene) { return new BulletPile(scene); }

#else

PileEngine* makeBulletPile(const PileScene&) { return nullptr; }

#endif

}  // namespace sunder::bench
