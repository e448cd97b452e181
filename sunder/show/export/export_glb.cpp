// One GLB with a node a body and animation curves of translation and rotation; a body that is not there has a
// scale of 0. Bodies with the same mesh share its data. Where vertices move by themselves, a GLB a frame.
#include "sunder/base/error.h"
#include "sunder/meshio/glb_output.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/export/export_tracks.h"

#include <map>
#include <optional>
#include <set>

namespace sunder::show {

namespace {

using meshio::GlbTarget;

Json numbersOf(const Vec3f& v) { return {v.x(), v.y(), v.z()}; }
Json numbersOf(const record::Quatf& q) { return {q.x(), q.y(), q.z(), q.w()}; }

class GlbScene {
 public:
  explicit GlbScene(const ExportScene& scene) : scene_(scene) {}

  // A node for the body; the mesh's data are shared with bodies of the same `meshKey`, if one is given.
  size_t addBody(const BodySurface& surface, const Vec3f& position, const record::Quatf& rotation,
                 std::optional<uint32_t> meshKey);
  Json& node(size_t index) { return nodes_[index]; }
  meshio::GlbOutput& data() { return glb_; }
  void write(OutputFile& out, Json animation);

 private:
  // The triangles of a slot, outside or inside.
  struct Part {
    size_t slot = 0;
    bool inside = false;
    Json primitive;
  };
  size_t material(const std::string& name, bool inside);
  std::vector<Part> partsOf(const BodySurface& surface);
  Json primitive(const BodySurface& surface, std::span<const Vec3f> normals,
                 const std::vector<size_t>& triangles);

  const ExportScene& scene_;
  meshio::GlbOutput glb_;
  Json nodes_ = Json::array(), meshes_ = Json::array(), materials_ = Json::array();
  std::map<std::string, size_t> materialIndex_;
  std::map<uint32_t, std::vector<Part>> parts_;              // by key of the mesh
  std::map<std::pair<uint32_t, size_t>, size_t> meshIndex_;  // by key of the mesh and material
  std::set<std::string> extensions_;
};

size_t GlbScene::material(const std::string& name, bool inside) {
  const std::string title = (name.empty() ? "default" : name) + (inside ? kInside : "");
  const auto [found, isNew] = materialIndex_.emplace(title, materials_.size());
  if (!isNew) return found->second;
  const Look look = lookOfMaterial(scene_, name, inside);
  Json surface = {{"baseColorFactor", {look.colour.x(), look.colour.y(), look.colour.z(), 1}},
                  {"metallicFactor", look.metallic},
                  {"roughnessFactor", look.roughness}};
  Json material = {{"name", title}, {"pbrMetallicRoughness", surface}};
  Json extensions = Json::object();
  if (look.transmission > 0) {
    extensions["KHR_materials_transmission"] = {{"transmissionFactor", look.transmission}};
    // Rays find the depth by themselves; rasterisers take the depth our colours are meant for.
    extensions["KHR_materials_volume"] = {{"thicknessFactor", kTintDepth},
                                          {"attenuationDistance", kTintDepth},
                                          {"attenuationColor", numbersOf(solidColour(look))}};
  }
  if (look.refraction != 1.5f && look.refraction >= 1)
    extensions["KHR_materials_ior"] = {{"ior", look.refraction}};
  for (const auto& [extension, unused] : extensions.members()) extensions_.insert(extension);
  if (!extensions.empty()) material["extensions"] = std::move(extensions);
  materials_.push_back(std::move(material));
  return found->second;
}

// Corners that differ in normal or texture coordinates become separate vertices, as the format demands.
Json GlbScene::primitive(const BodySurface& surface, std::span<const Vec3f> normals,
                         const std::vector<size_t>& triangles) {
  meshio::VertexTable table;
  std::vector<uint32_t> indices;
  for (const size_t t : triangles) {
    for (size_t k = 0; k < 3; ++k) {
      meshio::VertexKey key{.position = surface.triangles[t][k]};
      // A triangle without area has no normal, but the format wants one of length 1.
      const Vec3f n = normals[3 * t + k].isZero() ? Vec3f(0, 1, 0) : normals[3 * t + k];
      std::copy_n(n.data(), 3, key.values);
      // The format's v runs down.
      if (!surface.uvs.empty()) {
        key.values[3] = surface.uvs[3 * t + k].x();
        key.values[4] = 1 - surface.uvs[3 * t + k].y();
      }
      indices.push_back(table.add(key));
    }
  }
  std::vector<float> places, directions, textures;
  for (const meshio::VertexKey& key : table.keys) {
    const Vec3f& p = surface.positions[key.position];
    places.insert(places.end(), p.data(), p.data() + 3);
    directions.insert(directions.end(), key.values, key.values + 3);
    textures.insert(textures.end(), key.values + 3, key.values + 5);
  }
  Json attributes = {{"POSITION", glb_.addWithBounds(places, 3, GlbTarget::Vertices)},
                     {"NORMAL", glb_.add<float>(directions, 3, GlbTarget::Vertices)}};
  if (!surface.uvs.empty()) attributes["TEXCOORD_0"] = glb_.add<float>(textures, 2, GlbTarget::Vertices);
  return {{"attributes", std::move(attributes)}, {"indices", glb_.addIndices(indices, table.keys.size())}};
}

std::vector<GlbScene::Part> GlbScene::partsOf(const BodySurface& surface) {
  const std::vector<Vec3f> normals = normalsOf(surface);
  std::vector<Part> parts;
  for (const bool inside : {false, true})
    for (size_t slot = 0; slot <= surface.slotMaterials.size(); ++slot) {
      std::vector<size_t> triangles;
      for (size_t t = 0; t < surface.triangles.size(); ++t)
        if (surface.inside(t) == inside && size_t(surface.slots.empty() ? 0 : surface.slots[t]) == slot)
          triangles.push_back(t);
      if (!triangles.empty()) parts.push_back({slot, inside, primitive(surface, normals, triangles)});
    }
  return parts;
}

size_t GlbScene::addBody(const BodySurface& surface, const Vec3f& position, const record::Quatf& rotation,
                         std::optional<uint32_t> meshKey) {
  const uint32_t b = surface.body;
  const record::BodyEntry& body = scene_.bodies[b];
  Json extras = {{"body", b},
                 {"parent", parentNumber(body)},
                 {"material", body.material},
                 {"kind", record::name(body.kind)},
                 {"mass", body.mass},
                 {"born", body.born}};
  if (body.parent < scene_.bodies.size()) extras["parentName"] = scene_.bodies[body.parent].name;
  Json node = {{"name", body.name}, {"extras", std::move(extras)}};
  if (!position.isZero()) node["translation"] = numbersOf(position);
  if (!rotation.coeffs().isApprox(record::Quatf::Identity().coeffs(), 0))
    node["rotation"] = numbersOf(rotation);
  if (!surface.triangles.empty()) {
    const size_t look = material(body.material, false);
    std::optional<size_t> mesh;
    if (meshKey)
      if (const auto found = meshIndex_.find({*meshKey, look}); found != meshIndex_.end())
        mesh = found->second;
    if (!mesh) {
      std::vector<Part> parts;
      if (!meshKey)
        parts = partsOf(surface);
      else if (const auto found = parts_.find(*meshKey); found != parts_.end())
        parts = found->second;
      else
        parts = parts_[*meshKey] = partsOf(surface);
      Json list = Json::array();
      for (Part& part : parts) {
        const std::string& name = part.slot == 0 ? body.material : surface.slotMaterials[part.slot - 1];
        part.primitive["material"] = material(name, part.inside);
        list.push_back(std::move(part.primitive));
      }
      mesh = meshes_.size();
      std::string name = meshKey ? scene_.meshes[*meshKey].name : body.name;
      meshes_.push_back({{"primitives", std::move(list)}});
      if (!name.empty()) meshes_.back()["name"] = std::move(name);
      if (meshKey) meshIndex_[{*meshKey, look}] = *mesh;
    }
    node["mesh"] = *mesh;
  }
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

void GlbScene::write(OutputFile& out, Json animation) {
  Json all = Json::array();
  for (size_t i = 0; i < nodes_.size(); ++i) all.push_back(i);
  Json root = {{"scene", 0}};
  Json whole = {{"name", scene_.name}};
  if (!all.empty()) {
    whole["nodes"] = std::move(all);
    root["nodes"] = std::move(nodes_);
  }
  root["scenes"] = Json::array({std::move(whole)});
  if (!meshes_.empty()) root["meshes"] = std::move(meshes_);
  if (!materials_.empty()) root["materials"] = std::move(materials_);
  if (!extensions_.empty()) root["extensionsUsed"] = extensions_;
  if (!animation.isNull()) root["animations"] = Json::array({std::move(animation)});
  glb_.write(out, std::move(root));
}

// Curves of one animation.
class Curves {
 public:
  Curves(meshio::GlbOutput& data, const std::vector<double>& times) : data_(data) {
    for (const double t : times) times_.push_back(static_cast<float>(t - times.front()));
  }

  // Only the keys given, each with `width` numbers that `value(key)` points to.
  template <class Value>
  void add(size_t node, const char* path, const char* interpolation, int width,
           const std::vector<uint32_t>& keys, Value&& value) {
    std::vector<float> numbers;
    for (const uint32_t key : keys) {
      const float* const from = value(key);
      numbers.insert(numbers.end(), from, from + width);
    }
    samplers_.push_back({{"input", input(keys)},
                         {"output", data_.add<float>(numbers, width, GlbTarget::None)},
                         {"interpolation", interpolation}});
    channels_.push_back({{"sampler", samplers_.size() - 1}, {"target", {{"node", node}, {"path", path}}}});
  }

  Json animation() {
    if (channels_.empty()) return nullptr;
    return {{"name", "run"}, {"channels", std::move(channels_)}, {"samplers", std::move(samplers_)}};
  }

 private:
  int input(const std::vector<uint32_t>& keys) {
    const auto [found, isNew] = inputs_.emplace(keys, 0);
    if (isNew) {
      std::vector<float> chosen;
      for (const uint32_t key : keys) chosen.push_back(times_[key]);
      found->second = data_.addWithBounds(chosen, 1, GlbTarget::None);
    }
    return found->second;
  }

  meshio::GlbOutput& data_;
  std::vector<float> times_;
  std::map<std::vector<uint32_t>, int> inputs_;
  Json channels_ = Json::array(), samplers_ = Json::array();
};

void animateBody(Curves& curves, GlbScene& glb, size_t node, const BodyTrack& track) {
  static constexpr float kScales[2][3] = {{0, 0, 0}, {1, 1, 1}};
  if (const auto keys = neededKeys(track.positions); keys.size() > 1)
    curves.add(node, "translation", "LINEAR", 3, keys, [&](uint32_t k) { return track.positions[k].data(); });
  if (const auto keys = neededKeys(track.rotations); keys.size() > 1)
    curves.add(node, "rotation", "LINEAR", 4, keys,
               [&](uint32_t k) { return track.rotations[k].coeffs().data(); });
  if (!track.present[0]) glb.node(node)["scale"] = {0, 0, 0};
  if (const auto keys = heldKeys(track.present); keys.size() > 1)
    curves.add(node, "scale", "STEP", 3, keys, [&](uint32_t k) { return kScales[track.present[k]]; });
}

std::string exportAnimated(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  const size_t steps = scene.frames.size() + scene.bodies.size();
  const Tracks tracks = readTracks(scene, progress, steps);
  GlbScene glb(scene);
  Curves curves(glb.data(), tracks.times);
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
    const BodyTrack& track = tracks.bodies[b];
    const uint32_t m = scene.bodies[b].mesh;
    if (track.shown && m < scene.meshes.size()) {
      BodySurface surface = surfaceOfMesh(scene.meshes[m]);
      surface.body = b;
      const size_t node = glb.addBody(surface, track.positions[0], track.rotations[0], m);
      animateBody(curves, glb, node, track);
    }
    progress(scene.frames.size() + b + 1, steps);
  }
  files.write("", [&](OutputFile& out) { glb.write(out, curves.animation()); });
  return "";
}

std::string exportEachFrame(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  ExportFrame frame;
  for (size_t f = 0; f < scene.frames.size(); ++f) {
    scene.readFrame(scene.frames[f], frame);
    GlbScene glb(scene);
    for (const BodySurface& s : surfacesOf(scene, frame)) {
      if (s.triangles.empty()) continue;
      const auto key = s.own ? std::nullopt : std::optional<uint32_t>(scene.bodies[s.body].mesh);
      glb.addBody(s, s.state->position, s.state->rotation.cast<double>().normalized().cast<float>(), key);
    }
    files.write(frameFileName(scene.frames[f], ".glb"), [&](OutputFile& out) { glb.write(out, nullptr); });
    progress(f + 1, scene.frames.size());
  }
  return frameFileName(scene.frames.front(), ".glb");
}

}  // namespace

std::string exportGlb(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  return scene.deforming ? exportEachFrame(scene, files, progress) : exportAnimated(scene, files, progress);
}

}  // namespace sunder::show
