#include "sunder/record/body_meshes.h"

#include "sunder/base/error.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::record {

namespace {

using Face = std::array<uint32_t, 3>;

// The face opposite to corner k, its vertices ascending.
Face faceOf(const geometry::Tetrahedron& tet, uint32_t k) {
  Face face{};
  size_t at = 0;
  for (uint32_t c = 0; c < 4; ++c)
    if (c != k) face[at++] = tet[c];
  std::sort(face.begin(), face.end());
  return face;
}

uint64_t bytesOf(const MeshEntry& mesh) {
  return 12 * mesh.positions.size() + 15 * mesh.triangles.size() + 16 * mesh.tets.size() +
         8 * mesh.uvs.size() + 256;
}

Vec3f place(const Embedding& embedding, const MeshEntry& cage, std::span<const Vec3f> positions, size_t v) {
  Vec3 sum = Vec3::Zero();
  const geometry::Tetrahedron& tet = cage.tets[embedding.tets[v]];
  for (int k = 0; k < 4; ++k)
    sum += double(embedding.weights[v][k]) * positions[tet[size_t(k)]].cast<double>();
  return sum.cast<float>();
}

PointField interpolated(const Embedding& embedding, const MeshEntry& cage, const PointField& field) {
  PointField out{field.name, field.components, {}};
  out.values.reserve(embedding.tets.size() * field.components);
  for (size_t v = 0; v < embedding.tets.size(); ++v) {
    const geometry::Tetrahedron& tet = cage.tets[embedding.tets[v]];
    for (size_t c = 0; c < field.components; ++c) {
      double sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += double(embedding.weights[v][k]) *
               double(field.values[size_t(tet[size_t(k)]) * field.components + c]);
      out.values.push_back(float(sum));
    }
  }
  return out;
}

}  // namespace

size_t pointCount(const BodyPoints& points) {
  if (!points.positions.empty() || points.fields.empty()) return points.positions.size();
  return points.fields.front().values.size() / std::max<size_t>(points.fields.front().components, 1);
}

const BodyPoints* pointsOf(std::span<const BodyPoints> points, uint32_t body) {
  const auto found = std::lower_bound(points.begin(), points.end(), body,
                                      [](const BodyPoints& p, uint32_t b) { return p.body < b; });
  return found != points.end() && found->body == body ? &*found : nullptr;
}

bool fits(const Embedding& embedding, const MeshEntry& surface, const MeshEntry& cage) {
  const size_t tets = cage.tets.size(), triangles = surface.triangles.size();
  return embedding.tets.size() == surface.positions.size() &&
         std::all_of(embedding.tets.begin(), embedding.tets.end(), [&](uint32_t t) { return t < tets; }) &&
         (embedding.walls.empty() || embedding.walls.size() == triangles) &&
         std::all_of(embedding.walls.begin(), embedding.walls.end(),
                     [&](uint32_t w) { return w == kNoIndex || w / 4 < tets; });
}

BodyMeshes::BodyMeshes(const RunReader& run, uint64_t mostBytes) : run_(run), mostBytes_(mostBytes) {}

void BodyMeshes::clear() {
  unchanged_.clear();
  changed_.clear();
  bytes_ = 0;
}

uint64_t BodyMeshes::costOf(const Shown& what) {
  return bytesOf(*what.mesh) + (what.cage ? bytesOf(*what.cage) + 24 * what.embedding->tets.size() : 0);
}

// Makes room where it is needed.
void BodyMeshes::keep(const Shown& what) {
  bytes_ += costOf(what);
  if (bytes_ > mostBytes_) clear();
}

std::shared_ptr<const MeshEntry> BodyMeshes::withoutHiddenWalls(const Shown& of) const {
  const std::vector<uint32_t>& walls = of.embedding->walls;
  if (walls.empty()) return of.mesh;
  std::vector<Face> faces;
  for (const geometry::Tetrahedron& tet : of.cage->tets)
    for (uint32_t k = 0; k < 4; ++k) faces.push_back(faceOf(tet, k));
  std::sort(faces.begin(), faces.end());
  const auto hidden = [&](uint32_t wall) {
    if (wall == kNoIndex) return false;
    const auto [first, last] =
        std::equal_range(faces.begin(), faces.end(), faceOf(of.cage->tets[wall / 4], wall % 4));
    return last - first > 1;
  };
  auto shown = std::make_shared<MeshEntry>(*of.mesh);
  size_t kept = 0;
  for (size_t t = 0; t < walls.size(); ++t) {
    if (hidden(walls[t])) continue;
    shown->triangles[kept] = shown->triangles[t];
    if (!shown->interior.empty()) shown->interior[kept] = shown->interior[t];
    if (!shown->slots.empty()) shown->slots[kept] = shown->slots[t];
    if (!shown->uvs.empty())
      for (size_t k = 0; k < 3; ++k) shown->uvs[3 * kept + k] = shown->uvs[3 * t + k];
    ++kept;
  }
  shown->triangles.resize(kept);
  if (!shown->interior.empty()) shown->interior.resize(kept);
  if (!shown->slots.empty()) shown->slots.resize(kept);
  if (!shown->uvs.empty()) shown->uvs.resize(3 * kept);
  return shown;
}

const BodyMeshes::Shown& BodyMeshes::unchanged(uint32_t mesh) {
  if (const auto found = unchanged_.find(mesh); found != unchanged_.end()) return found->second;
  Shown shown;
  if (mesh >= run_.meshCount()) {
    shown.mesh = std::make_shared<MeshEntry>();
  } else {
    shown.mesh = std::make_shared<MeshEntry>(run_.mesh(mesh));
    if (const uint32_t k = run_.embeddingOf(mesh); k != kNoIndex) {
      auto embedding = std::make_shared<Embedding>(run_.embedding(k));
      shown.cage = std::make_shared<MeshEntry>(run_.mesh(embedding->cage));
      if (!fits(*embedding, *shown.mesh, *shown.cage))
        throw Error(ErrorKind::Format, fmt::format("the embedding of mesh {} does not fit its cage", mesh))
            .inFile(run_.path().string());
      shown.embedding = std::move(embedding);
      shown.mesh = withoutHiddenWalls(shown);
    }
  }
  keep(shown);
  return unchanged_[mesh] = std::move(shown);
}

const BodyMeshes::Shown& BodyMeshes::shown(uint32_t body, size_t frame) {
  const MeshVersion version = run_.meshVersion(body, frame);
  if (version.changes == 0) return unchanged(version.mesh);
  const auto known = changed_.find(body);
  Shown now;
  uint32_t done = 0;
  if (known != changed_.end()) {
    const MeshVersion& last = known->second.version;
    if (last == version) return known->second.shown;
    if (last.mesh == version.mesh && last.first == version.first && last.changes < version.changes) {
      now = std::move(known->second.shown);
      done = last.changes;
      bytes_ -= costOf(now);
    } else {
      bytes_ -= costOf(known->second.shown);
    }
    changed_.erase(known);  // should a change not fit, nothing half done is left
  }
  if (!now.mesh) now = unchanged(version.mesh);
  // Whoever has the mesh of another frame keeps it; where nobody does, it need not be copied.
  std::shared_ptr<const MeshEntry>& base = now.cage ? now.cage : now.mesh;
  auto own =
      base.use_count() == 1 ? std::const_pointer_cast<MeshEntry>(base) : std::make_shared<MeshEntry>(*base);
  for (; done < version.changes; ++done)
    apply(run_.changeOf(body, version.first + done), *own, run_.path().string());
  base = std::move(own);
  if (now.cage && !now.embedding->walls.empty()) {
    now.mesh = std::make_shared<MeshEntry>(run_.mesh(version.mesh));
    now.mesh = withoutHiddenWalls(now);
  }
  keep(now);
  Changed& entry = changed_[body];
  entry = {version, std::move(now)};
  return entry.shown;
}

std::shared_ptr<const MeshEntry> BodyMeshes::mesh(uint32_t body, size_t frame) {
  return shown(body, frame).mesh;
}

BodyShape BodyMeshes::shape(const Frame& state, size_t frame, uint32_t body) {
  const Shown& now = shown(body, frame);
  BodyShape shape;
  shape.mesh = now.mesh;
  const BodyPoints* points = pointsOf(state.points, body);
  if (!points || points->radius > 0) return shape;
  const size_t count = pointCount(*points);
  if (count != (now.cage ? now.cage : now.mesh)->positions.size()) return shape;
  if (!now.cage) {
    shape.positions = points->positions;
    shape.fields = points->fields;
    return shape;
  }
  if (!points->positions.empty())
    for (size_t v = 0; v < now.embedding->tets.size(); ++v)
      shape.positions.push_back(place(*now.embedding, *now.cage, points->positions, v));
  for (const PointField& field : points->fields)
    shape.fields.push_back(interpolated(*now.embedding, *now.cage, field));
  return shape;
}

}  // namespace sunder::record
