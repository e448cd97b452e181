#include "bench/published/benchmark_scenes.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"

#include <algorithm>
#include <cmath>

namespace sunder::published {

namespace {

using geometry::Triangle;

// Cells of a grid with `nu` cells along u and `nv` along v; vertex (i, j) is i * (nv + 1) + j. When `closed`,
// the last row of u is the first.
std::vector<Triangle> gridTriangles(uint32_t nu, uint32_t nv, bool closed = false) {
  std::vector<Triangle> triangles;
  triangles.reserve(size_t(2) * nu * nv);
  for (uint32_t i = 0; i < nu; ++i)
    for (uint32_t j = 0; j < nv; ++j) {
      const uint32_t next = closed && i + 1 == nu ? 0 : i + 1;
      const uint32_t a = i * (nv + 1) + j, b = next * (nv + 1) + j;
      triangles.push_back({a, b, b + 1});
      triangles.push_back({a, b + 1, a + 1});
    }
  return triangles;
}

// A square sheet with u and v in [-1, 1].
SceneBody sheet(std::string name, uint32_t n) {
  SceneBody body{std::move(name), gridTriangles(n, n), {}, true, false, {}};
  for (uint32_t i = 0; i <= n; ++i)
    for (uint32_t j = 0; j <= n; ++j) body.rest.emplace_back(2.0 * i / n - 1, 2.0 * j / n - 1, 0);
  return body;
}

// A surface of revolution about y that is no lid: u goes round in [0, 2 pi), v from 0 to 1.
SceneBody ring(std::string name, uint32_t around, uint32_t along) {
  SceneBody body{std::move(name), gridTriangles(around, along, true), {}, false, true, {}};
  for (uint32_t i = 0; i < around; ++i)
    for (uint32_t j = 0; j <= along; ++j) body.rest.emplace_back(2 * kPi * i / around, double(j) / along, 0);
  return body;
}

// Unit sphere of 2 * segments * (stacks - 1) triangles, poles on y.
SceneBody ball(std::string name, uint32_t segments, uint32_t stacks) {
  SceneBody body{std::move(name), {}, {}, false, true, {}};
  body.rest.emplace_back(0, 1, 0);
  for (uint32_t j = 1; j < stacks; ++j)
    for (uint32_t i = 0; i < segments; ++i) {
      const double polar = kPi * j / stacks, angle = 2 * kPi * i / segments;
      body.rest.emplace_back(std::sin(polar) * std::cos(angle), std::cos(polar),
                             std::sin(polar) * std::sin(angle));
    }
  body.rest.emplace_back(0, -1, 0);
  const uint32_t south = 1 + (stacks - 1) * segments;
  for (uint32_t i = 0; i < segments; ++i) {
    const uint32_t n = (i + 1) % segments;
    body.triangles.push_back({0, 1 + n, 1 + i});
    for (uint32_t j = 0; j + 2 < stacks; ++j) {
      const uint32_t a = 1 + j * segments, b = a + segments;
      body.triangles.push_back({a + i, a + n, b + n});
      body.triangles.push_back({a + i, b + n, b + i});
    }
    body.triangles.push_back({south, south - segments + i, south - segments + n});
  }
  return body;
}

double smooth(double x) {
  x = std::clamp(x, 0.0, 1.0);
  return x * x * (3 - 2 * x);
}

Vec3 turned(const Vec3& p, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * p.x() + s * p.z(), p.y(), -s * p.x() + c * p.z()};
}

// Where a profile (distance from the axis, height) leads after a length along it.
struct ProfilePoint {
  double radius, height;
};

struct Folds {
  double count = 9;  // round the axis
  double phase = 0;
  double twist = 0;  // turns of the rim against the middle at the end
  double depth = 1;  // 1: deep enough to take up the cloth that is too much at this distance
};

// Cloth of half width `half` laid along a profile: what is too long round the axis goes into folds.
template <class Profile>
Vec3 draped(const Vec3& uv, double half, double time, const Folds& folds, Profile&& profile) {
  const double x = half * uv.x(), z = half * uv.y();
  const double length = std::hypot(x, z);
  const double angle = std::atan2(z, x);
  const ProfilePoint at = profile(length);
  const double excess = length / std::max(at.radius, 1e-3);
  const double amplitude =
      folds.depth * at.radius * std::sqrt(std::max(0.0, excess * excess - 1)) * std::sqrt(2.0) / folds.count;
  const double ripple = std::cos(folds.count * angle + folds.phase) +
                        0.3 * std::sin(2.7 * folds.count * angle + 3 * length + folds.phase);
  const double radius = at.radius + std::min(amplitude, 0.6 * at.radius) * ripple;
  const double direction = angle + 2 * kPi * folds.twist * time * length / half;
  return {radius * std::cos(direction), at.height, radius * std::sin(direction)};
}

// Over a ball of radius `ball` at the origin, then hanging, drawn in to `waist` times the radius.
ProfilePoint overBall(double length, double ballRadius, double waist) {
  const double top = 0.5 * kPi * ballRadius;
  if (length < top)
    return {ballRadius * std::sin(length / ballRadius), ballRadius * std::cos(length / ballRadius)};
  const double hanging = length - top;
  const double drawn = smooth(hanging / ballRadius);
  return {ballRadius * (1 + (waist - 1) * drawn), -hanging};
}

struct ClothOnBall {
  double half = 2.6, radius = 1, gap = 0.005, waist = 0.7;
  Vec3 centre = Vec3::Zero();
  Folds folds;
};

Vec3 place(const ClothOnBall& cloth, const Vec3& uv, double time) {
  const double radius = cloth.radius + cloth.gap;
  const Vec3 flat(cloth.half * uv.x(), radius + 0.3 * cloth.radius, cloth.half * uv.y());
  // The middle arrives first, the rim last.
  const double far = std::hypot(uv.x(), uv.y());
  const double settled = smooth(2.2 * time - 0.8 * far);
  const Vec3 over = draped(uv, cloth.half, time, cloth.folds, [&](double length) {
    return overBall(length, radius, 1 + (cloth.waist - 1) * smooth(time));
  });
  const double wave = 0.03 * cloth.radius * std::sin(14 * uv.x() + 9 * time) * std::cos(11 * uv.y());
  return cloth.centre + (1 - settled) * (flat + Vec3(0, wave, 0)) + settled * over;
}

SceneBody clothOnBall(std::string name, uint32_t n, const ClothOnBall& cloth) {
  SceneBody body = sheet(std::move(name), n);
  body.place = [cloth](const Vec3& uv, double time) { return place(cloth, uv, time); };
  return body;
}

SceneBody turningBall(std::string name, uint32_t segments, uint32_t stacks, double radius, const Vec3& centre,
                      double turns) {
  SceneBody body = ball(std::move(name), segments, stacks);
  body.place = [=](const Vec3& p, double time) {
    return Vec3(centre + radius * turned(p, 2 * kPi * turns * time));
  };
  return body;
}

std::vector<SceneBody> clothBall() {
  ClothOnBall cloth;
  cloth.folds = {.count = 120, .twist = 2};  // wrung: the source's 3.1e6 pairs in the last frame
  cloth.waist = 0.3;
  return {clothOnBall("cloth", 214, cloth), turningBall("ball", 25, 11, 1, Vec3::Zero(), 2)};
}

std::vector<SceneBody> bridson() {
  ClothOnBall cloth;
  cloth.half = 2;
  cloth.folds = {.count = 9, .twist = 0.2};
  return {clothOnBall("cloth", 94, cloth), turningBall("ball", 16, 16, 1, Vec3::Zero(), 0.2)};
}

std::vector<SceneBody> bridsonThree() {
  std::vector<SceneBody> bodies;
  for (int layer = 0; layer < 3; ++layer) {
    ClothOnBall cloth;
    cloth.half = 2.1;
    cloth.gap = 0.004 + 0.006 * layer;
    cloth.folds = {.count = 9.0 + layer, .phase = 0.8 * layer, .twist = 0.25};
    bodies.push_back(clothOnBall("cloth " + std::to_string(layer), 181, cloth));
  }
  bodies.push_back(turningBall("ball", 30, 25, 1, Vec3::Zero(), 0.25));
  return bodies;
}

std::vector<SceneBody> andy() {
  std::vector<SceneBody> bodies;
  for (int part = 0; part < 2; ++part) {
    ClothOnBall cloth;
    cloth.radius = part == 0 ? 0.8 : 0.5;
    cloth.half = part == 0 ? 1.9 : 1.4;
    cloth.centre = Vec3(0, part == 0 ? 0 : 1.0, 0);
    cloth.folds = {.count = 11.0 - 2 * part, .phase = 1.3 * part, .twist = 0.1};
    bodies.push_back(clothOnBall(part == 0 ? "skirt" : "cape", 178, cloth));
  }
  bodies.push_back(turningBall("hips", 12, 12, 0.8, Vec3::Zero(), 0.1));
  bodies.push_back(turningBall("shoulders", 12, 12, 0.5, Vec3(0, 1, 0), 0.1));
  return bodies;
}

std::vector<SceneBody> funnel() {
  constexpr double kNarrow = 0.4, kWide = 1.4, kHeight = 1.0, kBall = 0.32;
  const auto ballHeight = [](double time) { return 0.9 - 1.6 * time; };
  SceneBody cloth = sheet("cloth", 90);
  cloth.place = [=](const Vec3& uv, double time) {
    const double centre = ballHeight(time);
    const double reach = kBall + 0.01;
    const Vec3 pressed =
        draped(uv, 1.3, time, Folds{.count = 50, .twist = 1}, [&](double length) -> ProfilePoint {
          const double around = 0.5 * kPi * reach;
          if (length < around)
            return {reach * std::sin(length / reach), centre - reach * std::cos(length / reach)};
          // Up the neck to where the cone begins, then along the cone.
          const double up = length - around;
          const double neck = std::max(0.0, -centre);
          if (up < neck) return {reach, centre + up};
          const double slope = std::hypot(kWide - kNarrow, kHeight);
          const double along = (up - neck) / slope;
          return {reach + along * (kWide - kNarrow), std::max(centre, 0.0) + along * kHeight};
        });
    const Vec3 flat(1.3 * uv.x(), 1.1, 1.3 * uv.y());
    const double weight = smooth(3 * time);
    return Vec3((1 - weight) * flat + weight * pressed);
  };
  SceneBody cone = ring("funnel", 30, 25);
  cone.place = [=](const Vec3& p, double) {
    const double radius = kNarrow + (kWide - kNarrow) * p.y();
    return Vec3(radius * std::cos(p.x()), kHeight * p.y(), radius * std::sin(p.x()));
  };
  SceneBody press = ball("ball", 25, 11);
  press.place = [=](const Vec3& p, double time) { return Vec3(kBall * p + Vec3(0, ballHeight(time), 0)); };
  SceneBody plate{"plate", gridTriangles(15, 10), {}, false, true, {}};
  for (int i = 0; i <= 15; ++i)
    for (int j = 0; j <= 10; ++j) plate.rest.emplace_back(i / 7.5 - 1, -0.95, j / 5.0 - 1);
  plate.place = [](const Vec3& p, double) { return p; };
  return {std::move(cloth), std::move(cone), std::move(press), std::move(plate)};
}

// Sites of a face-centred cubic lattice with nearest distance 1, the nearest to the origin first.
std::vector<Vec3> closePackedSites(size_t count) {
  std::vector<Vec3> sites;
  const int reach = 8;
  for (int i = -reach; i <= reach; ++i)
    for (int j = -reach; j <= reach; ++j)
      for (int k = -reach; k <= reach; ++k)
        if ((i + j + k) % 2 == 0) sites.push_back(Vec3(i, j, k) / std::sqrt(2.0));
  std::stable_sort(sites.begin(), sites.end(), [](const Vec3& a, const Vec3& b) {
    return std::lround(1000 * a.squaredNorm()) < std::lround(1000 * b.squaredNorm());
  });
  sites.resize(count);
  return sites;
}

std::vector<SceneBody> nBody() {
  constexpr size_t kBodies = 305;
  const std::vector<Vec3> sites = closePackedSites(kBodies);
  std::vector<SceneBody> bodies;
  for (size_t i = 0; i < kBodies; ++i) {
    RandomStream random(305, i);
    Vec3 jitter;  // one draw a statement: compilers order arguments differently
    for (int k = 2; k >= 0; --k) jitter[k] = 0.05 * random.uniform(-1, 1);
    const Vec3 site = sites[i] + jitter;
    const double radius = 0.48 + random.uniform(-0.02, 0.02);
    const double turns = random.uniform(-1, 1);
    SceneBody body = ball("body " + std::to_string(i), 16, 16);
    body.place = [=](const Vec3& p, double time) {
      const double apart = 0.98 + 1.1 * (1 - smooth(time));
      return Vec3(apart * site + radius * turned(p, 2 * kPi * turns * time));
    };
    bodies.push_back(std::move(body));
  }
  return bodies;
}

std::vector<SceneBody> flamenco() {
  std::vector<SceneBody> bodies;
  for (int layer = 0; layer < 10; ++layer) {
    SceneBody skirt = ring("skirt " + std::to_string(layer), 50, 49);
    skirt.self = true;
    skirt.rigid = false;
    skirt.place = [layer](const Vec3& p, double time) {
      const double angle = p.x(), down = p.y();
      const double swing = 0.12 * time * down * std::sin(5 * angle + 0.7 * layer + 4 * kPi * time);
      const double ruffle = 0.05 * time * down * std::sin(17 * angle + 9 * down + layer);
      const double radius = 0.3 + 0.6 * down * down + 0.012 * layer + swing + ruffle;
      return Vec3(radius * std::cos(angle), -0.9 * down + 0.1 * time * down * std::cos(3 * angle),
                  radius * std::sin(angle));
    };
    bodies.push_back(std::move(skirt));
  }
  return bodies;
}

}  // namespace

const char* name(SceneKind kind) {
  switch (kind) {
    case SceneKind::ClothBall:
      return "cloth-ball";
    case SceneKind::Funnel:
      return "funnel";
    case SceneKind::NBody:
      return "n-body";
    case SceneKind::Flamenco:
      return "flamenco";
    case SceneKind::Andy:
      return "andy";
    case SceneKind::Bridson:
      return "bridson";
    case SceneKind::Bridson3:
      return "bridson-3";
  }
  return "";
}

BenchmarkScene makeBenchmarkScene(SceneKind kind) {
  switch (kind) {
    case SceneKind::ClothBall:
      return {kind, 94, clothBall()};
    case SceneKind::Funnel:
      return {kind, 500, funnel()};
    case SceneKind::NBody:
      return {kind, 75, nBody()};
    case SceneKind::Flamenco:
      return {kind, 705, flamenco()};
    case SceneKind::Andy:
      return {kind, 80, andy()};
    case SceneKind::Bridson:
      return {kind, 867, bridson()};
    case SceneKind::Bridson3:
      return {kind, 842, bridsonThree()};
  }
  throw Error(ErrorKind::Usage, "no such scene");
}

size_t BenchmarkScene::triangleCount() const {
  size_t count = 0;
  for (const SceneBody& body : bodies) count += body.triangles.size();
  return count;
}

void BenchmarkScene::positions(size_t body, uint32_t frame, std::vector<Vec3>& out) const {
  if (body >= bodies.size() || frame >= frames)
    throw Error(ErrorKind::Usage, "the scene has " + std::to_string(bodies.size()) + " bodies and " +
                                      std::to_string(frames) + " frames");
  const SceneBody& what = bodies[body];
  const double time = static_cast<double>(frame) / (frames - 1);
  out.resize(what.rest.size());
  parallelFor(
      out.size(), [&](size_t i) { out[i] = what.place(what.rest[i], time); }, 1024);
}

geometry::TriMesh makeTestSheet(uint32_t n) {
  geometry::TriMesh mesh{{}, gridTriangles(n, n)};
  for (uint32_t u = 0; u <= n; ++u)
    for (uint32_t v = 0; v <= n; ++v) {
      const double x = double(u) / n, y = double(v) / n;
      mesh.positions.emplace_back(x + 0.02 * std::sin(40 * y), y, 0.08 * std::sin(25 * x) * std::cos(19 * y));
    }
  return mesh;
}

}  // namespace sunder::published
