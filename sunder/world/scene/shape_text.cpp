// Shapes and fields as JSON.
#include "sunder/base/json_parse.h"
#include "sunder/world/scene/field_tree.h"
#include "sunder/world/scene/value_text.h"

namespace sunder::world {

namespace {

Json solidJson(const rigid::SolidSettings& solid) {
  const rigid::SolidSettings usual;
  Json json = Json::object();
  if (solid.fieldError != usual.fieldError) json["error"] = solid.fieldError;
  if (solid.surfacePoints != usual.surfacePoints) json["points"] = solid.surfacePoints;
  if (solid.insidePoints != usual.insidePoints) json["insidePoints"] = solid.insidePoints;
  if (solid.cells != usual.cells) json["cells"] = solid.cells;
  return json;
}

// Numbers as numbers where that keeps their spelling.
Json parameterJson(const std::string& key, const std::string& text) {
  if (key == "text") return text;
  const std::optional<Json> number = tryReadJson(text);
  return number && number->isNumber() && number->text() == text ? *number : Json(text);
}

struct ShapeToJson {
  Json operator()(const SphereShape& s) const { return {{"sphere", {{"radius", s.radius}}}}; }
  Json operator()(const BoxShape& s) const { return {{"box", {{"size", vectorJson(s.size)}}}}; }
  Json operator()(const CapsuleShape& s) const {
    return {{"capsule", {{"length", s.length}, {"radius", s.radius}}}};
  }
  Json operator()(const PlaneShape&) const { return {{"plane", Json::object()}}; }
  Json operator()(const HullShape& s) const {
    Json points = Json::array();
    for (const Vec3& p : s.points) points.push_back(vectorJson(p));
    return {{"hull", {{"points", std::move(points)}}}};
  }
  Json operator()(const FieldShape& s) const {
    Json json = {{"field", fieldJson(s.formula)}};
    if (Json solid = solidJson(s.solid); !solid.empty()) json["solid"] = std::move(solid);
    return json;
  }
  Json operator()(const MeshShape& s) const {
    Json json = Json::object();
    (s.file.empty() ? json["make"] : json["file"]) = s.file.empty() ? s.make : s.file;
    for (const auto& [key, value] : s.with) json["with"][key] = parameterJson(key, value);
    if (s.scale != 1) json["scale"] = s.scale;
    if (s.hull) json["as"] = "hull";
    if (Json solid = solidJson(s.solid); !solid.empty()) json["solid"] = std::move(solid);
    if (!s.cut.empty()) {  // a piece: for comparing, not for documents
      json["cut"] = cutJson(s.cut);
      json["piece"] = s.piece;
    }
    return json;
  }
};

}  // namespace

Json vectorJson(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

Json boxJson(const Box3& box) { return {{"lower", vectorJson(box.lower)}, {"upper", vectorJson(box.upper)}}; }

Json rotationJson(const Quat& q) { return {{"quaternion", {q.w(), q.x(), q.y(), q.z()}}}; }

Json cutJson(const std::vector<CutPlane>& planes) {
  Json json = Json::array();
  for (const CutPlane& plane : planes)
    json.push_back({{"point", vectorJson(plane.point)}, {"normal", vectorJson(plane.normal)}});
  return json;
}

Json shapeJson(const ShapeValue& shape) { return std::visit(ShapeToJson{}, shape); }

Json fieldJson(const FieldValue& v) {
  Json json = Json::object();
  Json parts = Json::array();
  for (const FieldValue& part : v.parts) parts.push_back(fieldJson(part));
  const auto centred = [&](Json own) {
    if (v.centre != Vec3::Zero()) own["centre"] = vectorJson(v.centre);
    return own;
  };
  const auto of = [&](Json own) {
    own["of"] = parts.empty() ? Json::object() : parts.front();
    return own;
  };
  Json own;
  switch (v.kind) {
    case FieldKind::Sphere:
      own = centred({{"radius", v.radius}});
      break;
    case FieldKind::Box:
      own = centred({{"size", vectorJson(v.size)}});
      if (v.round != 0) own["round"] = v.round;
      break;
    case FieldKind::Cylinder:
    case FieldKind::Capsule:
      own = {{"from", vectorJson(v.from)}, {"to", vectorJson(v.to)}, {"radius", v.radius}};
      break;
    case FieldKind::Torus:
      own = centred({{"axis", vectorJson(v.axis)}, {"ring", v.radius}, {"tube", v.tube}});
      break;
    case FieldKind::Ellipsoid:
      own = centred({{"radii", vectorJson(v.size)}});
      break;
    case FieldKind::Plane:
      own = {{"normal", vectorJson(v.axis)}, {"offset", v.distance}};
      break;
    case FieldKind::Union:
    case FieldKind::Intersection:
    case FieldKind::Difference:
      own = std::move(parts);
      break;
    case FieldKind::SmoothUnion:
      own = {{"parts", std::move(parts)}, {"width", v.distance}};
      break;
    case FieldKind::Offset:
      own = of({{"distance", v.distance}});
      break;
    case FieldKind::Shell:
      own = of({{"thickness", v.distance}});
      break;
    case FieldKind::Transform:
      own = of({{"position", vectorJson(v.position)}, {"scale", v.scale}});
      if (v.rotation.coeffs() != Quat::Identity().coeffs()) own["rotation"] = rotationJson(v.rotation);
      break;
    case FieldKind::Noise:
      own = of({{"amplitude", v.noise.amplitude},
                {"wavelength", v.noise.wavelength},
                {"octaves", v.noise.octaves},
                {"seed", v.noise.seed}});
      break;
  }
  json[kFieldNames[static_cast<size_t>(v.kind)]] = std::move(own);
  return json;
}

}  // namespace sunder::world
