// The block "forces" of a scene document.
#include "sunder/world/scene/scene_reader.h"

#include <array>
#include <limits>

#include <fmt/core.h>

namespace sunder::world {

void SceneReader::readForce(const SceneNode& node, size_t number) {
  static constexpr std::array<std::string_view, 5> kKinds{"gravity", "wind", "drag", "explosion",
                                                          "attractor"};
  const std::string kind = node.oneOf(kKinds);
  const SceneNode part = node[kind.c_str()];
  ForceSpec force;
  force.id = node.text("id", fmt::format("force {}", number + 1));
  force.pointer = node.pointer();
  force.from = node.notNegative("from", kTime, 0);
  force.until = node.notNegative("until", kTime, std::numeric_limits<double>::infinity());
  if (!(force.until > force.from)) node["until"].fail("must be after \"from\"");
  std::vector<bool> named(scene_.bodies.size(), !node.has("bodies"));
  std::vector<bool> namedSoft(scene_.softBodies.size(), !node.has("bodies"));
  if (node.has("bodies"))
    for (size_t i = 0; i < node["bodies"].size(); ++i) {
      const SceneNode pattern = node["bodies"][i];
      for (const uint32_t b : bodiesLike(pattern, nullptr)) named[b] = true;
      for (uint32_t b = 0; b < namedSoft.size(); ++b)
        if (fitsPattern(pattern.text(), scene_.softBodies[b].id)) namedSoft[b] = true;
      if (namesPieces(pattern.text())) force.pieces.push_back(pattern.text());
    }
  else if (!cuts_.empty())
    force.pieces.push_back("*");
  for (uint32_t b = 0; b < named.size(); ++b)
    if (named[b] && scene_.bodies[b].kind == rigid::BodyKind::Dynamic && scene_.bodies[b].cut.empty())
      force.bodies.push_back(b);
  for (uint32_t b = 0; b < namedSoft.size(); ++b)
    if (namedSoft[b]) force.softBodies.push_back(b);
  if (kind == "gravity") {
    force.kind = ForceKind::Gravity;
    force.vector = part["acceleration"].vector(kAcceleration);
  } else if (kind == "wind") {
    force.kind = ForceKind::Wind;
    force.vector = part["velocity"].vector(kSpeed);
    force.density = part.positive("density", kDensity, 1.2);
    force.dragCoefficient = part.notNegative("dragCoefficient", kPlain, 0.5);
  } else if (kind == "drag") {
    force.kind = ForceKind::Drag;
    force.linear = part.notNegative("linear", kRate, 0);
    force.angular = part.notNegative("angular", kRate, 0);
  } else if (kind == "explosion") {
    force.kind = ForceKind::Explosion;
    force.vector = part["position"].vector(kLength);
    force.time = part["time"].notNegative(kTime);
    force.strength = part["impulse"].positive(kImpulse);
    force.radius = part["radius"].positive(kLength);
  } else {
    force.kind = ForceKind::Attractor;
    force.vector = part["position"].vector(kLength);
    force.strength = part["acceleration"].quantity(kAcceleration);
    force.radius = part["radius"].positive(kLength);
  }
  for (const uint32_t b : force.bodies) forceBodies_ += scene_.bodies[b].standsFor;
  for (const uint32_t b : force.softBodies) forceBodies_ += scene_.softBodies[b].standsFor;
  if (8.0 * forceBodies_ > static_cast<double>(memory_))
    throw scene_.document
        .error(node.pointer(), "the forces act on more bodies than the memory has room for", ErrorKind::Limit)
        .hint("name fewer bodies in \"bodies\", or raise the limit (--memory)");
  scene_.forces.push_back(std::move(force));
}

}  // namespace sunder::world
