// Soft bodies as JSON.
#include "sunder/world/scene/value_text.h"

#include <cmath>

namespace sunder::world {

namespace {

const char* nameOf(fem::ElasticModel model) {
  switch (model) {
    case fem::ElasticModel::Linear:
      return "linear";
    case fem::ElasticModel::SaintVenantKirchhoff:
      return "stvk";
    case fem::ElasticModel::NeoHookean:
      return "neo-hookean";
    case fem::ElasticModel::Corotated:
      break;
  }
  return "corotated";
}

Json pinJson(const PinSpec& pin) {
  Json json = boxJson(pin.box);
  if (!pin.piece.empty()) json["body"] = pin.piece;
  if (!pin.keyFrames.empty()) json["keyFrames"] = keyFramesJson(pin.keyFrames);
  if (pin.repeat) json["repeat"] = true;
  if (std::isfinite(pin.until)) json["until"] = pin.until;
  return json;
}

Json attachJson(const AttachSpec& attach) {
  Json json = boxJson(attach.box);
  if (!attach.piece.empty()) json["body"] = attach.piece;
  if (std::isfinite(attach.strength)) json["strength"] = attach.strength;
  if (!attach.collide) json["collide"] = false;
  return json;
}

Json tearJson(const TearSpec& tear) {
  Json json = {{"mostSplits", tear.mostSplits}};
  if (tear.strength) json["strength"] = *tear.strength;
  if (tear.surfaceEnergy) json["surfaceEnergy"] = *tear.surfaceEnergy;
  return json;
}

}  // namespace

Json keyFramesJson(const std::vector<KeyFrame>& keys) {
  Json json = Json::array();
  for (const KeyFrame& key : keys)
    json.push_back({{"time", key.time},
                    {"position", vectorJson(key.pose.position)},
                    {"rotation", rotationJson(key.pose.rotation)}});
  return json;
}

Json softJson(const SoftSpec& soft) {
  Json json = {{"model", nameOf(soft.model)}};
  if (soft.young) json["young"] = *soft.young;
  if (soft.poisson) json["poisson"] = *soft.poisson;
  if (soft.density) json["density"] = *soft.density;
  if (soft.massDamping > 0) json["massDamping"] = soft.massDamping;
  if (soft.stiffnessDamping > 0) json["stiffnessDamping"] = soft.stiffnessDamping;
  if (soft.cage.empty()) {
    json["tets"] = soft.tets;
  } else {
    json["cage"] = soft.cage;
    if (!soft.cageHash.empty()) json["cageHash"] = soft.cageHash;
  }
  if (!soft.selfContact) json["selfContact"] = false;
  if (soft.spheres > 0) json["spheres"] = soft.spheres;
  if (soft.fibreYoung > 0)
    json["fibre"] = {{"direction", vectorJson(soft.fibre)}, {"young", soft.fibreYoung}};
  if (soft.tear) json["tear"] = tearJson(*soft.tear);
  for (const PinSpec& pin : soft.pins) json["pins"].push_back(pinJson(pin));
  for (const AttachSpec& attach : soft.attach) json["attach"].push_back(attachJson(attach));
  return json;
}

Json softBodyJson(const SoftBodySpec& body) {
  Json json = {{"id", body.id}, {"kind", "deformable"}};
  if (body.pose.position != Vec3::Zero()) json["position"] = vectorJson(body.pose.position);
  if (body.pose.rotation.coeffs() != Quat::Identity().coeffs())
    json["rotation"] = rotationJson(body.pose.rotation);
  if (body.velocity != Vec3::Zero()) json["velocity"] = vectorJson(body.velocity);
  if (body.angularVelocity != Vec3::Zero()) json["angularVelocity"] = vectorJson(body.angularVelocity);
  if (body.gravityScale != 1) json["gravityScale"] = body.gravityScale;
  json["soft"] = softJson(body.soft);
  return json;
}

}  // namespace sunder::world
