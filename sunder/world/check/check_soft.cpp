#include "sunder/world/check/check_soft.h"

#include "sunder/base/text.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/world/build/cost_parts.h"
#include "sunder/world/build/cost_soft.h"
#include "sunder/world/build/shape_library.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kSpheresATet = 3;        // at least: three points rest on a plane
constexpr double kMostCrossed = 300;      // tetrahedra that a wave may cross in a step
constexpr double kMostSurface = 50'000;   // triangles of a surface whose inside is asked for
constexpr double kMostAskedTets = 5'000;  // of a cage that is looked at for empty ones
constexpr int kDivisions = 3;             // of a tetrahedron that may be empty, each into eight

// The solid that a shape is; nothing where that takes long to tell.
sdf::FieldPtr solidField(const Scene& scene, const ShapeSpec& spec, const ShapeSize& size) {
  if (const auto* sphere = std::get_if<SphereShape>(&spec.value))
    return sdf::makeSphereField(Vec3::Zero(), sphere->radius);
  if (const auto* box = std::get_if<BoxShape>(&spec.value))
    return sdf::makeBoxField({-0.5 * box->size, 0.5 * box->size});
  if (const auto* capsule = std::get_if<CapsuleShape>(&spec.value))
    return sdf::makeCapsuleField(Vec3(0, -0.5 * capsule->length, 0), Vec3(0, 0.5 * capsule->length, 0),
                                 capsule->radius);
  if (const auto* formula = std::get_if<FieldShape>(&spec.value)) return formula->field;
  const auto* shape = std::get_if<MeshShape>(&spec.value);
  if (!shape || shape->hull || size.triangles > kMostSurface) return nullptr;
  return std::make_shared<const sdf::MeshField>(sourceMeshAt(scene, spec, *shape));
}

using Corners = std::array<Vec3, 4>;

// Whether nothing of the solid is in the tetrahedron, for sure: balls around it and its parts are all
// outside.
bool isEmpty(const sdf::Field& field, double steepness, const Corners& c, int divisions) {
  const Vec3 centre = (c[0] + c[1] + c[2] + c[3]) / 4;
  double radius = 0;
  for (const Vec3& corner : c) radius = std::max(radius, (corner - centre).norm());
  const double distance = field.value(centre) / steepness;
  if (distance > radius) return true;
  if (distance <= 0 || divisions == 0) return false;
  const auto middle = [&](int i, int j) { return Vec3((c[size_t(i)] + c[size_t(j)]) / 2); };
  const Vec3 a = middle(0, 1), b = middle(0, 2), d = middle(0, 3), e = middle(1, 2), f = middle(1, 3),
             g = middle(2, 3);
  for (const Corners& part :
       {Corners{c[0], a, b, d}, Corners{a, c[1], e, f}, Corners{b, e, c[2], g}, Corners{d, f, g, c[3]},
        Corners{a, b, d, f}, Corners{a, b, e, f}, Corners{b, d, f, g}, Corners{b, e, f, g}})
    if (!isEmpty(field, steepness, part, divisions - 1)) return false;
  return true;
}

class SoftCheck {
 public:
  SoftCheck(const Scene& scene, std::span<const ShapeSize> sizes, const SoftBodySpec& body,
            CheckReport& report)
      : scene_(scene),
        body_(body),
        shape_(sizes[body.shape]),
        size_(softSize(body.soft, shape_)),
        material_(softMaterial(scene, body)),
        report_(report) {}

  void run() {
    if (!body_.soft.cage.empty()) readCage();
    if (!failed_) {
      checkSpheres();
      checkStep();
      checkStrength();
      checkHolds();
    }
  }

 private:
  void find(bool error, const std::string& text) {
    failed_ |= error;
    report_.findings.push_back({error, "body " + body_.id, text});
  }

  void readCage() {
    const std::string& file = body_.soft.cage;
    meshio::MeshFile read;
    try {
      read = meshio::readMesh(file);
    } catch (const Error& error) {
      return find(true, error.what());
    }
    geometry::TetMesh& cage = read.volume;
    if (cage.tets.empty()) return find(true, fmt::format("the cage {} holds no tetrahedra", file));
    if (const auto* mesh = std::get_if<MeshShape>(&scene_.shapes[body_.shape].value))
      for (Vec3& p : cage.positions) p *= mesh->scale;
    size_.tets = double(cage.tets.size());
    size_.edge = std::cbrt(geometry::totalVolume(cage) / size_.tets / kRegularVolume);
    if (cage.tets.size() > kMostTets)
      return find(true, fmt::format("the cage {} has {} tetrahedra, and {} are possible; a surface keeps its "
                                    "detail in a coarse one",
                                    file, cage.tets.size(), kMostTets));
    const geometry::TetReport found = geometry::tetReport(cage);
    if (found.degenerate > 0)
      return find(true, fmt::format("{} tetrahedra of the cage {} are flat, the first is number {}",
                                    found.degenerate, file, found.firstDegenerate.front()));
    if (!read.turnedTets.empty())
      find(false, fmt::format("{} tetrahedra of the cage {} are inverted and get turned, the first is number "
                              "{}",
                              read.turnedTets.size(), file, read.turnedTets.front()));
    Box3 around;
    for (const auto& tet : cage.tets)
      for (const uint32_t v : tet) around.grow(cage.positions[v]);
    const double beyond = std::max((shape_.bounds.upper - around.upper).maxCoeff(),
                                   (around.lower - shape_.bounds.lower).maxCoeff());
    if (!shape_.bounds.empty() && beyond > 0)
      return find(true, fmt::format("the cage {} does not reach around the shape: {:.3g} m of it stick out",
                                    file, beyond));
    vertices_ = cage.positions;
    findEmpty(cage);
  }

  void findEmpty(const geometry::TetMesh& cage) {
    if (double(cage.tets.size()) > kMostAskedTets) return;
    const sdf::FieldPtr field = solidField(scene_, scene_.shapes[body_.shape], shape_);
    if (!field) return;
    size_t count = 0, first = 0;
    for (size_t t = 0; t < cage.tets.size(); ++t) {
      const geometry::Tetrahedron& tet = cage.tets[t];
      const Corners corners{cage.positions[tet[0]], cage.positions[tet[1]], cage.positions[tet[2]],
                            cage.positions[tet[3]]};
      if (isEmpty(*field, shape_.steepness, corners, kDivisions) && count++ == 0) first = t;
    }
    if (count > 0)
      find(false, fmt::format("{} of the {} tetrahedra of the cage {} hold nothing of the shape and are left "
                              "out, the first is number {}",
                              count, cage.tets.size(), body_.soft.cage, first));
  }

  void checkSpheres() {
    if (!(body_.soft.spheres > 0) || !(shape_.volume > 0)) return;
    const double each = size_.tried / std::max(1.0, size_.tets);
    if (each >= kSpheresATet) return;
    const double better = std::cbrt(shape_.volume / std::max(1.0, size_.tets) / kSpheresATet);
    find(false, fmt::format("has about {:.2g} collision spheres in each tetrahedron, too few to rest on; "
                            "\"spheres\" of {} would do",
                            each, twoDigitsDown(better)));
  }

  void checkStep() {
    const fem::ElasticMaterial elastic = fem::elasticMaterial(material_);
    const double step = scene_.world.simulation.timeStep;
    const double fibre = body_.soft.fibreYoung;
    const double speed = std::sqrt((elastic.young + fibre) / elastic.density);
    const double crossed = speed * step / size_.edge;
    if (!(crossed > kMostCrossed)) return;
    find(false, fmt::format(
                    "is so stiff that a wave crosses {:.0f} of its tetrahedra in a time step of {:.2g} s: it "
                    "will hardly move, and slowly to compute; a rigid body does as well, or a \"young\" "
                    "below {}",
                    crossed, step, twoDigitsDown(elastic.young * std::pow(kMostCrossed / crossed, 2))));
  }

  void checkStrength() {
    const Vec3 gravity = body_.gravityScale * scene_.world.simulation.gravity;
    if (!body_.soft.tear || shape_.bounds.empty() || !(gravity.norm() > 0)) return;
    const double height = startBox(body_.pose, shape_).extent().dot(gravity.normalized().cwiseAbs());
    const double weight = material_.density * gravity.norm() * height;
    if (material_.strength < weight)
      find(false,
           fmt::format("tears under its own weight if it hangs: its strength is {:.2g} Pa, and {:.2g} m "
                       "of it weigh {:.2g} Pa",
                       material_.strength, height, weight));
  }

  void checkHolds() {
    for (size_t i = 0; i < body_.soft.pins.size(); ++i) checkBox("pin", i, body_.soft.pins[i].box);
    for (size_t i = 0; i < body_.soft.attach.size(); ++i) checkBox("glue", i, body_.soft.attach[i].box);
  }

  // Of a cage that is not there yet, vertices lie about as far out as its tetrahedra are large.
  void checkBox(const char* what, size_t number, const Box3& box) {
    bool holds = shape_.bounds.empty();
    if (!vertices_.empty()) {
      holds = std::any_of(vertices_.begin(), vertices_.end(), [&](const Vec3& v) { return box.contains(v); });
    } else if (!holds) {
      const Vec3 around = Vec3::Constant(size_.edge);
      holds = overlap(box, Box3{shape_.bounds.lower - around, shape_.bounds.upper + around});
    }
    if (!holds)
      find(false,
           fmt::format("{} {} holds nothing: no vertex of the cage is in its box; it counts from the "
                       "shape, which reaches from ({:.3g}, {:.3g}, {:.3g}) to ({:.3g}, {:.3g}, {:.3g})",
                       what, number + 1, shape_.bounds.lower.x(), shape_.bounds.lower.y(),
                       shape_.bounds.lower.z(), shape_.bounds.upper.x(), shape_.bounds.upper.y(),
                       shape_.bounds.upper.z()));
  }

  static constexpr double kRegularVolume = 0.1179;  // of a tetrahedron with edges of length 1

  const Scene& scene_;
  const SoftBodySpec& body_;
  const ShapeSize& shape_;
  SoftSize size_;
  const Material material_;
  CheckReport& report_;
  std::vector<Vec3> vertices_;  // of a cage from a file
  bool failed_ = false;
};

}  // namespace

void checkSoftBodies(const Scene& scene, std::span<const ShapeSize> sizes, CheckReport& report) {
  std::set<std::pair<std::string, uint32_t>> seen;
  for (const SoftBodySpec& body : scene.softBodies)
    if (seen.insert({body.pointer, body.shape}).second) SoftCheck(scene, sizes, body, report).run();
}

}  // namespace sunder::world
