#include "query_answers.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/spatial/points/k_nearest.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

using namespace spatial;

constexpr const char* kUnsignedColumns =
    "point,x,y,z,distance,closest_x,closest_y,closest_z,triangle,face,feature,u,v,w";
constexpr const char* kVertexColumns = "point,x,y,z,rank,vertex,vertex_x,vertex_y,vertex_z,distance";
constexpr const char* kAnyHitColumns = "ray,ox,oy,oz,dx,dy,dz,hit";
constexpr const char* kAllHitColumns =
    "ray,ox,oy,oz,dx,dy,dz,rank,distance,hit_x,hit_y,hit_z,triangle,face,front,u,v,w";

std::string featureText(const geometry::TriangleFeature& feature, const geometry::Triangle& corners) {
  switch (feature.kind) {
    case geometry::FeatureKind::Vertex:
      return fmt::format("vertex {}", corners[feature.index]);
    case geometry::FeatureKind::Edge: {
      const auto [low, high] = std::minmax(corners[feature.index], corners[(feature.index + 1) % 3]);
      return fmt::format("edge {}-{}", low, high);
    }
    case geometry::FeatureKind::Face:
      break;
  }
  return "face";
}

class Answers {
 public:
  Answers(const QuerySettings& settings, const QueryTarget& target, AnswerRows& rows)
      : settings_(settings), target_(target), rows_(rows) {}

  uint64_t points(std::span<const Vec3> points, uint64_t first) {
    if (settings_.question == "closest") return closest(points, first);
    if (settings_.question == "inside") return inside(points, first);
    if (settings_.vertices()) return vertices(points, first);
    return triangles(points, first);
  }

  uint64_t rays(std::span<const Ray> rays, uint64_t first) {
    if (settings_.hits == "first") return firstHit(rays, first);
    if (settings_.hits == "any") return anyHit(rays, first);
    return allHits(rays, first);
  }

 private:
  uint64_t faceOf(uint32_t triangle) const { return target_.face[triangle]; }
  Vec3 at(uint32_t triangle, const Vec3& weights) const {
    const geometry::Triangle& t = target_.mesh.triangles[triangle];
    return weights[0] * target_.mesh.positions[t[0]] + weights[1] * target_.mesh.positions[t[1]] +
           weights[2] * target_.mesh.positions[t[2]];
  }

  uint64_t closest(std::span<const Vec3> points, uint64_t first) {
    std::vector<ClosestPoint> found(points.size());
    std::vector<uint8_t> within(points.size(), 0);
    {
      const ProfileScope scope("query");
      target_.query.closest(points, found);
      if (!settings_.isUnsigned) target_.winding->inside(points, within);
    }
    const ProfileScope scope("write");
    uint64_t insideCount = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3 &p = points[i], &c = found[i].point, &w = found[i].barycentric;
      const double distance = std::sqrt(found[i].squaredDistance);
      const uint64_t triangle = found[i].triangle, face = faceOf(found[i].triangle);
      const std::string feature = featureText(found[i].feature, target_.mesh.triangles[triangle]);
      const std::string_view name = feature;
      insideCount += within[i];
      if (settings_.isUnsigned)
        rows_.add({first + i, p.x(), p.y(), p.z(), distance, c.x(), c.y(), c.z(), triangle, face, name, w[0],
                   w[1], w[2]});
      else
        rows_.add({first + i, p.x(), p.y(), p.z(), distance, within[i] && distance > 0 ? -distance : distance,
                   c.x(), c.y(), c.z(), triangle, face, name, w[0], w[1], w[2]});
    }
    return insideCount;
  }

  uint64_t triangles(std::span<const Vec3> points, uint64_t first) {
    const bool nearest = settings_.question == "nearest";
    TriangleLists lists;
    {
      const ProfileScope scope("query");
      lists = nearest ? target_.query.nearest(points, settings_.count)
                      : target_.query.within(points, settings_.distance);
    }
    const ProfileScope scope("write");
    uint64_t some = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3& p = points[i];
      uint64_t rank = 0;
      some += !lists.of(i).empty();
      for (const TriangleAtDistance& t : lists.of(i)) {
        const uint64_t triangle = t.triangle, face = faceOf(t.triangle);
        const double distance = std::sqrt(t.squaredDistance);
        if (nearest)
          rows_.add({first + i, p.x(), p.y(), p.z(), rank++, triangle, face, distance});
        else
          rows_.add({first + i, p.x(), p.y(), p.z(), triangle, face, distance});
      }
    }
    return some;
  }

  uint64_t vertices(std::span<const Vec3> points, uint64_t first) {
    NearestPoints nearest;
    {
      const ProfileScope scope("query");
      kNearest(target_.mesh.positions, points, settings_.count, nearest);
    }
    const ProfileScope scope("write");
    for (size_t i = 0; i < points.size(); ++i)
      for (uint32_t rank = 0; rank < nearest.perQuery; ++rank) {
        const size_t at = i * nearest.perQuery + rank;
        const Vec3 &p = points[i], &v = target_.mesh.positions[nearest.points[at]];
        rows_.add({first + i, p.x(), p.y(), p.z(), uint64_t(rank), uint64_t(nearest.points[at]), v.x(), v.y(),
                   v.z(), std::sqrt(nearest.squaredDistances[at])});
      }
    return points.size();
  }

  uint64_t inside(std::span<const Vec3> points, uint64_t first) {
    std::vector<double> numbers(points.size());
    {
      const ProfileScope scope("query");
      if (!settings_.exact) target_.winding->fast(points, numbers);
      const auto decide = [&](size_t i) {  // as WindingNumber::inside, so that number and answer agree
        if (settings_.exact || std::abs(numbers[i] - 0.5) < 0.1)
          numbers[i] = target_.winding->exact(points[i]);
      };
      parallelFor(points.size(), decide, 16);
    }
    const ProfileScope scope("write");
    uint64_t insideCount = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      const Vec3& p = points[i];
      insideCount += numbers[i] > 0.5;
      rows_.add({first + i, p.x(), p.y(), p.z(), numbers[i], numbers[i] > 0.5});
    }
    return insideCount;
  }

  static constexpr size_t kGrain = 64;  // rays

  // `position`: of the hit among those of its ray, or that there is one.
  void addHit(const Ray& ray, uint64_t number, Cell position, const RayHit& hit) {
    const Vec3 &o = ray.origin, &d = ray.direction, &w = hit.barycentric;
    const Vec3 p = at(hit.triangle, w);
    rows_.add({number, o.x(), o.y(), o.z(), d.x(), d.y(), d.z(), position, hit.t * d.stableNorm(), p.x(),
               p.y(), p.z(), uint64_t(hit.triangle), faceOf(hit.triangle), hit.front, w[0], w[1], w[2]});
  }

  uint64_t firstHit(std::span<const Ray> rays, uint64_t first) {
    std::vector<RayHit> hits(rays.size());
    {
      const ProfileScope scope("query");
      firstHits(target_.query, rays, hits);
    }
    const ProfileScope scope("write");
    uint64_t count = 0;
    for (size_t i = 0; i < rays.size(); ++i) {
      const Vec3 &o = rays[i].origin, &d = rays[i].direction;
      const Cell none;
      count += bool(hits[i]);
      if (hits[i])
        addHit(rays[i], first + i, true, hits[i]);
      else
        rows_.add({first + i, o.x(), o.y(), o.z(), d.x(), d.y(), d.z(), false, none, none, none, none, none,
                   none, none, none, none, none});
    }
    return count;
  }

  uint64_t anyHit(std::span<const Ray> rays, uint64_t first) {
    std::vector<uint8_t> hits(rays.size());
    {
      const ProfileScope scope("query");
      parallelFor(
          rays.size(), [&](size_t i) { hits[i] = spatial::anyHit(target_.query, rays[i]); }, kGrain);
    }
    const ProfileScope scope("write");
    uint64_t count = 0;
    for (size_t i = 0; i < rays.size(); ++i) {
      const Vec3 &o = rays[i].origin, &d = rays[i].direction;
      count += hits[i];
      rows_.add({first + i, o.x(), o.y(), o.z(), d.x(), d.y(), d.z(), hits[i] != 0});
    }
    return count;
  }

  uint64_t allHits(std::span<const Ray> rays, uint64_t first) {
    std::vector<std::vector<RayHit>> hits(rays.size());
    {
      const ProfileScope scope("query");
      parallelFor(
          rays.size(), [&](size_t i) { hits[i] = spatial::allHits(target_.query, rays[i]); }, kGrain);
    }
    const ProfileScope scope("write");
    uint64_t count = 0;
    for (size_t i = 0; i < rays.size(); ++i) {
      count += !hits[i].empty();
      for (uint64_t rank = 0; rank < hits[i].size(); ++rank) addHit(rays[i], first + i, rank, hits[i][rank]);
    }
    return count;
  }

  const QuerySettings& settings_;
  const QueryTarget& target_;
  AnswerRows& rows_;
};

}  // namespace

std::string answerColumns(const QuerySettings& settings) {
  const Question& question = questionNamed(settings.question);
  if (settings.isUnsigned) return kUnsignedColumns;
  if (settings.vertices()) return kVertexColumns;
  if (question.rays && settings.hits == "any") return kAnyHitColumns;
  if (question.rays && settings.hits == "all") return kAllHitColumns;
  return std::string(question.columns);
}

uint64_t answerPoints(const QuerySettings& settings, const QueryTarget& target, std::span<const Vec3> points,
                      uint64_t first, AnswerRows& rows) {
  return Answers(settings, target, rows).points(points, first);
}

uint64_t answerRays(const QuerySettings& settings, const QueryTarget& target, std::span<const Ray> rays,
                    uint64_t first, AnswerRows& rows) {
  return Answers(settings, target, rows).rays(rays, first);
}

}  // namespace sunder::cli
