#include "sunder/world/scene/soft_values.h"

#include "sunder/world/scene/scene.h"

namespace sunder::world {

Material softMaterial(const Scene& scene, const SoftBodySpec& body) {
  const SoftSpec& soft = body.soft;
  Material material = scene.materials[body.material];
  material.density = soft.density.value_or(material.density);
  material.young = soft.young.value_or(material.young);
  material.poisson = soft.poisson.value_or(material.poisson);
  if (!soft.tear) return material;
  material.strength = soft.tear->strength.value_or(material.strength);
  material.surfaceEnergy = soft.tear->surfaceEnergy.value_or(material.surfaceEnergy);
  return material;
}

fem::SolidMaterial solidMaterial(const Scene& scene, const SoftBodySpec& body) {
  return {.elastic = fem::elasticMaterial(softMaterial(scene, body)),
          .model = body.soft.model,
          .fibre = body.soft.fibre,
          .fibreYoung = body.soft.fibreYoung};
}

}  // namespace sunder::world
