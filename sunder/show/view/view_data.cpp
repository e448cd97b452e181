#include "sunder/show/view/view_data.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/show/overlay.h"
#include "sunder/show/readable.h"
#include "sunder/show/run_summary.h"
#include "sunder/show/view/soft_asset.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <zlib.h>

namespace sunder::show {

namespace {

constexpr size_t kRow = 8;                         // floats a body before the fields
constexpr size_t kPiece = size_t(1) << 20;         // bytes packed between two words of progress
constexpr size_t kMostOverlays = 16;               // meshes whose trees are kept
constexpr size_t kBlockHead = 16;                  // bytes before the first frame of a block
constexpr auto kQuiet = std::chrono::seconds(20);  // a run that wrote nothing for so long is taken for dead

Json vectorJson(const Vec3& v) { return {v.x(), v.y(), v.z()}; }
Json vectorJson(const Vec3f& v) { return {v.x(), v.y(), v.z()}; }
bool isVelocity(const record::PointField& field) { return field.name == "velocity" && field.components == 3; }

}  // namespace

struct ViewData::Impl {
  explicit Impl(const std::filesystem::path& path) : run(path), summary(summarise(run)), shapes(run) {
    readNames();
    readSlots();
  }

  std::mutex lock;
  std::atomic<bool> cancelled{false};
  record::RunReader run;
  RunSummary summary;
  record::BodyMeshes shapes;
  std::vector<std::vector<std::string>> slotMaterials;  // by mesh
  std::set<uint32_t> valued;  // rigid bodies with values at vertices, as far as is known
  std::vector<std::string> fields, statistics, pointFields;
  size_t summarised = 0;  // frames there were when the summary was made
  record::Frame frame;
  std::map<size_t, Overlay> overlays;  // by mesh

  Overlay& overlay(size_t mesh) {
    checkMesh(mesh);
    const auto found = overlays.find(mesh);
    if (found != overlays.end()) return found->second;
    const record::MeshEntry entry = meshOrNone(run, mesh);
    if (entry.triangles.empty())
      throw Error(ErrorKind::Usage, fmt::format("mesh {} has no triangles, or is lost", mesh))
          .inFile(run.path().string());
    if (overlays.size() == kMostOverlays) overlays.clear();
    return overlays.try_emplace(mesh, entry).first->second;
  }
  void checkMesh(size_t index) const {
    if (index >= run.meshCount())
      throw Error(ErrorKind::Usage, fmt::format("there is no mesh {}", index)).inFile(run.path().string());
  }

  // Of what is lost there is nothing to show; the rest goes on.
  bool read(size_t f) {
    try {
      run.readFrame(f, frame);
      return true;
    } catch (const Error&) {
      frame = {};
      frame.number = run.frameNumber(f);
      frame.time = run.frameTime(f);
      return false;
    }
  }
  std::vector<record::Statistic> statisticsOf(size_t f) const {
    try {
      return run.statistics(f);
    } catch (const Error&) {
      return {};
    }
  }

  void readNames() {
    summarised = run.frameCount();
    const auto note = [](std::vector<std::string>& names, const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    if (summarised == 0) return;
    for (const size_t f : {size_t(0), std::min<size_t>(1, summarised - 1), summarised - 1}) {
      if (!read(f)) continue;
      for (const record::BodyField& field : frame.fields) note(fields, field.name);
      for (const record::Statistic& s : statisticsOf(f)) note(statistics, s.name);
      for (const record::BodyPoints& points : frame.points) {
        if (!record::hasPoints(run.bodies()[points.body].kind)) valued.insert(points.body);
        for (const record::PointField& field : points.fields)
          if (field.components == 1 || isVelocity(field))
            note(pointFields, isVelocity(field) ? "speed" : field.name);
      }
    }
  }

  void readSlots() {
    for (size_t m = slotMaterials.size(); m < run.meshCount(); ++m)
      slotMaterials.push_back(meshOrNone(run, m).slotMaterials);
  }

  void refresh() {
    const size_t meshes = run.meshCount(), resumed = run.resumed().size();
    try {
      if (!run.refresh()) return;
    } catch (...) {
      overlays.clear();
      shapes.clear();
      slotMaterials.clear();
      summarised = 0;
      throw;
    }
    if (run.frameCount() < summarised || run.resumed().size() != resumed) {
      overlays.clear();
      shapes.clear();
      slotMaterials.clear();
    }
    readSlots();
    // Once in a while is enough: the camera is fitted when the page opens.
    if (run.frameCount() >= summarised * 2 || run.meshCount() != meshes || run.frameCount() < summarised) {
      summary = summarise(run);
      readNames();
    }
  }

  std::string state() const {
    if (run.end()) return record::name(run.end()->kind);
    std::error_code unknown;
    const auto written = std::filesystem::last_write_time(run.path(), unknown);
    if (unknown || std::filesystem::file_time_type::clock::now() - written > kQuiet) return "cut off";
    return "live";
  }

  Json info() const {
    Json materials = Json::object();
    for (const material::Material& m : summary.materials) {
      materials[m.name] = {{"colour", vectorJson(m.colour)},
                           {"roughness", m.roughness},
                           {"metallic", m.metallic},
                           {"transparency", m.transparency},
                           {"refraction", m.refraction}};
      if (const material::Material& inside = material::insideOf(summary.materials, m); &inside != &m)
        materials[m.name]["inside"] = inside.name;
    }
    Json bodies = Json::array(), softNumbers = Json::array();
    std::set<uint32_t> softMeshes;
    for (const record::BodyEntry& b : run.bodies()) {
      const auto number = uint32_t(bodies.size());
      const bool ground =
          std::binary_search(summary.groundBodies.begin(), summary.groundBodies.end(), number);
      bodies.push_back({{"name", b.name},
                        {"parent", b.parent == kNoIndex ? -1 : int64_t(b.parent)},
                        {"material", b.material},
                        {"mesh", b.mesh == kNoIndex ? -1 : int64_t(b.mesh)},
                        {"mass", b.mass},
                        {"kind", record::name(b.kind)},
                        {"born", b.born},
                        {"ground", ground}});
      const auto versions = run.meshVersions(number);
      if (versions.empty() && run.embeddingOf(b.mesh) == kNoIndex && !valued.contains(number)) continue;
      Json& changes = bodies.back()["changes"] = Json::array();
      for (const auto& [frame, version] : versions) changes.push_back(frame);
      const std::vector<uint32_t> cages = cagesOf(number);
      if (std::all_of(cages.begin(), cages.end(), [](uint32_t m) { return m == kNoIndex; })) continue;
      Json& soft = bodies.back()["soft"] = Json::array();
      for (const uint32_t m : cages) {
        soft.push_back(m == kNoIndex ? -1 : int64_t(m));
        if (m != kNoIndex) softMeshes.insert(m);
      }
    }
    for (const uint32_t m : softMeshes) softNumbers.push_back(m);
    Json slots = Json::object();
    for (size_t m = 0; m < slotMaterials.size(); ++m)
      if (!slotMaterials[m].empty()) slots[std::to_string(m)] = slotMaterials[m];
    const Box3 box = summary.action.empty() ? Box3{Vec3(-1, -1, -1), Vec3(1, 1, 1)} : summary.action;
    return {{"program", run.info().program},
            {"scene", run.info().sceneName},
            {"frameRate", run.info().frameRate},
            {"frames", run.frameCount()},
            {"state", state()},
            {"message", run.end() ? run.end()->message : ""},
            {"damage", damageNote(run)},
            {"materials", materials},
            {"bodies", bodies},
            {"meshes", run.meshCount()},
            {"slots", slots},
            {"softMeshes", softNumbers},
            {"fields", fields},
            {"statistics", statistics},
            {"points", hasPoints()},
            {"fronts", hasFronts()},
            {"pointFields", pointFields},
            {"action", {{"lower", vectorJson(box.lower)}, {"upper", vectorJson(box.upper)}}},
            {"ground", summary.ground ? Json(*summary.ground) : Json(nullptr)}};
  }

  // u32 vertices, u32 triangles, the positions, the corners; where something is not the same everywhere, a
  // byte a triangle: whether it is inside; where it has material slots, 16 bits a triangle behind that, and
  // which mesh named their materials.
  static std::string meshBytes(const record::MeshEntry& entry, uint32_t named) {
    std::string out;
    ByteWriter writer(out);
    writer.u32(uint32_t(entry.positions.size()));
    writer.u32(uint32_t(entry.triangles.size()));
    for (const Vec3f& p : entry.positions) writer.writeArray(std::span(p.data(), 3));
    for (const geometry::Triangle& t : entry.triangles) writer.writeArray(std::span(t.data(), 3));
    if (!entry.interior.empty())
      writer.writeArray(std::span(entry.interior));
    else if (!entry.slots.empty())
      writer.zeros(entry.triangles.size());
    if (entry.slots.empty()) return out;
    writer.zeros((4 - writer.size() % 4) % 4);
    writer.u32(named);
    writer.writeArray(std::span(entry.slots));
    return out;
  }

  std::string mesh(size_t index) const {
    checkMesh(index);
    return meshBytes(meshOrNone(run, index), uint32_t(index));
  }

  std::string shape(size_t body, size_t version) {
    if (body < run.bodies().size() && run.frameCount() > 0) {
      const auto versions = run.meshVersions(body);
      const size_t at = version == 0                 ? 0
                        : version <= versions.size() ? versions[version - 1].first
                                                     : SIZE_MAX;
      static const record::Frame kNothing{};
      if (at != SIZE_MAX)
        return meshBytes(*shapeOrNone(shapes, kNothing, at, uint32_t(body)).mesh, run.meshOf(body, at));
    }
    throw Error(ErrorKind::Usage, fmt::format("there is no version {} of the mesh of body {}", version, body))
        .inFile(run.path().string());
  }

  // By version of the body's mesh, the mesh where it is embedded in a cage; else kNoIndex.
  std::vector<uint32_t> cagesOf(uint32_t body) const {
    const auto embedded = [&](uint32_t mesh) { return run.embeddingOf(mesh) == kNoIndex ? kNoIndex : mesh; };
    if (run.frameCount() == 0) return {embedded(run.bodies()[body].mesh)};
    std::vector<uint32_t> cages{embedded(run.meshOf(body, 0))};
    for (const auto& [frame, version] : run.meshVersions(body)) cages.push_back(embedded(version.mesh));
    return cages;
  }

  std::string soft(size_t mesh) {
    checkMesh(mesh);
    const record::CagedSurface caged = shapes.caged(uint32_t(mesh));
    if (!caged)
      throw Error(ErrorKind::Usage, fmt::format("mesh {} is in no cage", mesh)).inFile(run.path().string());
    return bytesOf(softAsset(caged), *caged.cage);
  }

  std::string tear(size_t body, size_t version) {
    const auto versions = body < run.bodies().size() && run.frameCount() > 0
                              ? run.meshVersions(body)
                              : std::vector<std::pair<size_t, record::MeshVersion>>();
    const auto frameOf = [&](size_t v) { return v == 0 ? size_t(0) : versions[v - 1].first; };
    if (body >= run.bodies().size() || run.frameCount() == 0 || version > versions.size() ||
        run.embeddingOf(run.meshOf(body, frameOf(version))) == kNoIndex)
      throw Error(ErrorKind::Usage, fmt::format("version {} of body {} is in no cage", version, body))
          .inFile(run.path().string());
    const record::MeshVersion now = run.meshVersion(body, frameOf(version));
    const record::MeshVersion before =
        version == 0 ? record::MeshVersion{} : run.meshVersion(body, frameOf(version - 1));
    const bool fresh = before.mesh != now.mesh || before.changes > now.changes ||
                       (before.changes > 0 && before.first != now.first);
    static const record::Frame kNothing{};
    const auto cageAt = [&](size_t frame) {
      return shapes.shape(kNothing, frame, uint32_t(body)).caged.cage;
    };
    const auto old = fresh ? shapes.caged(now.mesh).cage : cageAt(frameOf(version - 1));
    const auto cage = cageAt(frameOf(version));
    std::string out;
    ByteWriter writer(out);
    writer.u32(now.mesh);
    writer.u32(fresh);
    writer.u32(uint32_t(cage->positions.size()));
    writer.u32(uint32_t(cage->positions.size() - old->positions.size()));
    for (size_t v = old->positions.size(); v < cage->positions.size(); ++v)
      writer.writeArray(std::span(cage->positions[v].data(), 3));
    const CornerOrder order = cornerOrder(shapes.caged(now.mesh).cage->tets);
    return out + texelChanges(tetTexels(old->tets, order), tetTexels(cage->tets, order));
  }

  std::string frames(size_t first, size_t last) {
    const size_t width = kRow + fields.size();
    std::string out;
    ByteWriter writer(out);
    writer.u32(uint32_t(first));
    writer.u32(uint32_t(last - first + 1));
    writer.u32(uint32_t(width));
    writer.u32(uint32_t(statistics.size()));
    std::vector<float> row(width);
    for (size_t f = first; f <= last; ++f) {
      if (cancelled) throw Error(ErrorKind::Limit, "the server is being stopped");
      if (out.size() > kMostBytes)
        throw Error(ErrorKind::Limit,
                    fmt::format("frames {} to {} are more than a browser takes", first, last))
            .inFile(run.path().string())
            .hint("ask for fewer at once");
      read(f);
      writer.f64(frame.time);
      writer.u32(uint32_t(frame.bodies.size()));
      writer.u32(0);
      std::vector<const std::vector<float>*> values(fields.size(), nullptr);
      for (const record::BodyField& field : frame.fields)
        for (size_t k = 0; k < fields.size(); ++k)
          if (fields[k] == field.name) values[k] = &field.values;
      for (size_t b = 0; b < frame.bodies.size(); ++b) {
        const record::BodyState& s = frame.bodies[b];
        const float x = s.present ? s.position.x() : std::numeric_limits<float>::quiet_NaN();
        const float start[kRow] = {x,
                                   s.position.y(),
                                   s.position.z(),
                                   s.rotation.x(),
                                   s.rotation.y(),
                                   s.rotation.z(),
                                   s.rotation.w(),
                                   s.velocity.norm()};
        std::copy_n(start, kRow, row.begin());
        for (size_t k = 0; k < fields.size(); ++k)
          row[kRow + k] = values[k] && b < values[k]->size() ? (*values[k])[b] : 0.0f;
        writer.writeArray(std::span<const float>(row));
      }
      const std::vector<record::Statistic> numbers = statisticsOf(f);
      for (const std::string& name : statistics) {
        const auto found =
            std::find_if(numbers.begin(), numbers.end(), [&](const auto& s) { return s.name == name; });
        writer.f32(found == numbers.end() ? std::numeric_limits<float>::quiet_NaN() : float(found->value));
      }
      writer.zeros((8 - writer.size() % 8) % 8);
    }
    return out;
  }

  bool hasPoints() const {
    return !valued.empty() ||
           std::any_of(run.bodies().begin(), run.bodies().end(),
                       [](const record::BodyEntry& body) { return record::hasPoints(body.kind); });
  }

  std::string points(size_t f) {
    read(f);
    std::string out;
    ByteWriter writer(out);
    writer.u32(uint32_t(frame.points.size()));
    writer.u32(uint32_t(pointFields.size()));
    std::vector<float> values;
    for (const record::BodyPoints& recorded : frame.points) {
      record::BodyPoints cloud = recorded;
      // Of a body with a mesh the vertices that are shown; the page places those in a cage itself.
      const uint32_t mesh = run.meshOf(cloud.body, f);
      const bool caged = !(cloud.radius > 0) && run.embeddingOf(mesh) != kNoIndex;
      if (!(cloud.radius > 0) && !caged && mesh < run.meshCount()) {
        record::BodyShape shape = shapeOrNone(shapes, frame, f, cloud.body);
        cloud.positions = std::move(shape.positions);
        cloud.fields = std::move(shape.fields);
      }
      const size_t count = record::pointCount(cloud);
      writer.u32(cloud.body);
      writer.u32(uint32_t(count));
      writer.f32(cloud.radius);
      writer.u32(uint32_t(cloud.positions.empty()) | uint32_t(caged) << 1);  // 1: vertices that rest
      for (const Vec3f& p : cloud.positions) writer.writeArray(std::span(p.data(), 3));
      for (const std::string& name : pointFields) {
        values.assign(count, 0);
        for (const record::PointField& field : cloud.fields) {
          if (name == "speed" && isVelocity(field))
            for (size_t i = 0; i < count; ++i)
              values[i] = Eigen::Map<const Vec3f>(field.values.data() + 3 * i).norm();
          else if (field.name == name && field.components == 1)
            values = field.values;
        }
        writer.writeArray(std::span<const float>(values));
      }
    }
    return out;
  }

  Json events(size_t f) const {
    Json events = Json::array();
    std::vector<record::Event> recorded;
    try {
      recorded = run.events(f);
    } catch (const Error&) {
      return events;  // lost
    }
    for (const record::Event& e : recorded)
      events.push_back({{"kind", record::name(e.kind)},
                        {"a", e.a == kNoIndex ? -1 : int64_t(e.a)},
                        {"b", e.b == kNoIndex ? -1 : int64_t(e.b)},
                        {"point", vectorJson(e.point)},
                        {"normal", vectorJson(e.normal)},
                        {"impulse", e.impulse},
                        {"energy", e.energy},
                        {"text", e.text}});
    return events;
  }

  Json fronts(size_t f) const {
    Json out = Json::array();
    std::vector<record::CrackFront> recorded;
    try {
      recorded = run.fronts(f);
    } catch (const Error&) {
      return out;  // lost
    }
    for (const record::CrackFront& front : recorded) {
      Json points = Json::array(), states = Json::array();
      for (const record::FrontPoint& point : front.points) {
        points.push_back(vectorJson(point.position));
        states.push_back(record::name(point.state));
      }
      out.push_back({{"body", front.body}, {"closed", front.closed}, {"points", points}, {"states", states}});
    }
    return out;
  }

  bool hasFronts() const {
    return std::any_of(run.chunks().begin(), run.chunks().end(), [](const record::Chunk& chunk) {
      return chunk.head.type == record::ChunkType::Fronts;
    });
  }

  void requireFrames(size_t first, size_t last) const {
    if (first > last || last >= run.frameCount())
      throw Error(ErrorKind::Usage, fmt::format("there are no frames {} to {}", first, last))
          .inFile(run.path().string())
          .hint(fmt::format("the run has {} frames", run.frameCount()));
  }
};

ViewData::ViewData(const std::filesystem::path& run) : impl_(std::make_unique<Impl>(run)) {}
ViewData::~ViewData() = default;

std::string ViewData::info() {
  const std::lock_guard guard(impl_->lock);
  impl_->refresh();
  return impl_->info().text({.asCame = true});
}

std::string ViewData::mesh(size_t index) {
  const std::lock_guard guard(impl_->lock);
  return impl_->mesh(index);
}

std::string ViewData::frames(size_t first, size_t last) {
  const std::lock_guard guard(impl_->lock);
  impl_->requireFrames(first, last);
  return impl_->frames(first, std::min(last, first + kMostFrames - 1));
}

std::string ViewData::events(size_t frame) {
  const std::lock_guard guard(impl_->lock);
  impl_->requireFrames(frame, frame);
  return impl_->events(frame).text({.asCame = true});
}

std::string ViewData::fronts(size_t frame) {
  const std::lock_guard guard(impl_->lock);
  impl_->requireFrames(frame, frame);
  return impl_->fronts(frame).text({.asCame = true});
}

std::string ViewData::points(size_t frame) {
  const std::lock_guard guard(impl_->lock);
  impl_->requireFrames(frame, frame);
  return impl_->points(frame);
}

std::string ViewData::shape(size_t body, size_t version) {
  const std::lock_guard guard(impl_->lock);
  return impl_->shape(body, version);
}

std::string ViewData::soft(size_t mesh) {
  const std::lock_guard guard(impl_->lock);
  return impl_->soft(mesh);
}

std::string ViewData::tear(size_t body, size_t version) {
  const std::lock_guard guard(impl_->lock);
  return impl_->tear(body, version);
}

std::string ViewData::boxes(size_t mesh, uint32_t level) {
  const std::lock_guard guard(impl_->lock);
  return impl_->overlay(mesh).boxes(level);
}

std::string ViewData::spheres(size_t mesh, uint32_t level) {
  const std::lock_guard guard(impl_->lock);
  return impl_->overlay(mesh).spheres(level);
}

std::string ViewData::slice(size_t mesh, uint32_t axis, double share) {
  const std::lock_guard guard(impl_->lock);
  return impl_->overlay(mesh).slice(axis, share);
}

void ViewData::cancel() { impl_->cancelled = true; }

size_t ViewData::frameCount() {
  const std::lock_guard guard(impl_->lock);
  return impl_->run.frameCount();
}

namespace {

// packed(bytes) is told how many bytes are done.
std::string gzip(std::string_view data, const std::function<void(size_t)>& packed) {
  struct Stream : z_stream {
    Stream() : z_stream{} {
      if (deflateInit2(this, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { deflateEnd(this); }
  } stream;
  std::string out(deflateBound(&stream, uLong(data.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = uInt(out.size());
  for (size_t done = 0; done < data.size();) {
    stream.avail_in = uInt(std::min(kPiece, data.size() - done));
    done += stream.avail_in;
    deflate(&stream, done < data.size() ? Z_NO_FLUSH : Z_FINISH);
    packed(done);
  }
  out.resize(stream.total_out);
  return out;
}

std::string base64(std::string_view data) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((data.size() + 2) / 3 * 4);
  for (size_t i = 0; i < data.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < data.size() ? uint8_t(data[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k <= data.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace

std::string selfContainedPage(std::string_view page, const std::filesystem::path& path,
                              std::span<const size_t> chosen,
                              const std::function<void(size_t done, size_t of)>& progress) {
  constexpr size_t kFramesAtOnce = 32;
  static constexpr std::string_view kPlace = "<script id=\"sunder-data\" type=\"application/octet-stream\">";
  const size_t at = page.find(kPlace);
  if (at == page.npos)
    throw Error(ErrorKind::Unsupported, "the page has no place for data").hint("build the viewer again");
  ViewData data(path);
  std::vector<size_t> numbers(chosen.begin(), chosen.end());
  if (numbers.empty()) {
    numbers.resize(data.frameCount());
    std::iota(numbers.begin(), numbers.end(), size_t(0));
  }
  const auto report = [&](size_t step) {
    if (progress) progress(step, 2 * numbers.size());
  };
  Json info = readJson(data.info());
  if (info["state"] == "live") info["state"] = "cut off";
  info["frames"] = numbers.size();
  // Frames count from the first that was chosen.
  for (Json& body : info["bodies"])
    if (Json* const changes = body.find("changes"))
      for (Json& frame : *changes)
        frame = std::lower_bound(numbers.begin(), numbers.end(), frame.whole()) - numbers.begin();
  std::string parts;
  const auto add = [&](std::string_view part) {
    if (parts.size() + part.size() > ViewData::kMostBytes)
      throw Error(ErrorKind::Limit, "the run is too large for one page")
          .inFile(path.string())
          .hint("export fewer frames");
    ByteWriter writer(parts);
    writer.u32(uint32_t(part.size()));
    writer.string(part);
  };
  add(info.text({.asCame = true}));
  std::string frames;
  Json events = Json::array();
  for (size_t i = 0; i < numbers.size();) {
    // Frames that follow each other come in blocks.
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1 && end - i < kFramesAtOnce) ++end;
    const std::string block = data.frames(numbers[i], numbers[end - 1]);
    // One head for all.
    frames.append(block, frames.empty() ? 0 : kBlockHead);
    for (; i < end; ++i) {
      events.push_back(readJson(data.events(numbers[i])));
      report(i + 1);
    }
  }
  if (frames.empty()) frames.assign(kBlockHead, '\0');
  ByteWriter(frames).overwrite<uint32_t>(0, 0);
  ByteWriter(frames).overwrite<uint32_t>(4, uint32_t(numbers.size()));
  add(frames);
  add(events.text({.asCame = true}));
  // The shader has surfaces in cages, so their meshes stay empty. What is damaged is left out.
  const std::string nothing(8, '\0');
  const auto addSafely = [&](auto&& get) {
    std::string part;
    try {
      part = get();
    } catch (const Error&) {  // lost
    }
    add(part);
  };
  std::set<int64_t> soft;
  for (const Json& mesh : info["softMeshes"]) soft.insert(int64_t(mesh.whole()));
  for (size_t m = 0; m < info["meshes"].whole(); ++m)
    add(soft.contains(int64_t(m)) ? std::string_view(nothing) : std::string_view(data.mesh(m)));
  if (info["points"].boolean())
    for (const size_t frame : numbers) add(data.points(frame));
  for (size_t b = 0; b < info["bodies"].size(); ++b)
    if (const Json& body = info["bodies"][b]; body.contains("changes")) {
      for (size_t v = 0; v <= body["changes"].size(); ++v) {
        if (body.contains("soft") && body["soft"][v] != -1)
          addSafely([&] { return data.tear(b, v); });
        else
          add(data.shape(b, v));
      }
    }
  for (const int64_t m : soft) addSafely([&] { return data.soft(size_t(m)); });
  if (info["fronts"].boolean()) {
    Json fronts = Json::array();
    for (const size_t frame : numbers) fronts.push_back(readJson(data.fronts(frame)));
    add(fronts.text({.asCame = true}));
  }
  std::string out(page.substr(0, at + kPlace.size()));
  out += base64(gzip(parts, [&](size_t done) {
    report(numbers.size() + size_t(double(numbers.size()) * double(done) / double(parts.size())));
  }));
  out += page.substr(at + kPlace.size());
  return out;
}

}  // namespace sunder::show
