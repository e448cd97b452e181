#include "sunder/world/scene/field_tree.h"

#include <algorithm>

namespace sunder::world {

namespace {

void readLeaf(const SceneNode& node, FieldValue& value) {
  if (node.has("centre")) value.centre = node["centre"].vector(kLength);
  switch (value.kind) {
    case FieldKind::Box:
      value.size = node["size"].vector(kLength);
      value.round = node.notNegative("round", kLength, 0);
      break;
    case FieldKind::Cylinder:
    case FieldKind::Capsule:
      value.from = node["from"].vector(kLength);
      value.to = node["to"].vector(kLength);
      value.radius = node["radius"].positive(kLength);
      break;
    case FieldKind::Torus:
      if (node.has("axis")) value.axis = node["axis"].direction();
      value.radius = node["ring"].positive(kLength);
      value.tube = node["tube"].positive(kLength);
      break;
    case FieldKind::Ellipsoid:
      value.size = node["radii"].vector(kLength);
      break;
    case FieldKind::Plane:
      value.axis = node["normal"].direction();
      value.distance = node.quantity("offset", kLength, 0);
      break;
    default:
      value.radius = node["radius"].positive(kLength);
  }
}

// What a combination says besides its parts.
void readNumbers(const SceneNode& node, FieldValue& value) {
  switch (value.kind) {
    case FieldKind::SmoothUnion:
      value.distance = node["width"].positive(kLength);
      break;
    case FieldKind::Offset:
      value.distance = node["distance"].quantity(kLength);
      break;
    case FieldKind::Shell:
      value.distance = node["thickness"].positive(kLength);
      break;
    case FieldKind::Transform:
      value.rotation = node.rotation("rotation");
      value.position = node.vector("position", kLength, Vec3::Zero());
      value.scale = node.positive("scale", kPlain, 1);
      break;
    case FieldKind::Noise:
      value.noise.amplitude = node.positive("amplitude", kLength, value.noise.amplitude);
      value.noise.wavelength = node.positive("wavelength", kLength, value.noise.wavelength);
      value.noise.octaves =
          static_cast<int>(node.whole("octaves", static_cast<uint64_t>(value.noise.octaves)));
      value.noise.seed = node.whole("seed", value.noise.seed);
      break;
    default:
      break;
  }
}

}  // namespace

ReadField readField(const SceneNode& node) {
  const std::string kind = node.oneOf(kFieldNames);
  const SceneNode part = node[kind.c_str()];
  ReadField read;
  FieldValue& value = read.value;
  value.kind =
      static_cast<FieldKind>(std::find(kFieldNames.begin(), kFieldNames.end(), kind) - kFieldNames.begin());
  try {
    std::vector<sdf::FieldPtr> fields;
    const auto take = [&](const SceneNode& child) {
      ReadField inner = readField(child);
      value.parts.push_back(std::move(inner.value));
      fields.push_back(std::move(inner.field));
    };
    if (value.kind <= FieldKind::Plane) {
      readLeaf(part, value);
    } else if (part.has("of")) {
      take(part["of"]);
    } else {
      const SceneNode list = value.kind == FieldKind::SmoothUnion ? part["parts"] : part;
      for (size_t i = 0; i < list.size(); ++i) take(list[i]);
    }
    readNumbers(part, value);
    read.field = makeField(value, fields);
  } catch (const Error& error) {
    if (!error.file().empty()) throw;
    part.rethrow(error);
  }
  return read;
}

}  // namespace sunder::world
