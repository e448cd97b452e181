#include "sunder/fem/body.h"

#include "sunder/base/error.h"

namespace sunder::fem {

void ElasticBody::set(const geometry::TetMesh& mesh, const ElasticMaterial& material,
                      std::span<const double> fractions, std::span<const MassShares> shares) {
  requireValid(material);
  if (mesh.tets.empty())
    throw Error(ErrorKind::Geometry, "the mesh has no tetrahedra").hint("`sunder tet` fills a surface");
  requireValid(shares, mesh.tets.size());
  makeElements(mesh, fractions, elements_);
  mesh_.positions = mesh.positions;
  mesh_.tets = mesh.tets;
  mesh_.region = mesh.region;
  material_ = material;
  shares_ = !shares.empty();
  pattern_.build(mesh_);
  lumpedMasses(mesh_, elements_, material.density, shares, masses_);
}

}  // namespace sunder::fem
