// glTF 2.0: the triangles of all meshes in the scene, placed by their nodes. Attribute seams split vertices
// in glTF; they are put together again within a node, so that closed shapes come out closed.
#include "sunder/base/error.h"
#include "sunder/meshio/gltf_buffers.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_scanner.h"

#include <algorithm>
#include <map>

namespace sunder::meshio {

namespace {

// Extensions that change what the geometry is; others only change how it looks.
bool isHarmless(std::string_view extension) {
  constexpr std::string_view kPrefixes[] = {
      "KHR_materials_", "KHR_texture_", "EXT_texture_",          "MSFT_texture_", "KHR_lights_", "KHR_xmp",
      "KHR_animation_", "EXT_lights_",  "KHR_mesh_quantization", "MSFT_lod",      "AGI_"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return extension.starts_with(prefix); });
}

enum Mode : uint64_t { kTriangles = 4, kStrip = 5, kFan = 6 };

Mat4 localTransform(const GltfDocument& document, const JsonPlace& node) {
  const std::vector<double> matrix = document.numbers(node, "matrix", 16);
  if (!matrix.empty()) return Eigen::Map<const Mat4>(matrix.data());  // both column by column
  const std::vector<double> t = document.numbers(node, "translation", 3),
                            r = document.numbers(node, "rotation", 4), s = document.numbers(node, "scale", 3);
  Mat4 result = Mat4::Identity();
  if (!r.empty()) {
    const Quat rotation(r[3], r[0], r[1], r[2]);
    if (!(rotation.norm() > 0)) throw document.error(node.pointer + "/rotation", "the rotation is zero");
    result.topLeftCorner<3, 3>() = rotation.normalized().toRotationMatrix();
  }
  if (!s.empty())
    for (int i = 0; i < 3; ++i) result.topLeftCorner<3, 3>().col(i) *= s[size_t(i)];
  if (!t.empty()) result.topRightCorner<3, 1>() = Vec3(t[0], t[1], t[2]);
  return result;
}

// Cofactors: proportional to the inverse transpose, defined for flat transforms as well.
Mat3 normalTransform(const Mat3& m) {
  Mat3 c;
  c.col(0) = m.col(1).cross(m.col(2));
  c.col(1) = m.col(2).cross(m.col(0));
  c.col(2) = m.col(0).cross(m.col(1));
  return m.determinant() < 0 ? Mat3(-c) : c;
}

class GltfBuilder {
 public:
  GltfBuilder(const GltfDocument& document, const std::string& name)
      : document_(document), name_(name), cornerLimit_(8 * document.totalBytes() + (uint64_t(4) << 20)) {
    file_.format = MeshFormat::Gltf;
  }

  void build();
  MeshFile finish();

 private:
  struct Pending {
    uint64_t node;
    Mat4 parent;
    std::string from;
  };
  void walk(std::vector<Pending> stack);
  void addMesh(uint64_t mesh, const Mat4& transform, std::string groupName, const std::string& from);
  void addPrimitive(const JsonPlace& primitive, const Mat4& transform, const std::string& groupName,
                    ExactWelder& welder);
  uint32_t groupNumber(const std::string& groupName);

  const GltfDocument& document_;
  const std::string& name_;
  uint64_t cornerLimit_;
  MeshFile file_;
  std::map<std::string, uint32_t> nodeGroups_;  // of the node being added
  uint64_t corners_ = 0, otherPrimitives_ = 0;
  // Attributes are kept when every primitive has them.
  bool anyNormals_ = false, anyUvs_ = false, anyColours_ = false;
  bool normalsMissing_ = false, uvsMissing_ = false, coloursMissing_ = false;
  bool skins_ = false, morphs_ = false, clashingColours_ = false;
};

void GltfBuilder::build() {
  const JsonPlace top{&document_.root(), ""};
  const Json* const required = document_.root().find("extensionsRequired");
  if (required && required->isArray()) {
    for (const Json& extension : *required) {
      const std::string shown = extension.isString() ? extension.string() : std::string("?");
      if (!isHarmless(shown))
        throw Error(ErrorKind::Unsupported, "the file needs the extension " + meshio::quoted(shown))
            .inFile(name_)
            .hint("save it without compression or extensions");
    }
  }

  const std::vector<JsonPlace> scenes = document_.listMember(top, "scenes");
  const std::vector<JsonPlace> nodes = document_.listMember(top, "nodes");
  std::vector<Pending> roots;
  if (!scenes.empty()) {
    const JsonPlace scene = document_.element("scenes", document_.unsignedMember(top, "scene", 0), "/scene");
    for (const JsonPlace& place : document_.listMember(scene, "nodes")) {
      if (!place.value->isWhole()) throw document_.error(place.pointer, "expected a node's number");
      roots.push_back({place.value->whole(), Mat4::Identity(), place.pointer});
    }
  } else if (!nodes.empty()) {
    std::vector<bool> isChild(nodes.size());
    for (const JsonPlace& node : nodes)
      for (const JsonPlace& child : document_.listMember(node, "children"))
        if (child.value->isWhole() && child.value->whole() < nodes.size())
          isChild[static_cast<size_t>(child.value->whole())] = true;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!isChild[i]) roots.push_back({i, Mat4::Identity(), nodes[i].pointer});
  } else {
    const size_t meshes = document_.listMember(top, "meshes").size();
    for (size_t i = 0; i < meshes; ++i) addMesh(i, Mat4::Identity(), "", "/meshes");
    return;
  }
  walk(std::move(roots));
}

void GltfBuilder::walk(std::vector<Pending> stack) {
  std::reverse(stack.begin(), stack.end());
  std::vector<bool> seen(document_.listMember({&document_.root(), ""}, "nodes").size());
  while (!stack.empty()) {
    const Pending next = std::move(stack.back());
    stack.pop_back();
    const JsonPlace node = document_.element("nodes", next.node, next.from);
    if (seen[static_cast<size_t>(next.node)])
      throw document_.error(next.from, "node " + std::to_string(next.node) + " is reached twice: not a tree");
    seen[static_cast<size_t>(next.node)] = true;
    const Mat4 transform = next.parent * localTransform(document_, node);
    if (!transform.allFinite()) throw document_.error(node.pointer, "the transform overflows");
    if (node.value->contains("mesh")) {
      skins_ = skins_ || node.value->contains("skin");
      addMesh(document_.unsignedMember(node, "mesh"), transform, document_.stringMember(node, "name"),
              node.pointer);
    }
    const std::vector<JsonPlace> children = document_.listMember(node, "children");
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      if (!child->value->isWhole()) throw document_.error(child->pointer, "expected a node's number");
      stack.push_back({child->value->whole(), transform, child->pointer});
    }
  }
}

uint32_t GltfBuilder::groupNumber(const std::string& groupName) {
  std::vector<std::string>& names = file_.surface.groupNames;
  const auto [found, added] = nodeGroups_.try_emplace(groupName, static_cast<uint32_t>(names.size()));
  if (added) names.push_back(groupName);
  return found->second;
}

void GltfBuilder::addMesh(uint64_t index, const Mat4& transform, std::string groupName,
                          const std::string& from) {
  const JsonPlace mesh = document_.element("meshes", index, from);
  if (groupName.empty()) groupName = document_.stringMember(mesh, "name");
  if (groupName.empty()) groupName = "mesh " + std::to_string(index);
  nodeGroups_.clear();
  ExactWelder welder(file_.surface.positions);
  for (const JsonPlace& primitive : document_.listMember(mesh, "primitives"))
    addPrimitive(primitive, transform, groupName, welder);
}

void GltfBuilder::addPrimitive(const JsonPlace& primitive, const Mat4& transform,
                               const std::string& meshGroup, ExactWelder& welder) {
  const uint64_t mode = document_.unsignedMember(primitive, "mode", kTriangles);
  if (mode != kTriangles && mode != kStrip && mode != kFan) {
    ++otherPrimitives_;
    return;
  }
  morphs_ = morphs_ || primitive.value->contains("targets");
  const Json* const attributesFound = primitive.value->find("attributes");
  if (!attributesFound || !attributesFound->isObject())
    throw document_.error(primitive.pointer, "a primitive without attributes");
  const JsonPlace attributes{attributesFound, primitive.pointer + "/attributes"};
  if (!attributes.value->contains("POSITION")) return;  // allowed, and then there is nothing to see

  const uint64_t positionAccessor = document_.unsignedMember(attributes, "POSITION");
  // Counted before anything is read: instances may multiply a small file beyond all memory.
  const uint64_t elements =
      primitive.value->contains("indices")
          ? document_.accessorCount(document_.unsignedMember(primitive, "indices"), primitive.pointer)
          : document_.accessorCount(positionAccessor, attributes.pointer);
  const uint64_t vertices = document_.accessorCount(positionAccessor, attributes.pointer);
  const uint64_t triangleCount = mode == kTriangles ? elements / 3 : elements < 3 ? 0 : elements - 2;
  corners_ += 3 * triangleCount + vertices;
  if (corners_ > cornerLimit_)
    throw Error(ErrorKind::Limit,
                "the nodes multiply the meshes to more than " + std::to_string(cornerLimit_) + " corners")
        .inFile(name_)
        .atPointer(primitive.pointer)
        .hint("save the repeated meshes as separate files");
  if (mode == kTriangles && elements % 3 != 0)
    throw document_.error(primitive.pointer, std::to_string(elements) + " corners are not whole triangles");

  const std::vector<double> positions = document_.readNumbers(positionAccessor, 3, attributes.pointer);
  const size_t count = positions.size() / 3;
  std::vector<uint32_t> indices;
  if (primitive.value->contains("indices")) {
    indices = document_.readIndices(document_.unsignedMember(primitive, "indices"), primitive.pointer);
    for (const uint32_t i : indices)
      if (i >= count)
        throw document_.error(primitive.pointer + "/indices",
                              "a triangle refers to vertex " + std::to_string(i) + ", but there are only " +
                                  std::to_string(count));
  } else {
    indices.resize(count);
    for (size_t i = 0; i < count; ++i) indices[i] = static_cast<uint32_t>(i);
  }
  auto attribute = [&](const char* key, int components) {
    std::vector<double> values;
    if (!attributes.value->contains(key)) return values;
    values = document_.readNumbers(document_.unsignedMember(attributes, key), components, attributes.pointer);
    if (values.size() != count * size_t(components))
      throw document_.error(attributes.pointer + "/" + key, "its count differs from that of POSITION");
    return values;
  };
  const std::vector<double> normals = attribute("NORMAL", 3), uvs = attribute("TEXCOORD_0", 2),
                            colours = attribute("COLOR_0", 4);
  geometry::PolygonSoup& soup = file_.surface;
  if (triangleCount > 0) {
    anyNormals_ = anyNormals_ || !normals.empty();
    anyUvs_ = anyUvs_ || !uvs.empty();
    anyColours_ = anyColours_ || !colours.empty();
    normalsMissing_ = normalsMissing_ || normals.empty();
    uvsMissing_ = uvsMissing_ || uvs.empty();
    coloursMissing_ = coloursMissing_ || colours.empty();
  }

  const bool identity = transform == Mat4::Identity();
  const Mat3 linear = transform.topLeftCorner<3, 3>();
  const Vec3 shift = transform.topRightCorner<3, 1>();
  const Mat3 normalMatrix = normalTransform(linear);
  const bool mirrored = linear.determinant() < 0;

  std::vector<uint32_t> welded(count, kNoIndex);
  auto vertex = [&](uint32_t i) {
    if (welded[i] != kNoIndex) return;
    Vec3 p(positions[3 * size_t(i)], positions[3 * size_t(i) + 1], positions[3 * size_t(i) + 2]);
    if (!identity) p = linear * p + shift;
    if (!isFinite(p)) throw document_.error(attributes.pointer + "/POSITION", "coordinate is not finite");
    welded[i] = welder.add(p);
    if (colours.empty() || coloursMissing_) return;
    const double* c = colours.data() + 4 * size_t(i);
    const Vec4f colour(static_cast<float>(c[0]), static_cast<float>(c[1]), static_cast<float>(c[2]),
                       static_cast<float>(c[3]));
    if (soup.vertexColours.size() < soup.positions.size()) {
      soup.vertexColours.push_back(colour);
    } else {
      clashingColours_ = clashingColours_ || soup.vertexColours[welded[i]] != colour;
    }
  };

  const Json* const extras = primitive.value->find("extras");
  const Json* const ownGroup = extras ? extras->find("group") : nullptr;
  const std::string groupName = ownGroup && ownGroup->isString() ? ownGroup->string() : meshGroup;
  const uint32_t group = groupNumber(groupName);

  for (size_t t = 0; t < triangleCount; ++t) {
    size_t c[3] = {3 * t, 3 * t + 1, 3 * t + 2};
    if (mode == kStrip) c[0] = t, c[1] = t + 1 + t % 2, c[2] = t + 2 - t % 2;
    if (mode == kFan) c[0] = t + 1, c[1] = t + 2, c[2] = 0;
    if (mirrored) std::swap(c[1], c[2]);
    for (const size_t at : c) {
      const uint32_t i = indices[at];
      vertex(i);
      soup.corners.push_back(welded[i]);
      if (!normals.empty() && !normalsMissing_) {
        Vec3 n(normals[3 * size_t(i)], normals[3 * size_t(i) + 1], normals[3 * size_t(i) + 2]);
        if (!identity) {
          n = normalMatrix * n;
          const double length = n.norm();
          if (length > 0) n /= length;
        }
        soup.cornerNormals.push_back(n);
      }
      // glTF counts v downwards from the top of the picture, we upwards as OBJ does.
      if (!uvs.empty() && !uvsMissing_)
        soup.cornerUvs.emplace_back(uvs[2 * size_t(i)], 1 - uvs[2 * size_t(i) + 1]);
    }
    soup.faceOffsets.push_back(static_cast<uint32_t>(soup.corners.size()));
    soup.faceGroup.push_back(group);
  }
  checkIndexable(soup.corners.size(), "corners", name_);
}

MeshFile GltfBuilder::finish() {
  geometry::PolygonSoup& soup = file_.surface;
  if (normalsMissing_) soup.cornerNormals.clear();
  if (uvsMissing_) soup.cornerUvs.clear();
  if (coloursMissing_) soup.vertexColours.clear();
  if (normalsMissing_ && anyNormals_)
    file_.notes.emplace_back("left out the normals: some primitives have none");
  if (uvsMissing_ && anyUvs_)
    file_.notes.emplace_back("left out the texture coordinates: some primitives have none");
  if (coloursMissing_ && anyColours_)
    file_.notes.emplace_back("left out the colours: some primitives have none");
  dropBrokenAttributes(soup, file_.notes);
  noteWelded(file_.notes, soup.corners.size(), soup.positions.size());
  if (clashingColours_ && !soup.vertexColours.empty())
    file_.notes.emplace_back("vertices at the same place had different colours: the first was kept");
  if (otherPrimitives_ > 0)
    file_.notes.push_back(counted(otherPrimitives_, "primitive", "primitives") +
                          " of points or lines ignored");
  if (skins_) file_.notes.emplace_back("skins ignored");
  if (morphs_) file_.notes.emplace_back("morph targets ignored");
  if (document_.root().contains("animations")) file_.notes.emplace_back("animations ignored");
  if (document_.root().contains("materials")) file_.notes.emplace_back("materials ignored");
  return std::move(file_);
}

}  // namespace

MeshFile readGltf(Bytes bytes, const std::string& name, const std::filesystem::path& folder) {
  const GltfDocument document(bytes, name, folder);
  GltfBuilder builder(document, name);
  builder.build();
  MeshFile file = builder.finish();
  if (bytes.size() >= 4 &&
      std::equal(bytes.begin(), bytes.begin() + 4, std::as_bytes(std::span("glTF")).begin()))
    file.format = MeshFormat::Glb;
  return file;
}

}  // namespace sunder::meshio
