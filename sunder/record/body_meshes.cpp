#include "sunder/record/body_meshes.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace sunder::record {

namespace {

// A face of a tetrahedron, its vertices ascending.
struct Face {
  std::array<uint32_t, 3> vertices{};
  uint32_t corner = 0;  // 4 t + k, opposite to it
};

Face faceOf(const geometry::Tetrahedron& tet, uint32_t t, uint32_t k) {
  Face face{{}, 4 * t + k};
  size_t at = 0;
  for (uint32_t c = 0; c < 4; ++c)
    if (c != k) face.vertices[at++] = tet[c];
  std::sort(face.vertices.begin(), face.vertices.end());
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

std::vector<uint8_t> exposedFaces(std::span<const geometry::Tetrahedron> tets) {
  std::vector<Face> faces;
  faces.reserve(4 * tets.size());
  for (uint32_t t = 0; t < tets.size(); ++t)
    for (uint32_t k = 0; k < 4; ++k) faces.push_back(faceOf(tets[t], t, k));
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.vertices < b.vertices; });
  std::vector<uint8_t> exposed(tets.size(), 0);
  for (size_t i = 0; i < faces.size(); ++i)
    if ((i == 0 || faces[i - 1].vertices != faces[i].vertices) &&
        (i + 1 == faces.size() || faces[i + 1].vertices != faces[i].vertices))
      exposed[faces[i].corner / 4] |= uint8_t(1u << faces[i].corner % 4);
  return exposed;
}

bool fits(const Embedding& embedding, const MeshEntry& surface, const MeshEntry& cage) {
  const size_t tets = cage.tets.size(), triangles = surface.triangles.size();
  return embedding.tets.size() == surface.positions.size() &&
         std::all_of(embedding.tets.begin(), embedding.tets.end(), [&](uint32_t t) { return t < tets; }) &&
         (embedding.walls.empty() || embedding.walls.size() == triangles) &&
         (embedding.sources.empty() || embedding.sources.size() == triangles) &&
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
  uint64_t bytes = bytesOf(*what.mesh);
  if (!what.caged) return bytes;
  bytes += bytesOf(*what.caged.cage) + 24 * what.caged.embedding->tets.size();
  if (what.caged.surface != what.mesh) bytes += bytesOf(*what.caged.surface);
  if (what.caged.source) bytes += bytesOf(*what.caged.source);
  return bytes;
}

// Makes room where it is needed.
void BodyMeshes::keep(const Shown& what) {
  bytes_ += costOf(what);
  if (bytes_ > mostBytes_) clear();
}

// Where it is lost, the body is shown without.
std::shared_ptr<const MeshEntry> BodyMeshes::sourceOf(const Embedding& embedding) const {
  if (embedding.source >= run_.meshCount()) return nullptr;
  try {
    auto source = std::make_shared<MeshEntry>(run_.mesh(embedding.source));
    const bool named = std::all_of(embedding.sources.begin(), embedding.sources.end(),
                                   [&](uint32_t t) { return t == kNoIndex || t < source->triangles.size(); });
    return named ? source : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

void BodyMeshes::hideWalls(Shown& of) {
  const std::vector<uint32_t>& walls = of.caged.embedding->walls;
  of.mesh = of.caged.surface;
  of.caged.shown = nullptr;
  if (walls.empty()) return;
  const std::vector<uint8_t> exposed = exposedFaces(of.caged.cage->tets);
  auto kept = std::make_shared<std::vector<uint32_t>>();
  for (uint32_t t = 0; t < walls.size(); ++t)
    if (walls[t] == kNoIndex || exposed[walls[t] / 4] >> walls[t] % 4 & 1u) kept->push_back(t);
  if (kept->size() == walls.size()) return;
  auto shown = std::make_shared<MeshEntry>(*of.caged.surface);
  const auto pick = [&](auto& values, size_t each) {
    if (values.empty()) return;
    for (size_t i = 0; i < kept->size(); ++i)
      for (size_t k = 0; k < each; ++k) values[each * i + k] = values[each * (*kept)[i] + k];
    values.resize(each * kept->size());
  };
  pick(shown->triangles, 1);
  pick(shown->interior, 1);
  pick(shown->slots, 1);
  pick(shown->uvs, 3);
  of.mesh = std::move(shown);
  of.caged.shown = std::move(kept);
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
      shown.caged.surface = shown.mesh;
      shown.caged.cage = std::make_shared<MeshEntry>(run_.mesh(embedding->cage));
      if (!fits(*embedding, *shown.mesh, *shown.caged.cage))
        throw Error(ErrorKind::Format, fmt::format("the embedding of mesh {} does not fit its cage", mesh))
            .inFile(run_.path().string());
      shown.caged.source = sourceOf(*embedding);
      shown.caged.embedding = std::move(embedding);
      hideWalls(shown);
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
  std::shared_ptr<const MeshEntry>& base = now.caged ? now.caged.cage : now.mesh;
  auto own =
      base.use_count() == 1 ? std::const_pointer_cast<MeshEntry>(base) : std::make_shared<MeshEntry>(*base);
  for (; done < version.changes; ++done)
    apply(run_.changeOf(body, version.first + done), *own, run_.path().string());
  base = std::move(own);
  if (now.caged) hideWalls(now);
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
  shape.caged = now.caged;
  const BodyPoints* points = pointsOf(state.points, body);
  if (!points || points->radius > 0) return shape;
  const size_t count = pointCount(*points);
  if (count != (now.caged ? now.caged.cage : now.mesh)->positions.size()) return shape;
  if (!now.caged) {
    shape.positions = points->positions;
    shape.fields = points->fields;
    return shape;
  }
  const Embedding& embedding = *now.caged.embedding;
  shape.cagePositions = points->positions;
  shape.cageFields = points->fields;
  if (!points->positions.empty())
    for (size_t v = 0; v < embedding.tets.size(); ++v)
      shape.positions.push_back(place(embedding, *now.caged.cage, points->positions, v));
  for (const PointField& field : points->fields)
    shape.fields.push_back(interpolated(embedding, *now.caged.cage, field));
  return shape;
}

}  // namespace sunder::record
