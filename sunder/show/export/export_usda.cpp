// USD as text: meshes once, as prototypes that bodies refer to; poses and visibility of bodies as time
// samples, time codes being the numbers of frames; UsdPreviewSurface materials. Vertices that move by
// themselves, and their triangles where these change, are time samples too; frames are read again for each
// such body, so that one frame is in memory at a time.
#include "sunder/meshio/text_writer.h"
#include "sunder/show/corner_normals.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/export/export_tracks.h"

#include <algorithm>
#include <set>

namespace sunder::show {

namespace {

using meshio::TextWriter;

// Names of prims are letters, digits and underscores, and unique among their neighbours.
class PrimNames {
 public:
  std::string make(std::string_view from, std::string_view fallback) {
    std::string name;
    for (const char c : from.empty() ? fallback : from) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      const bool digit = c >= '0' && c <= '9';
      if (digit && name.empty()) name += '_';
      name += letter || digit ? c : '_';
    }
    // "pile[12]" becomes pile_12.
    while (name.size() > 1 && name.back() == '_') name.pop_back();
    std::string unique = name;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
    return unique;
  }

 private:
  std::set<std::string> taken_;
};

std::string usdString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += static_cast<unsigned char>(c) < 32 ? '_' : c;
  }
  return out + '"';
}

TextWriter& operator<<(TextWriter& out, const Vec3f& v) {
  return out << '(' << v.x() << ", " << v.y() << ", " << v.z() << ')';
}

// The real part comes first in USD.
TextWriter& operator<<(TextWriter& out, const record::Quatf& q) {
  return out << '(' << q.w() << ", " << q.x() << ", " << q.y() << ", " << q.z() << ')';
}

template <class Range>
void putList(TextWriter& out, const Range& values) {
  out << '[';
  bool first = true;
  for (const auto& value : values) {
    if (!first) out << ", ";
    out << value;
    first = false;
  }
  out << ']';
}

void putCounts(TextWriter& out, size_t triangles) { putList(out, std::vector<int>(triangles, 3)); }

void putCorners(TextWriter& out, std::span<const geometry::Triangle> triangles) {
  std::vector<uint32_t> corners;
  for (const geometry::Triangle& t : triangles) corners.insert(corners.end(), t.begin(), t.end());
  putList(out, corners);
}

void putExtent(TextWriter& out, std::span<const Vec3f> vertices) {
  Box3f box;
  for (const Vec3f& p : vertices) box.grow(p);
  if (box.empty()) box = {Vec3f::Zero(), Vec3f::Zero()};
  out << '[' << box.lower << ", " << box.upper << ']';
}

class UsdaWriter {
 public:
  UsdaWriter(OutputFile& file, const ExportScene& scene, const Tracks& tracks, const ExportProgress& progress)
      : out_(file), scene_(scene), tracks_(tracks), progress_(progress) {}
  void write();

 private:
  void head();
  void prototypes();
  void materials();
  void body(uint32_t b, PrimNames& names);
  void poses(const BodyTrack& track);
  void movingMesh(uint32_t b);
  void subset(const std::string& name, const std::string& material, const std::vector<int>& faces);
  void subsetHead(const std::string& name, const std::string& material);
  void paintedFaces(const record::BodyEntry& body);
  void movingFaces(uint32_t b);
  template <class Put>
  void samples(const char* attribute, const std::vector<uint32_t>& keys, Put&& put);
  template <class Put>
  void meshSamples(uint32_t b, const char* attribute, Put&& put);

  TextWriter out_;
  const ExportScene& scene_;
  const Tracks& tracks_;
  const ExportProgress& progress_;
  std::vector<std::string> prototype_;                            // prim by mesh; empty where no body uses it
  std::map<std::string, std::string> materialPrim_, insidePrim_;  // by material
  std::set<uint32_t> moving_;                                     // bodies whose vertices move by themselves
};

void UsdaWriter::head() {
  out_ << "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = "
       << usdString(scene_.name + ", exported by sunder")
       << "\n    startTimeCode = " << tracks_.numbers.front()
       << "\n    endTimeCode = " << tracks_.numbers.back()
       << "\n    timeCodesPerSecond = " << scene_.frameRate << "\n    framesPerSecond = " << scene_.frameRate
       << "\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\n";
}

void UsdaWriter::prototypes() {
  PrimNames names;
  prototype_.resize(scene_.meshes.size());
  out_ << "class Scope \"Prototypes\"\n{\n";
  for (uint32_t b = 0; b < scene_.bodies.size(); ++b) {
    const uint32_t m = scene_.bodies[b].mesh;
    if (!tracks_.bodies[b].shown || moving_.contains(b) || m >= scene_.meshes.size() ||
        !prototype_[m].empty() || scene_.meshes[m].triangles.empty())
      continue;
    const record::MeshEntry& mesh = scene_.meshes[m];
    prototype_[m] = names.make(mesh.name, "mesh_" + std::to_string(m));
    geometry::TriMesh shape;
    for (const Vec3f& p : mesh.positions) shape.positions.push_back(p.cast<double>());
    shape.triangles = mesh.triangles;
    out_ << "    def Mesh \"" << prototype_[m] << "\"\n    {\n        float3[] extent = ";
    putExtent(out_, mesh.positions);
    out_ << "\n        int[] faceVertexCounts = ";
    putCounts(out_, mesh.triangles.size());
    out_ << "\n        int[] faceVertexIndices = ";
    putCorners(out_, mesh.triangles);
    out_ << "\n        normal3f[] normals = ";
    putList(out_, cornerNormals(shape));
    out_ << " (\n            interpolation = \"faceVarying\"\n        )\n        point3f[] points = ";
    putList(out_, mesh.positions);
    out_ << "\n        uniform token subdivisionScheme = \"none\"\n    }\n";
  }
  out_ << "}\n\n";
}

// The preview surface has no transmission: glass becomes a coat of its tint that one sees through.
void UsdaWriter::materials() {
  PrimNames names;
  out_ << "    def Scope \"Materials\"\n    {\n";
  const bool broken = anyInside(scene_);
  std::vector<std::pair<std::string, bool>> all;  // with whether it is that of inner faces
  for (const std::string& name : numberMaterials(scene_).names) {
    all.emplace_back(name, false);
    if (broken) all.emplace_back(name, true);
  }
  for (const auto& [material, inside] : all) {
    const Look look = lookOfMaterial(scene_, material, inside);
    const std::string prim =
        inside ? names.make(material + kInside, "default inside") : names.make(material, "default");
    (inside ? insidePrim_ : materialPrim_)[material] = prim;
    out_ << "        def Material \"" << prim
         << "\"\n        {\n            token outputs:surface.connect = </World/Materials/" << prim
         << "/Surface.outputs:surface>\n\n            def Shader \"Surface\"\n            {\n"
            "                uniform token info:id = \"UsdPreviewSurface\"\n"
            "                color3f inputs:diffuseColor = "
         << solidColour(look) << "\n                float inputs:ior = " << look.refraction
         << "\n                float inputs:metallic = " << look.metallic
         << "\n                float inputs:opacity = " << 1 - 0.8f * look.transmission
         << "\n                float inputs:roughness = " << look.roughness
         << "\n                token outputs:surface\n            }\n        }\n";
  }
  out_ << "    }\n";
}

template <class Put>
void UsdaWriter::samples(const char* attribute, const std::vector<uint32_t>& keys, Put&& put) {
  out_ << "            " << attribute;
  if (keys.size() == 1) {
    out_ << " = ";
    put(keys[0]);
    out_ << '\n';
    return;
  }
  out_ << ".timeSamples = {\n";
  for (const uint32_t key : keys) {
    out_ << "                " << tracks_.numbers[key] << ": ";
    put(key);
    out_ << ",\n";
  }
  out_ << "            }\n";
}

void UsdaWriter::poses(const BodyTrack& track) {
  const auto shown = heldKeys(track.present);
  if (shown.size() > 1)
    samples("token visibility", shown,
            [&](uint32_t k) { out_ << (track.present[k] ? "\"inherited\"" : "\"invisible\""); });
  samples("quatf xformOp:orient", neededKeys(track.rotations),
          [&](uint32_t k) { out_ << track.rotations[k]; });
  samples("float3 xformOp:translate", neededKeys(track.positions),
          [&](uint32_t k) { out_ << track.positions[k]; });
  out_ << "            uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n";
}

// One sample for every frame that brings the body's mesh, where `put` says there is something new to write.
template <class Put>
void UsdaWriter::meshSamples(uint32_t b, const char* attribute, Put&& put) {
  out_ << "                " << attribute << ".timeSamples = {\n";
  ExportFrame frame;
  for (const size_t f : scene_.frames) {
    scene_.readFrame(f, frame);
    for (const FrameMesh& mesh : frame.meshes) {
      if (mesh.body != b) continue;
      put(mesh, [&] { out_ << "                    " << frame.state.number << ": "; });
    }
  }
  out_ << "                }\n";
}

void UsdaWriter::movingMesh(uint32_t b) {
  meshSamples(b, "float3[] extent", [&](const FrameMesh& mesh, auto&& begin) {
    begin();
    putExtent(out_, mesh.positions);
    out_ << ",\n";
  });
  std::vector<geometry::Triangle> last;
  size_t count = SIZE_MAX;
  meshSamples(b, "int[] faceVertexCounts", [&](const FrameMesh& mesh, auto&& begin) {
    if (mesh.triangles.size() == count) return;
    count = mesh.triangles.size();
    begin();
    putCounts(out_, count);
    out_ << ",\n";
  });
  bool first = true;
  meshSamples(b, "int[] faceVertexIndices", [&](const FrameMesh& mesh, auto&& begin) {
    if (!first && mesh.triangles == last) return;
    first = false;
    last = mesh.triangles;
    begin();
    putCorners(out_, last);
    out_ << ",\n";
  });
  out_ << "                normal3f[] normals (\n                    interpolation = \"faceVarying\"\n"
          "                )\n";
  meshSamples(b, "normal3f[] normals", [&](const FrameMesh& mesh, auto&& begin) {
    begin();
    if (!mesh.normals.empty()) {
      putList(out_, mesh.normals);
    } else {
      geometry::TriMesh shape;
      for (const Vec3f& p : mesh.positions) shape.positions.push_back(p.cast<double>());
      shape.triangles = mesh.triangles;
      putList(out_, cornerNormals(
                        shape, kCreaseAngle,
                        mesh.mesh ? std::span<const Vec3f>(mesh.mesh->positions) : std::span<const Vec3f>()));
    }
    out_ << ",\n";
  });
  meshSamples(b, "point3f[] points", [&](const FrameMesh& mesh, auto&& begin) {
    begin();
    putList(out_, mesh.positions);
    out_ << ",\n";
  });
  out_ << "                uniform token subdivisionScheme = \"none\"\n";
}

void UsdaWriter::subsetHead(const std::string& name, const std::string& material) {
  out_ << "\n                def GeomSubset \"" << name
       << "\" (\n                    prepend apiSchemas = [\"MaterialBindingAPI\"]\n                )\n"
          "                {\n                    uniform token elementType = \"face\"\n"
          "                    uniform token familyName = \"materialBind\"\n"
          "                    rel material:binding = </World/Materials/"
       << material << ">\n";
}

void UsdaWriter::subset(const std::string& name, const std::string& material, const std::vector<int>& faces) {
  subsetHead(name, material);
  out_ << "                    int[] indices = ";
  putList(out_, faces);
  out_ << "\n                }\n";
}

// Which faces have a material other than the body's: those that breaking or cutting made, and those of slots.
struct Subset {
  std::string name;
  std::string material;
  bool inside = false;
};

std::vector<Subset> subsetsOf(const record::BodyEntry& body, std::span<const std::string> slotMaterials) {
  std::vector<Subset> subsets{{"Inside", body.material, true}};
  for (size_t slot = 1; slot <= slotMaterials.size(); ++slot)
    for (const bool inside : {false, true})
      subsets.push_back(
          {"Slot" + std::to_string(slot) + (inside ? "Inside" : ""), slotMaterials[slot - 1], inside});
  return subsets;
}

std::vector<int> facesOf(const record::MeshEntry& mesh, size_t number) {
  std::vector<int> faces;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const size_t slot = mesh.slots.empty() ? 0 : mesh.slots[t];
    const bool inside = !mesh.interior.empty() && mesh.interior[t] != 0;
    if ((slot == 0 && !inside) || (slot == 0 ? 0 : 2 * slot - 1 + inside) != number) continue;
    faces.push_back(static_cast<int>(t));
  }
  return faces;
}

constexpr const char* kFamily =
    "                uniform token subsetFamily:materialBind:familyType = \"nonOverlapping\"\n";

void UsdaWriter::paintedFaces(const record::BodyEntry& body) {
  const record::MeshEntry& mesh = scene_.meshes[body.mesh];
  const std::vector<Subset> subsets = subsetsOf(body, mesh.slotMaterials);
  bool any = false;
  for (size_t k = 0; k < subsets.size(); ++k) {
    const std::vector<int> faces = facesOf(mesh, k);
    if (faces.empty()) continue;
    if (!any) out_ << kFamily;
    any = true;
    subset(subsets[k].name, (subsets[k].inside ? insidePrim_ : materialPrim_)[subsets[k].material], faces);
  }
}

// The same where the mesh may be another one in every frame: a subset for each material that any of them has.
void UsdaWriter::movingFaces(uint32_t b) {
  std::map<std::string, Subset> all;  // by name of the material prim
  ExportFrame frame;
  const auto eachMesh = [&](auto&& visit) {
    for (const size_t f : scene_.frames) {
      scene_.readFrame(f, frame);
      for (const FrameMesh& mesh : frame.meshes)
        if (mesh.body == b && mesh.mesh) visit(*mesh.mesh);
    }
  };
  const auto primOf = [&](const Subset& s) { return (s.inside ? insidePrim_ : materialPrim_)[s.material]; };
  eachMesh([&](const record::MeshEntry& mesh) {
    const auto subsets = subsetsOf(scene_.bodies[b], mesh.slotMaterials);
    for (size_t k = 0; k < subsets.size(); ++k)
      if (!facesOf(mesh, k).empty()) all.emplace(primOf(subsets[k]), subsets[k]);
  });
  if (!all.empty()) out_ << kFamily;
  for (const auto& entry : all) {
    const auto& prim = entry.first;
    subsetHead("Of_" + prim, prim);
    out_ << "                    int[] indices.timeSamples = {\n";
    std::vector<int> last;
    bool first = true;
    eachMesh([&](const record::MeshEntry& mesh) {
      const auto subsets = subsetsOf(scene_.bodies[b], mesh.slotMaterials);
      std::vector<int> faces;
      for (size_t k = 0; k < subsets.size(); ++k)
        if (primOf(subsets[k]) == prim)
          for (const int face : facesOf(mesh, k)) faces.push_back(face);
      std::sort(faces.begin(), faces.end());
      if (!first && faces == last) return;
      first = false;
      last = faces;
      out_ << "                        " << frame.state.number << ": ";
      putList(out_, faces);
      out_ << ",\n";
    });
    out_ << "                    }\n                }\n";
  }
}

void UsdaWriter::body(uint32_t b, PrimNames& names) {
  const record::BodyEntry& entry = scene_.bodies[b];
  out_ << "        def Xform \"" << names.make(entry.name, "body_" + std::to_string(b))
       << "\"\n        {\n            custom int sunder:body = " << b
       << "\n            custom string sunder:name = " << usdString(entry.name)
       << "\n            custom string sunder:parent = "
       << usdString(entry.parent < scene_.bodies.size() ? scene_.bodies[entry.parent].name : "")
       << "\n            custom int sunder:parentBody = " << parentNumber(entry)
       << "\n            custom string sunder:kind = " << usdString(record::name(entry.kind))
       << "\n            custom double sunder:mass = " << entry.mass << '\n';
  poses(tracks_.bodies[b]);
  const bool moving = moving_.contains(b);
  const std::string prototype = entry.mesh < prototype_.size() ? prototype_[entry.mesh] : "";
  if (moving || !prototype.empty()) {
    out_ << "\n            def Mesh \"Surface\" (\n                prepend apiSchemas = "
            "[\"MaterialBindingAPI\"]\n";
    if (!moving) out_ << "                prepend references = </Prototypes/" << prototype << ">\n";
    out_ << "            )\n            {\n";
    if (moving) movingMesh(b);
    out_ << "                rel material:binding = </World/Materials/" << materialPrim_[entry.material]
         << ">\n                color3f[] primvars:displayColor = [" << solidColour(lookOfBody(scene_, entry))
         << "]\n";
    if (moving)
      movingFaces(b);
    else
      paintedFaces(entry);
    out_ << "            }\n";
  }
  out_ << "        }\n";
}

void UsdaWriter::write() {
  if (scene_.deforming) {
    ExportFrame frame;
    for (const size_t f : scene_.frames) {
      scene_.readFrame(f, frame);
      for (const FrameMesh& mesh : frame.meshes)
        if (!mesh.triangles.empty()) moving_.insert(mesh.body);
    }
  }
  head();
  prototypes();
  out_ << "def Xform \"World\" (\n    kind = \"assembly\"\n)\n{\n";
  materials();
  out_ << "\n    def Xform \"Bodies\"\n    {\n";
  PrimNames names;
  for (uint32_t b = 0; b < scene_.bodies.size(); ++b) {
    if (tracks_.bodies[b].shown) body(b, names);
    progress_(scene_.frames.size() + b + 1, scene_.frames.size() + scene_.bodies.size());
  }
  out_ << "    }\n}\n";
  out_.flush();
}

}  // namespace

std::string exportUsda(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  const Tracks tracks = readTracks(scene, progress, scene.frames.size() + scene.bodies.size());
  files.write("", [&](OutputFile& out) { UsdaWriter(out, scene, tracks, progress).write(); });
  return "";
}

}  // namespace sunder::show
