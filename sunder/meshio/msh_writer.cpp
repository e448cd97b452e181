// Gmsh's .msh files, version 4.1 (Gmsh reference manual, "MSH file format"). Each region is a volume entity,
// each group a surface entity, and both are physical groups of the same tag, so that Gmsh shows them as such.
// Elements keep their order: a new block starts wherever the region or group changes.
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/meshio/cell_soup.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/msh_elements.h"
#include "sunder/meshio/text_writer.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sunder::meshio {

namespace {

// Values as text with blanks between them, or as bytes.
class MshSink {
 public:
  MshSink(OutputFile& out, bool ascii) : out_(out), text_(out), ascii_(ascii) {
    buffer_.reserve(kCapacity + 64);
  }

  void integer(int32_t value) { put(value); }
  void size(uint64_t value) { put(value); }
  void real(double value) { put(value); }
  void endLine() {
    if (ascii_) text_ << '\n';
  }
  void text(std::string_view words) {
    flush();
    text_ << words;
  }
  void flush() {
    if (!ascii_) text_.flush();  // both kinds share the file: what came first goes first
    out_.write(std::as_bytes(std::span(buffer_)));
    buffer_.clear();
  }
  void finish() {
    flush();
    text_.flush();
  }

 private:
  static constexpr size_t kCapacity = size_t(1) << 16;

  template <class T>
  void put(T value) {
    if (ascii_) {
      text_ << value << ' ';
      return;
    }
    const size_t at = buffer_.size();
    buffer_.resize(at + sizeof(T));
    std::memcpy(buffer_.data() + at, &value, sizeof(T));
    if (buffer_.size() >= kCapacity) flush();
  }

  OutputFile& out_;
  TextWriter text_;
  std::vector<char> buffer_;
  bool ascii_;
};

// The surface with polygons of more than four corners split, or the surface itself.
struct Faces {
  std::vector<uint32_t> offsets{0}, corners, group;
  uint64_t split = 0, dropped = 0;

  size_t count() const { return offsets.size() - 1; }
  size_t corner(size_t f) const { return offsets[f + 1] - offsets[f]; }
};

Faces facesOf(const geometry::PolygonSoup& soup) {
  geometry::PolygonSoup large;
  std::vector<uint32_t> source;
  for (size_t f = 0; f < soup.faceCount(); ++f)
    if (soup.face(f).size() > 4) large.addFace(soup.face(f));
  geometry::TriMesh triangles;
  if (large.faceCount() > 0) {
    large.positions = soup.positions;
    triangles = geometry::toTriMesh(large, &source);
  }
  std::vector<size_t> order(triangles.triangles.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return source[a] < source[b]; });

  Faces faces;
  auto add = [&](std::span<const uint32_t> corners, size_t f) {
    faces.corners.insert(faces.corners.end(), corners.begin(), corners.end());
    faces.offsets.push_back(static_cast<uint32_t>(faces.corners.size()));
    if (!soup.faceGroup.empty()) faces.group.push_back(soup.faceGroup[f]);
  };
  size_t next = 0;
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    if (soup.face(f).size() <= 4) {
      if (soup.face(f).size() >= 3)
        add(soup.face(f), f);
      else
        ++faces.dropped;
      continue;
    }
    for (; next < order.size() && source[order[next]] == faces.split; ++next)
      add(triangles.triangles[order[next]], f);
    ++faces.split;
  }
  return faces;
}

struct Block {
  size_t begin, end;
  int dimension;
  int32_t entity;
  int type;
};

class MshWriter {
 public:
  MshWriter(OutputFile& out, const MeshFile& mesh, bool ascii)
      : sink_(out, ascii),
        mesh_(mesh),
        points_(joinPoints(mesh)),
        faces_(facesOf(mesh.surface)),
        ascii_(ascii) {
    if (points_.size() > kMostElements)
      throw Error(ErrorKind::Limit, "volume and surface together have more points than 32-bit indices allow");
  }
  std::vector<std::string> write();

 private:
  void chooseTags();
  void makeBlocks();
  void writeNames();
  void writeEntities();
  void writeNodes();
  void writeElements();
  int32_t tagOf(size_t tet) const {
    return mesh_.volume.region.empty() ? 1 : tags_.at(mesh_.volume.region[tet]);
  }

  MshSink sink_;
  const MeshFile& mesh_;
  JoinedPoints points_;
  Faces faces_;
  bool ascii_;
  std::map<int32_t, int32_t> tags_;  // region -> entity
  std::vector<int32_t> groups_;      // groups that have faces, ascending
  std::vector<Block> blocks_;
  std::vector<std::string> notes_;
};

void MshWriter::chooseTags() {
  const std::vector<int32_t>& region = mesh_.volume.region;
  for (size_t t = 0; t < region.size(); ++t)
    if (t == 0 || region[t] != region[t - 1]) tags_.try_emplace(region[t], region[t]);
  int32_t next = 1;
  for (auto& [value, tag] : tags_) {
    if (value > 0) continue;
    while (tags_.contains(next)) ++next;
    tag = next++;
    notes_.push_back("Gmsh's tags are positive: region " + std::to_string(value) + " became tag " +
                     std::to_string(tag) + " with the name '" + std::string(kMshRegionName) +
                     std::to_string(value) + "'");
  }
  groups_.assign(faces_.group.begin(), faces_.group.end());
  std::sort(groups_.begin(), groups_.end());
  groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
}

void MshWriter::makeBlocks() {
  auto add = [&](size_t i, int dimension, int32_t entity, int type) {
    if (!blocks_.empty()) {
      Block& last = blocks_.back();
      if (last.dimension == dimension && last.entity == entity && last.type == type) {
        last.end = i + 1;
        return;
      }
    }
    blocks_.push_back({i, i + 1, dimension, entity, type});
  };
  for (size_t f = 0; f < faces_.count(); ++f)
    add(f, 2, faces_.group.empty() ? 1 : static_cast<int32_t>(faces_.group[f]) + 1,
        faces_.corner(f) == 3 ? kMshTriangle : kMshQuad);
  int32_t lastRegion = 0, lastTag = 0;
  for (size_t t = 0; t < mesh_.volume.tets.size(); ++t) {
    const int32_t region = mesh_.volume.region.empty() ? 0 : mesh_.volume.region[t];
    if (t == 0 || region != lastRegion) {
      lastRegion = region;
      lastTag = tagOf(t);
    }
    add(t, 3, lastTag, kMshTet);
  }
}

void MshWriter::writeNames() {
  std::string lines;
  size_t count = 0;
  bool changed = false;
  if (!faces_.group.empty())
    for (size_t g = 0; g < mesh_.surface.groupNames.size(); ++g, ++count) {
      std::string name = mesh_.surface.groupNames[g];
      for (char& c : name)
        if (c == '"' || static_cast<unsigned char>(c) < 32) {
          c = '_';
          changed = true;
        }
      lines += "2 " + std::to_string(g + 1) + " \"" + name + "\"\n";
    }
  for (const auto& [region, tag] : tags_) {
    if (region > 0) continue;
    lines +=
        "3 " + std::to_string(tag) + " \"" + std::string(kMshRegionName) + std::to_string(region) + "\"\n";
    ++count;
  }
  if (changed) notes_.emplace_back("quotes and control characters in group names became underscores");
  if (count > 0)
    sink_.text("$PhysicalNames\n" + std::to_string(count) + "\n" + lines + "$EndPhysicalNames\n");
}

void MshWriter::writeEntities() {
  Box3 box = geometry::bounds(points_.first);
  box.grow(geometry::bounds(points_.second));
  if (box.empty()) box.lower = box.upper = Vec3::Zero();
  auto entity = [&](int32_t tag, bool physical) {
    sink_.integer(tag);
    for (int k = 0; k < 3; ++k) sink_.real(box.lower[k]);
    for (int k = 0; k < 3; ++k) sink_.real(box.upper[k]);
    sink_.size(physical ? 1 : 0);
    if (physical) sink_.integer(tag);
    sink_.size(0);  // no entities bound it
    sink_.endLine();
  };
  const bool plainFaces = faces_.count() > 0 && groups_.empty();
  const bool plainTets = !mesh_.volume.tets.empty() && tags_.empty();
  const bool none = faces_.count() == 0 && mesh_.volume.tets.empty();  // points alone need a place too
  sink_.text("$Entities\n");
  sink_.size(0);
  sink_.size(0);
  sink_.size(plainFaces || none ? 1 : groups_.size());
  sink_.size(plainTets ? 1 : tags_.size());
  sink_.endLine();
  if (plainFaces || none) entity(1, false);
  for (const int32_t group : groups_) entity(group + 1, true);
  if (plainTets) entity(1, false);
  for (const auto& [region, tag] : tags_) entity(tag, true);
  sink_.text(ascii_ ? "$EndEntities\n" : "\n$EndEntities\n");
}

void MshWriter::writeNodes() {
  const uint64_t count = points_.size();
  sink_.text("$Nodes\n");
  for (const uint64_t v : {uint64_t(1), count, uint64_t(count > 0), count}) sink_.size(v);
  sink_.endLine();
  const Block where = blocks_.empty() ? Block{0, 0, 2, 1, 0} : blocks_.back();
  sink_.integer(where.dimension);
  sink_.integer(where.entity);
  sink_.integer(0);
  sink_.size(count);
  sink_.endLine();
  for (uint64_t i = 1; i <= count; ++i) {
    sink_.size(i);
    sink_.endLine();
  }
  for (const auto& part : {points_.first, points_.second})
    for (const Vec3& p : part) {
      for (int k = 0; k < 3; ++k) sink_.real(p[k]);
      sink_.endLine();
    }
  sink_.text(ascii_ ? "$EndNodes\n" : "\n$EndNodes\n");
}

void MshWriter::writeElements() {
  const uint64_t count = faces_.count() + mesh_.volume.tets.size();
  sink_.text("$Elements\n");
  for (const uint64_t v : {uint64_t(blocks_.size()), count, uint64_t(count > 0), count}) sink_.size(v);
  sink_.endLine();
  uint64_t number = 0;
  for (const Block& block : blocks_) {
    sink_.integer(block.dimension);
    sink_.integer(block.entity);
    sink_.integer(block.type);
    sink_.size(block.end - block.begin);
    sink_.endLine();
    for (size_t i = block.begin; i < block.end; ++i) {
      sink_.size(++number);
      if (block.dimension == 3)
        for (const uint32_t v : mesh_.volume.tets[i]) sink_.size(uint64_t(v) + 1);
      else
        for (size_t c = faces_.offsets[i]; c < faces_.offsets[i + 1]; ++c)
          sink_.size(uint64_t(faces_.corners[c]) + points_.surfaceBase + 1);
      sink_.endLine();
    }
  }
  sink_.text(ascii_ ? "$EndElements\n" : "\n$EndElements\n");
}

std::vector<std::string> MshWriter::write() {
  chooseTags();
  makeBlocks();
  sink_.text(ascii_ ? "$MeshFormat\n4.1 0 8\n" : "$MeshFormat\n4.1 1 8\n");
  if (!ascii_) {
    sink_.integer(1);
    sink_.text("\n");
  }
  sink_.text("$EndMeshFormat\n");
  writeNames();
  writeEntities();
  writeNodes();
  writeElements();
  sink_.finish();
  auto note = [&](uint64_t count, const char* what) {
    if (count > 0) notes_.push_back(what + std::to_string(count));
  };
  note(faces_.split, "polygons of more than 4 corners split into triangles: ");
  note(faces_.dropped, "polygons of fewer than 3 corners left out: ");
  const geometry::PolygonSoup& soup = mesh_.surface;
  if (!soup.cornerNormals.empty() || !soup.cornerUvs.empty() || !soup.vertexColours.empty())
    notes_.emplace_back("MSH keeps no normals, texture coordinates or colours");
  return std::move(notes_);
}

}  // namespace

std::vector<std::string> writeMsh(OutputFile& out, const MeshFile& mesh, bool ascii) {
  return MshWriter(out, mesh, ascii).write();
}

}  // namespace sunder::meshio
