#include "sunder/base/box.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include "bench/pair_peers.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#ifdef SUNDER_HAS_EMBREE
#include <embree3/rtcore.h>
#endif

namespace sunder::bench {

const char* name(EmbreeQuality quality) { return quality == EmbreeQuality::Low ? "LOW" : "MEDIUM"; }

#ifdef SUNDER_HAS_EMBREE

namespace {

using geometry::TriMesh;
using spatial::PrimitivePair;

// A mesh as Embree user geometry with one box per triangle, as rtcCollide wants it, or as triangles for
// builds.
class EmbreeScene {
 public:
  EmbreeScene(const TriMesh& mesh, unsigned threads, bool userBoxes, EmbreeQuality quality) : mesh_(mesh) {
    const RTCBuildQuality level =
        quality == EmbreeQuality::Low ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM;
    device_ = rtcNewDevice(("threads=" + std::to_string(threads) + ",user_threads=1").c_str());
    scene_ = rtcNewScene(device_);
    rtcSetSceneBuildQuality(scene_, level);
    geometry_ = rtcNewGeometry(device_, userBoxes ? RTC_GEOMETRY_TYPE_USER : RTC_GEOMETRY_TYPE_TRIANGLE);
    if (userBoxes) {
      rtcSetGeometryUserPrimitiveCount(geometry_, static_cast<unsigned>(mesh.triangles.size()));
      rtcSetGeometryUserData(geometry_, this);
      rtcSetGeometryBoundsFunction(geometry_, boundsOf, this);
    } else {
      auto* vertices = static_cast<float*>(rtcSetNewGeometryBuffer(
          geometry_, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, mesh.positions.size()));
      for (const Vec3& p : mesh.positions)
        for (int k = 0; k < 3; ++k) *vertices++ = static_cast<float>(p[k]);
      auto* indices = static_cast<uint32_t*>(rtcSetNewGeometryBuffer(
          geometry_, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, mesh.triangles.size()));
      for (const auto& t : mesh.triangles)
        for (uint32_t v : t) *indices++ = v;
    }
    rtcSetGeometryBuildQuality(geometry_, level);
    rtcCommitGeometry(geometry_);
    rtcAttachGeometryByID(scene_, geometry_, 0);
    rtcCommitScene(scene_);
  }
  ~EmbreeScene() {
    rtcReleaseGeometry(geometry_);
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  EmbreeScene(const EmbreeScene&) = delete;
  EmbreeScene& operator=(const EmbreeScene&) = delete;

  void rebuild() {
    rtcUpdateGeometryBuffer(geometry_, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(geometry_);
    rtcCommitScene(scene_);
  }
  RTCScene scene() const { return scene_; }

 private:
  static void boundsOf(const RTCBoundsFunctionArguments* args) {
    const auto& mesh = static_cast<const EmbreeScene*>(args->geometryUserPtr)->mesh_;
    Box3 box;
    for (uint32_t v : mesh.triangles[args->primID]) box.grow(mesh.positions[v]);
    RTCBounds& out = *args->bounds_o;
    out.lower_x = static_cast<float>(box.lower.x());
    out.lower_y = static_cast<float>(box.lower.y());
    out.lower_z = static_cast<float>(box.lower.z());
    out.upper_x = static_cast<float>(box.upper.x());
    out.upper_y = static_cast<float>(box.upper.y());
    out.upper_z = static_cast<float>(box.upper.z());
  }

  const TriMesh& mesh_;
  RTCDevice device_;
  RTCScene scene_;
  RTCGeometry geometry_;
};

// One buffer a thread, found by a pointer of the thread's own that is set once a search.
class PairBuffers {
 public:
  void clear() {
    search_ = ++searches_;
    for (const auto& buffer : buffers_) buffer->size = 0;
    used_ = 0;
  }
  size_t size() const {
    size_t sum = 0;
    for (const auto& buffer : buffers_) sum += buffer->size;
    return sum;
  }
  static void add(void* self, RTCCollision* collisions, unsigned number) {
    thread_local Buffer* mine = nullptr;
    thread_local uint64_t search = 0;
    auto& buffers = *static_cast<PairBuffers*>(self);
    if (search != buffers.search_) {
      mine = buffers.take();
      search = buffers.search_;
    }
    if (mine->size + number > mine->pairs.size()) mine->pairs.resize(2 * (mine->size + number));
    PrimitivePair* out = mine->pairs.data() + mine->size;
    for (unsigned i = 0; i < number; ++i) out[i] = {collisions[i].primID0, collisions[i].primID1};
    mine->size += number;
  }

 private:
  struct alignas(128) Buffer {
    std::vector<PrimitivePair> pairs = std::vector<PrimitivePair>(1 << 20);
    size_t size = 0;
  };

  Buffer* take() {
    const std::lock_guard lock(mutex_);
    if (used_ == buffers_.size()) buffers_.push_back(std::make_unique<Buffer>());
    return buffers_[used_++].get();
  }

  inline static uint64_t searches_ = 0;
  uint64_t search_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  size_t used_ = 0;
};

}  // namespace

std::optional<double> embreeBuild(const Options& options, const TriMesh& mesh, unsigned threads,
                                  EmbreeQuality quality) {
  EmbreeScene scene(mesh, threads, false, quality);
  return bestSeconds(options, [&] { scene.rebuild(); });
}

std::optional<PeerSearch> embreePairs(const Options& options, const TriMesh& a, const TriMesh* b,
                                      unsigned threads, EmbreeQuality quality) {
  const EmbreeScene sceneA(a, threads, true, quality);
  const auto sceneB = b ? std::make_unique<EmbreeScene>(*b, threads, true, quality) : nullptr;
  PairBuffers buffers;
  const double seconds = bestSeconds(
      options,
      [&] { rtcCollide(sceneA.scene(), b ? sceneB->scene() : sceneA.scene(), PairBuffers::add, &buffers); },
      [&] { buffers.clear(); });
  return PeerSearch{seconds, buffers.size()};
}

#else

std::optional<double> embreeBuild(const Options&, const geometry::TriMesh&, unsigned, EmbreeQuality) {
  return std::nullopt;
}
std::optional<PeerSearch> embreePairs(const Options&, const geometry::TriMesh&, const geometry::TriMesh*,
                                      unsigned, EmbreeQuality) {
  return std::nullopt;
}

#endif

}  // namespace sunder::bench
