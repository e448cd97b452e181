#include "sunder/show/picture/path_tracer.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/stop.h"
#include "sunder/sdf/gradient_noise.h"
#include "sunder/show/corner_normals.h"
#include "sunder/show/picture/reflection.h"
#include "sunder/show/picture/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <new>

#include <embree3/rtcore.h>
#include <fmt/format.h>

namespace sunder::show {

namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();
constexpr size_t kTile = 16;
// Embree's builders square distances and add squares up; they refuse larger ones by assertions.
constexpr float kFarthest = 1e15f;
constexpr float kBroken = 0.85f;  // roughness of what broke

struct Hit {
  float distance = kFar;
  Vec3f place, geometric, shading;  // geometric: outwards
  const Look* look = nullptr;
  bool isGround = false;
  float mottle = 0;  // of an inside face; 0: it is none
  const SolidTexture* solid = nullptr;
  Vec3f rest = Vec3f::Zero();  // where the solid texture is asked
  bool within = false;         // an inside face
  bool found() const { return look != nullptr; }
};

float luminance(const Vec3f& c) { return 0.2126f * c.x() + 0.7152f * c.y() + 0.0722f * c.z(); }

// How light the inside of a broken body is at a point: grains of all sizes from a decimetre to a millimetre.
float mottled(const Vec3f& place) {
  double sum = 0, wave = 0.128;
  for (uint64_t octave = 0; octave < 7; ++octave, wave /= 2)
    sum += sdf::gradientNoise(place.cast<double>() / wave, octave).value;
  return float(std::clamp(0.86 + 0.16 * sum, 0.5, 1.1));
}

// Between three corners of a triangle.
Vec3f between(const Vec3f* corner, float u, float v) {
  return corner[0] * (1 - u - v) + corner[1] * u + corner[2] * v;
}

struct Release {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
  void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
  void operator()(RTCGeometry geometry) const { rtcReleaseGeometry(geometry); }
};
using DevicePtr = std::unique_ptr<RTCDeviceTy, Release>;
using ScenePtr = std::unique_ptr<RTCSceneTy, Release>;
using GeometryPtr = std::unique_ptr<RTCGeometryTy, Release>;

// Embree keeps the first error since the last question, for each thread.
void checkDevice(RTCDevice device) {
  const RTCError code = rtcGetDeviceError(device);
  if (code == RTC_ERROR_NONE) return;
  if (code == RTC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  throw Error(ErrorKind::Unsupported, fmt::format("Embree failed with its error {}", int(code)));
}

// What Embree's functions return: null after a failure.
template <class T>
T* made(RTCDevice device, T* pointer) {
  if (pointer) return pointer;
  checkDevice(device);
  throw std::bad_alloc();
}

float reachOf(const Vec3& place) { return float(place.cwiseAbs().maxCoeff()); }

[[noreturn]] void tooFar(const std::string& what) {
  throw Error(ErrorKind::Geometry, fmt::format("{} is farther than {:g} from the origin", what, kFarthest))
      .hint("pictures are traced in single precision; scale the scene, or move it to the origin");
}

// Filmic curve (Narkowicz 2015's fit of ACES) to sRGB.
Rgb develop(const Vec3f& light, float exposure) {
  Rgb pixel;
  for (int k = 0; k < 3; ++k) {
    const float x = std::max(0.0f, light[k] * exposure * 0.8f);
    const float y = std::clamp(x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f), 0.0f, 1.0f);
    pixel[size_t(k)] = uint8_t(std::lround(srgbFromLinear(y) * 255));
  }
  return pixel;
}

}  // namespace

struct PathTracer::Impl {
  struct Mesh {
    ScenePtr scene;
    std::vector<Vec3f> normals;
    std::vector<uint8_t> interior;  // by triangle; empty: none
    std::vector<uint16_t> slots;    // by triangle; empty: 0
    std::vector<Vec3f> rest;        // by corner; empty: where the corners are
  };
  DevicePtr device;
  std::vector<Mesh> meshes;

  uint32_t add(const geometry::TriMesh& mesh, Mesh added);
};

namespace {

// One picture: what is in it, and the light along a ray.
class Tracer {
 public:
  struct Mesh {
    RTCScene scene;
    const std::vector<Vec3f>* normals;
    const std::vector<uint8_t>* interior;
    const std::vector<uint16_t>* slots;
    const std::vector<Vec3f>* rest;
  };

  Tracer(RTCDevice device, std::span<const Mesh> meshes, const Shot& shot, const PictureSettings& settings)
      : shot_(shot), settings_(settings), meshes_(meshes), scene_(made(device, rtcNewScene(device))) {
    for (const PlacedMesh& placed : shot.meshes) {
      if (!(reachOf(placed.position) <= kFarthest)) tooFar("a body");
      const GeometryPtr held(made(device, rtcNewGeometry(device, RTC_GEOMETRY_TYPE_INSTANCE)));
      const RTCGeometry instance = held.get();
      rtcSetGeometryInstancedScene(instance, meshes[placed.mesh].scene);
      rotations_.push_back(placed.rotation.toRotationMatrix().cast<float>());
      Eigen::Matrix<float, 3, 4> transform;
      transform << rotations_.back(), placed.position.cast<float>();
      rtcSetGeometryTransform(instance, 0, RTC_FORMAT_FLOAT3X4_COLUMN_MAJOR, transform.data());
      rtcCommitGeometry(instance);
      rtcAttachGeometryByID(scene_.get(), instance, unsigned(rotations_.size() - 1));
      clear_ = clear_ || placed.look.transmission > 0 || (placed.inside && placed.inside->transmission > 0);
      for (const PlacedMesh::Slot& slot : placed.slots)
        clear_ = clear_ || slot.look.transmission > 0 || (slot.inside && slot.inside->transmission > 0);
    }
    if (!shot.spheres.empty()) {
      const GeometryPtr held(made(device, rtcNewGeometry(device, RTC_GEOMETRY_TYPE_SPHERE_POINT)));
      const RTCGeometry spheres = held.get();
      auto* data = static_cast<float*>(
          made(device, rtcSetNewGeometryBuffer(spheres, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, 16,
                                               shot.spheres.size())));
      for (const PlacedSphere& s : shot.spheres) {
        if (!(s.centre.cwiseAbs().maxCoeff() <= kFarthest && s.radius <= kFarthest)) tooFar("a particle");
        *data++ = s.centre.x(), *data++ = s.centre.y(), *data++ = s.centre.z(), *data++ = s.radius;
      }
      rtcCommitGeometry(spheres);
      rtcAttachGeometryByID(scene_.get(), spheres, unsigned(rotations_.size()));
      for (const Look& look : shot.sphereLooks) clear_ = clear_ || look.transmission > 0;
    }
    rtcCommitScene(scene_.get());
    checkDevice(device);
    RTCBounds b;
    rtcGetSceneBounds(scene_.get(), &b);
    const bool any = b.lower_x <= b.upper_x;
    size_ =
        any ? std::max({b.upper_x - b.lower_x, b.upper_y - b.lower_y, b.upper_z - b.lower_z, 1e-6f}) : 1.0f;
    size_ = std::min(size_, float((shot.camera.eye - shot.camera.target).norm()) * 2);
    frame_ = cameraFrame(shot.camera, double(settings.width) / double(settings.height));
    sun_ = shot.sunDirection.normalized().cast<float>();
    orthonormalFrame(sun_, sunTangent_, sunBitangent_);
    sunRadius_ = std::tan(float(shot.sunSize * kPi / 360));
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  Vec3f pixel(size_t x, size_t y) const {
    Vec3f sum = Vec3f::Zero();
    const auto number = uint32_t(y * settings_.width + x);
    for (uint32_t s = 0; s < settings_.samples; ++s) {
      checkStop();  // a tile of many samples takes seconds
      Sampler sampler(settings_.seed, number, s);
      const Vec2f jitter = sampler.next2();
      const double u = 2 * (double(x) + jitter.x()) / double(settings_.width) - 1;
      const double v = 1 - 2 * (double(y) + jitter.y()) / double(settings_.height);
      const Vec3 direction = (frame_.forward + frame_.right * u + frame_.up * v).normalized();
      const Vec3f light = along(shot_.camera.eye.cast<float>(), direction.cast<float>(), sampler);
      if (light.allFinite()) sum += light;
    }
    return sum / float(settings_.samples);
  }

 private:
  Vec3f sky(const Vec3f& direction) const {
    const float height = std::max(direction.y(), 0.0f);
    Vec3f light = shot_.skyHorizon + (shot_.skyZenith - shot_.skyHorizon) * std::sqrt(height);
    const Vec3f lamp = Vec3f(-sun_.x(), 0.75f * sun_.y(), sun_.z()).normalized();
    const float t = std::clamp((direction.dot(lamp) - 0.88f) / 0.07f, 0.0f, 1.0f);
    return light + Vec3f::Constant(shot_.lamp * t * t * (3 - 2 * t));
  }

  Hit intersect(const Vec3f& from, const Vec3f& direction, float nearest) const {
    Hit hit;
    float reach = kFar;
    if (shot_.ground && direction.y() < 0 && from.y() > float(shot_.groundHeight)) {
      const float t = (float(shot_.groundHeight) - from.y()) / direction.y();
      if (t > nearest) reach = t;
    }
    RTCRayHit ray;
    ray.ray = {from.x(), from.y(), from.z(), nearest, direction.x(), direction.y(), direction.z(), 0,
               reach,    ~0u,      0,        0};
    ray.hit.geomID = ray.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(scene_.get(), &context, &ray);
    if (ray.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
      hit.distance = ray.ray.tfar;
      hit.place = from + direction * hit.distance;
      const Vec3f normal = Vec3f(ray.hit.Ng_x, ray.hit.Ng_y, ray.hit.Ng_z).normalized();
      const uint32_t instance = ray.hit.instID[0];
      if (instance != RTC_INVALID_GEOMETRY_ID) {
        const PlacedMesh& placed = shot_.meshes[instance];
        const Vec3f* corner = meshes_[placed.mesh].normals->data() + size_t(ray.hit.primID) * 3;
        const Vec3f smooth = between(corner, ray.hit.u, ray.hit.v);
        hit.geometric = rotations_[instance] * normal;
        const float length = smooth.norm();
        hit.shading = length > 0.1f ? Vec3f(rotations_[instance] * (smooth / length)) : hit.geometric;
        hit.look = &placed.look;
        const std::optional<Look>* inside = &placed.inside;
        if (const auto& slots = *meshes_[placed.mesh].slots; !slots.empty()) {
          const uint16_t slot = slots[ray.hit.primID];
          if (slot > 0 && slot <= placed.slots.size()) {
            hit.look = &placed.slots[slot - 1u].look;
            inside = &placed.slots[slot - 1u].inside;
          }
        }
        const auto& interior = *meshes_[placed.mesh].interior;
        hit.within = !interior.empty() && interior[ray.hit.primID];
        if (const auto& rest = *meshes_[placed.mesh].rest; placed.solid && !rest.empty()) {
          hit.solid = placed.solid.get();
          hit.rest = between(rest.data() + size_t(ray.hit.primID) * 3, ray.hit.u, ray.hit.v);
        }
        if (hit.within) {
          if (*inside)
            hit.look = &**inside;
          else if (const auto& rest = *meshes_[placed.mesh].rest; !rest.empty())
            hit.mottle = mottled(between(rest.data() + size_t(ray.hit.primID) * 3, ray.hit.u, ray.hit.v));
          else
            hit.mottle =
                mottled(rotations_[instance].transpose() * (hit.place - placed.position.cast<float>()));
        }
      } else {
        hit.geometric = hit.shading = normal;
        hit.look = &shot_.sphereLooks[shot_.spheres[ray.hit.primID].look];
      }
    } else if (reach < kFar) {
      hit.distance = reach;
      hit.place = from + direction * reach;
      hit.geometric = hit.shading = Vec3f::UnitY();
      hit.look = &shot_.groundLook;
      hit.isGround = true;
    }
    return hit;
  }

  float offsetAt(const Vec3f& place) const { return 1e-5f * std::max(size_, place.cwiseAbs().maxCoeff()); }

  // The part of the sun's light that reaches a point.
  Vec3f sunReaching(const Vec3f& from, const Vec3f& direction) const {
    if (!clear_) {
      RTCRay ray = {from.x(), from.y(), from.z(), 0, direction.x(), direction.y(), direction.z(), 0,
                    kFar,     ~0u,      0,        0};
      RTCIntersectContext context;
      rtcInitIntersectContext(&context);
      rtcOccluded1(scene_.get(), &context, &ray);
      return ray.tfar < 0 ? Vec3f::Zero() : Vec3f::Ones();
    }
    Vec3f passed = Vec3f::Ones();
    Vec3f place = from;
    for (int k = 0; k < 16; ++k) {
      const Hit hit = intersect(place, direction, 0);
      if (!hit.found() || hit.isGround) return passed;
      if (hit.look->transmission <= 0) return Vec3f::Zero();
      const float cosine = direction.dot(hit.shading);
      if (cosine > 0) passed.array() *= (-hit.look->absorption.array() * hit.distance).exp();
      passed *=
          hit.look->transmission * (1 - fresnel(std::min(std::abs(cosine), 1.0f), 1 / hit.look->refraction));
      place = hit.place + direction * offsetAt(hit.place);
    }
    return Vec3f::Zero();
  }

  Vec3f along(Vec3f from, Vec3f direction, Sampler& sampler) const {
    Vec3f light = Vec3f::Zero(), weight = Vec3f::Ones();
    bool straight = true;  // only mirrors and glass so far, so the sun's disc is seen
    float nearest = 0;
    for (uint32_t bounce = 0; bounce <= settings_.bounces; ++bounce) {
      const Hit hit = intersect(from, direction, nearest);
      nearest = 0;
      if (!hit.found()) {
        light += clamped(weight.cwiseProduct(sky(direction)), bounce);
        if (straight && bounce > 0 && direction.dot(sun_) > 1 / std::sqrt(1 + sunRadius_ * sunRadius_))
          light += clamped(weight * 20, bounce);
        break;
      }
      Look look = *hit.look;
      if (hit.solid && look.transmission <= 0)
        look.colour = hit.solid->colour(look.colour, hit.rest, hit.within);
      if (hit.mottle > 0 && look.transmission <= 0) {
        if (!hit.solid) look.colour *= hit.mottle;
        look.roughness = std::max(look.roughness, kBroken);
      }
      const Vec2f u = sampler.next2();
      const Vec2f w = sampler.next2();
      if (hit.isGround) {
        // The ground goes over into the sky far out, as in a studio.
        const float far = (hit.place - shot_.camera.target.cast<float>()).norm() / (9 * size_);
        if (w.y() > std::exp(-far * far)) {
          light += clamped(weight.cwiseProduct(shot_.skyHorizon), bounce);
          break;
        }
      }
      const float offset = offsetAt(hit.place);
      if (look.transmission > 0 && w.y() < look.transmission) {
        const bool leaving = direction.dot(hit.geometric) > 0;
        if (leaving) weight.array() *= (-look.absorption.array() * hit.distance).exp();
        const Vec3f side = leaving ? Vec3f(-hit.geometric) : hit.geometric;
        Vec3f normal = leaving ? Vec3f(-hit.shading) : hit.shading;
        if (normal.dot(direction) >= 0) normal = side;
        if (look.roughness > 0.01f)
          normal = roughened(normal, -direction, look.roughness * look.roughness, u);
        const float ratio = leaving ? look.refraction : 1 / look.refraction;
        const float cosine = std::clamp(-direction.dot(normal), 0.0f, 1.0f);
        if (w.x() < fresnel(cosine, ratio)) {
          direction = (direction + 2 * cosine * normal).normalized();
          from = hit.place + side * (direction.dot(side) > 0 ? offset : -offset);
        } else {
          const float beyond = std::sqrt(std::max(0.0f, 1 - ratio * ratio * (1 - cosine * cosine)));
          direction = (ratio * direction + (ratio * cosine - beyond) * normal).normalized();
          from = hit.place - side * offset;
          weight = weight.cwiseProduct(look.colour);
        }
        continue;
      }
      const bool behind = direction.dot(hit.geometric) > 0;
      const Vec3f side = behind ? Vec3f(-hit.geometric) : hit.geometric;
      Vec3f normal = behind ? Vec3f(-hit.shading) : hit.shading;
      if (normal.dot(-direction) < 0.02f) normal = side;
      Vec3f tangent, bitangent;
      orthonormalFrame(normal, tangent, bitangent);
      const auto local = [&](const Vec3f& d) {
        return Vec3f(d.dot(tangent), d.dot(bitangent), d.dot(normal));
      };
      const Vec3f out = local(-direction);
      const Vec3f place = hit.place + side * offset;

      const Vec2f disc = sampler.next2();
      const float r = std::sqrt(disc.x()) * sunRadius_, phi = 2 * float(kPi) * disc.y();
      const Vec3f toSun =
          (sun_ + sunTangent_ * (r * std::cos(phi)) + sunBitangent_ * (r * std::sin(phi))).normalized();
      if (toSun.dot(side) > 0) {
        const Vec3f answer = reflected(look, out, local(toSun));
        if (answer.maxCoeff() > 0)
          light += clamped(weight.cwiseProduct(answer)
                               .cwiseProduct(shot_.sunLight)
                               .cwiseProduct(sunReaching(place, toSun)),
                           bounce);
      }
      const ReflectedSample sample = sampleReflected(look, out, u, w.x());
      if (sample.weight.maxCoeff() <= 0) break;
      weight = weight.cwiseProduct(sample.weight);
      direction = (tangent * sample.in.x() + bitangent * sample.in.y() + normal * sample.in.z()).normalized();
      if (direction.dot(side) <= 0) break;
      from = place;
      straight = false;
      if (bounce >= 3) {
        const float survive = std::min(0.95f, weight.maxCoeff());
        if (sampler.next() >= survive) break;
        weight /= survive;
      }
    }
    return light;
  }

  // Rare bright paths would leave white dots; their excess is cut.
  static Vec3f clamped(const Vec3f& light, uint32_t bounce) {
    const float most = bounce == 0 ? 50.0f : 6.0f, l = luminance(light);
    return l > most ? Vec3f(light * (most / l)) : light;
  }

  static Vec3f roughened(const Vec3f& normal, const Vec3f& out, float alpha, const Vec2f& u) {
    Vec3f tangent, bitangent;
    orthonormalFrame(normal, tangent, bitangent);
    const Vec3f facet =
        visibleFacet({out.dot(tangent), out.dot(bitangent), std::max(out.dot(normal), 1e-4f)}, alpha, u);
    return (tangent * facet.x() + bitangent * facet.y() + normal * facet.z()).normalized();
  }

  const Shot& shot_;
  const PictureSettings& settings_;
  std::span<const Mesh> meshes_;
  ScenePtr scene_;
  std::vector<Eigen::Matrix3f> rotations_;
  CameraFrame frame_;
  Vec3f sun_, sunTangent_, sunBitangent_;
  float sunRadius_ = 0, size_ = 1;
  bool clear_ = false;
};

}  // namespace

PathTracer::PathTracer() : impl_(std::make_unique<Impl>()) {
  // No "threads" here: Embree would limit the threads of the whole process.
  impl_->device.reset(rtcNewDevice(nullptr));
  if (impl_->device) return;
  if (rtcGetDeviceError(nullptr) == RTC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
  throw Error(ErrorKind::Unsupported, "Embree does not run on this processor");
}
PathTracer::~PathTracer() = default;

uint32_t PathTracer::addMesh(const geometry::TriMesh& mesh, double creaseAngle, std::vector<uint8_t> interior,
                             std::vector<uint16_t> slots, std::span<const Vec3f> rest) {
  return addMesh(mesh, cornerNormals(mesh, creaseAngle, rest), std::move(interior), std::move(slots), rest);
}

uint32_t PathTracer::addMesh(const geometry::TriMesh& mesh, std::vector<Vec3f> normals,
                             std::vector<uint8_t> interior, std::vector<uint16_t> slots,
                             std::span<const Vec3f> rest) {
  if (normals.size() != 3 * mesh.triangles.size())
    throw Error(ErrorKind::Usage, "a mesh needs the normal of each of its corners");
  if (!interior.empty() && interior.size() != mesh.triangles.size())
    throw Error(ErrorKind::Usage, "a mesh needs to say of all of its triangles which are inside, or of none");
  if (!slots.empty() && slots.size() != mesh.triangles.size())
    throw Error(ErrorKind::Usage, "a mesh needs a slot for each of its triangles, or none");
  Impl::Mesh added;
  added.normals = std::move(normals);
  added.interior = std::move(interior);
  added.slots = std::move(slots);
  if (!added.interior.empty() && rest.size() == mesh.positions.size())
    for (const geometry::Triangle& t : mesh.triangles)
      for (const uint32_t v : t) added.rest.push_back(rest[v]);
  return impl_->add(mesh, std::move(added));
}

uint32_t PathTracer::addMesh(const geometry::TriMesh& mesh, std::span<const Vec3f> vertexNormals) {
  if (vertexNormals.size() != mesh.positions.size())
    throw Error(ErrorKind::Usage, "a mesh needs the normal of each of its vertices");
  Impl::Mesh added;
  for (const geometry::Triangle& t : mesh.triangles)
    for (const uint32_t v : t) added.normals.push_back(vertexNormals[v]);
  return impl_->add(mesh, std::move(added));
}

uint32_t PathTracer::Impl::add(const geometry::TriMesh& mesh, Mesh added) {
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    if (!mesh.positions[v].allFinite())
      throw Error(ErrorKind::Geometry, fmt::format("vertex {} is not finite", v));
    if (reachOf(mesh.positions[v]) > kFarthest) tooFar(fmt::format("vertex {}", v));
  }
  const RTCDevice embree = device.get();
  const GeometryPtr held(made(embree, rtcNewGeometry(embree, RTC_GEOMETRY_TYPE_TRIANGLE)));
  const RTCGeometry geometry = held.get();
  auto* positions = static_cast<float*>(
      made(embree, rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12,
                                           mesh.positions.size())));
  for (const Vec3& p : mesh.positions)
    for (int k = 0; k < 3; ++k) *positions++ = float(p[k]);
  auto* indices = static_cast<uint32_t*>(
      made(embree, rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12,
                                           mesh.triangles.size())));
  for (const geometry::Triangle& t : mesh.triangles)
    for (const uint32_t v : t) *indices++ = v;
  rtcCommitGeometry(geometry);
  added.scene.reset(made(embree, rtcNewScene(embree)));
  rtcAttachGeometry(added.scene.get(), geometry);
  rtcCommitScene(added.scene.get());
  checkDevice(embree);
  const auto free = std::find_if(meshes.begin(), meshes.end(), [](const Mesh& m) { return !m.scene; });
  if (free != meshes.end()) {
    *free = std::move(added);
    return uint32_t(free - meshes.begin());
  }
  meshes.push_back(std::move(added));
  return uint32_t(meshes.size() - 1);
}

void PathTracer::dropMesh(uint32_t mesh) {
  if (mesh >= impl_->meshes.size() || !impl_->meshes[mesh].scene) return;
  impl_->meshes[mesh] = {};
}

Image PathTracer::render(const Shot& shot, const PictureSettings& settings) {
  if (settings.width == 0 || settings.height == 0 || settings.samples == 0)
    throw Error(ErrorKind::Usage, "a picture needs pixels and at least one sample of each");
  if (settings.width > 32768 || settings.height > 32768)
    throw Error(ErrorKind::Limit, "a picture may have 32768 pixels along a side");
  for (const PlacedMesh& placed : shot.meshes)
    if (placed.mesh >= impl_->meshes.size() || !impl_->meshes[placed.mesh].scene)
      throw Error(ErrorKind::Usage, fmt::format("there is no mesh {} in the picture", placed.mesh));
  for (const PlacedSphere& s : shot.spheres)
    if (s.look >= shot.sphereLooks.size())
      throw Error(ErrorKind::Usage, fmt::format("there is no look {} for a sphere", s.look));
  std::vector<Tracer::Mesh> meshes;
  for (const Impl::Mesh& m : impl_->meshes)
    meshes.push_back({m.scene.get(), &m.normals, &m.interior, &m.slots, &m.rest});
  const Tracer tracer(impl_->device.get(), meshes, shot, settings);
  Image image(settings.width, settings.height);
  const size_t across = (settings.width + kTile - 1) / kTile, down = (settings.height + kTile - 1) / kTile;
  std::mutex progressLock;
  size_t done = 0;
  parallelFor(
      across * down,
      [&](size_t tile) {
        const size_t left = tile % across * kTile, top = tile / across * kTile;
        for (size_t y = top; y < std::min(top + kTile, settings.height); ++y)
          for (size_t x = left; x < std::min(left + kTile, settings.width); ++x)
            image.at(x, y) = develop(tracer.pixel(x, y), float(settings.exposure));
        if (settings.progress) {
          const std::lock_guard lock(progressLock);
          settings.progress(double(++done) / double(across * down));
        }
      },
      1);
  return image;
}

}  // namespace sunder::show
