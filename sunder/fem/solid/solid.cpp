#include "sunder/fem/solid/solid.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sunder::fem {

namespace {

// lambda / mu of what stays with a tetrahedron; the rest of lambda acts on averaged volumes.
double keptRatio(const ElasticMaterial& m) {
  const double poisson = std::min(m.poisson, kAveragedFrom);
  return 2 * poisson / (1 - 2 * poisson);
}
double keptLambda(const ElasticMaterial& m) { return keptRatio(m) * m.mu(); }

void requireValidSolid(const SolidMaterial& m) {
  if (m.elastic.poisson >= 0.5)
    throw Error(
        ErrorKind::Usage,
        fmt::format("Poisson's ratio is {}: a solid that keeps its volume exactly has no finite stiffness",
                    m.elastic.poisson))
        .hint("0.49 to 0.499 hardly differ from it and do not lock");
  requireValid(m.elastic);
  if (m.model > ElasticModel::NeoHookean) throw Error(ErrorKind::Usage, "there is no such elastic model");
  if (!(m.fibreYoung >= 0) || !std::isfinite(m.fibreYoung))
    throw Error(ErrorKind::Usage,
                fmt::format("Young's modulus of the fibres is {}, but must not be negative", m.fibreYoung));
  const double length = m.fibre.norm();
  if (!std::isfinite(length) || (m.fibreYoung > 0 && length == 0))
    throw Error(ErrorKind::Usage, "fibres have stiffness, but no direction")
        .hint("give a direction of the shape at rest, or 0 as their Young's modulus");
}

// Two bits a corner: its place among the corners in ascending order.
uint8_t ranksOf(const geometry::Tetrahedron& tet) {
  uint32_t ranks = 0;
  for (size_t k = 0; k < 4; ++k) {
    uint32_t rank = 0;
    for (size_t j = 0; j < 4; ++j) rank += tet[j] < tet[k];
    ranks |= rank << (2 * k);
  }
  return static_cast<uint8_t>(ranks);
}

}  // namespace

void Solid::set(const geometry::TetMesh& rest, std::span<const SolidMaterial> materials,
                std::span<const uint16_t> materialOf, std::span<const double> fractions,
                std::span<const MassShares> shares) {
  if (rest.tets.empty())
    throw Error(ErrorKind::Geometry, "the solid has no tetrahedra")
        .hint("fill its surface with `sunder tet`");
  if (materials.empty()) throw Error(ErrorKind::Usage, "the solid has no material");
  if (materials.size() > std::numeric_limits<uint16_t>::max())
    throw Error(ErrorKind::Limit, fmt::format("{} materials are more than a solid takes", materials.size()));
  for (size_t m = 0; m < materials.size(); ++m) {
    try {
      requireValidSolid(materials[m]);
    } catch (Error& error) {
      if (materials.size() == 1) throw;
      Error named(error.kind(), fmt::format("material {}: {}", m, error.message()));
      if (!error.hint().empty()) named.hint(error.hint());
      throw named;
    }
  }
  if (!materialOf.empty() && materialOf.size() != rest.tets.size())
    throw Error(ErrorKind::Usage, fmt::format("{} numbers of materials for {} tetrahedra", materialOf.size(),
                                              rest.tets.size()));
  for (size_t t = 0; t < materialOf.size(); ++t)
    if (materialOf[t] >= materials.size())
      throw Error(ErrorKind::Usage, fmt::format("tetrahedron {} has material {}, but there are {}", t,
                                                materialOf[t], materials.size()));
  requireValid(shares, rest.tets.size());
  std::vector<Element> elements;
  makeElements(rest, fractions, elements);

  elements_ = std::move(elements);
  tets_ = rest.tets;
  shares_.assign(shares.begin(), shares.end());
  materials_.assign(materials.begin(), materials.end());
  if (materialOf.empty())
    materialOf_.assign(tets_.size(), 0);
  else
    materialOf_.assign(materialOf.begin(), materialOf.end());
  arrange(rest.positions.size());
}

void Solid::setCorners(std::span<const geometry::Tetrahedron> tets, size_t vertices) {
  if (tets.size() != tets_.size())
    throw Error(ErrorKind::Usage,
                fmt::format("corners of {} tetrahedra for a solid of {}", tets.size(), tets_.size()));
  if (vertices < masses_.size())
    throw Error(ErrorKind::Usage,
                fmt::format("{} vertices, but the solid has {} already", vertices, masses_.size()))
        .hint("vertices are only added");
  for (size_t t = 0; t < tets.size(); ++t)
    for (size_t k = 0; k < 4; ++k) {
      if (tets[t][k] >= vertices)
        throw Error(ErrorKind::Usage, fmt::format("tetrahedron {} refers to vertex {}, but there are {}", t,
                                                  tets[t][k], vertices));
      for (size_t j = 0; j < k; ++j)
        if (tets[t][j] == tets[t][k])
          throw Error(ErrorKind::Usage, fmt::format("tetrahedron {} has vertex {} twice", t, tets[t][k]));
    }
  tets_.assign(tets.begin(), tets.end());
  arrange(vertices);
}

// All that follows from corners: masses, pattern, batches and what is gathered from where.
void Solid::arrange(size_t vertices) {
  masses_.assign(vertices, 0);
  for (size_t t = 0; t < tets_.size(); ++t)
    for (size_t k = 0; k < 4; ++k)
      masses_[tets_[t][k]] += materials_[materialOf_[t]].elastic.density * elements_[t].volume *
                              (shares_.empty() ? 0.25 : shares_[t][k]);
  geometry::TetMesh mesh;
  mesh.positions.resize(vertices);
  mesh.tets = tets_;
  pattern_.build(mesh);

  // A batch has one model, and fibres or none. Tetrahedra keep their order otherwise.
  constexpr size_t kKinds = 8;
  const auto kindOf = [&](size_t t) {
    const SolidMaterial& m = materials_[materialOf_[t]];
    return 2 * static_cast<size_t>(m.model) + (m.fibreYoung > 0 ? 1 : 0);
  };
  size_t counts[kKinds] = {}, firstBatch[kKinds], batchCount = 0;
  for (size_t t = 0; t < tets_.size(); ++t) ++counts[kindOf(t)];
  for (size_t k = 0; k < kKinds; ++k) {
    firstBatch[k] = batchCount;
    batchCount += (counts[k] + kBatchTets - 1) / kBatchTets;
  }
  batches_.assign(batchCount, {});
  fibres_.clear();
  place_.resize(tets_.size());
  std::vector<uint8_t> ranks(tets_.size());
  size_t placed[kKinds] = {};
  for (size_t t = 0; t < tets_.size(); ++t) {
    const size_t kind = kindOf(t), at = placed[kind]++;
    place_[t] = static_cast<uint32_t>(kBatchTets * firstBatch[kind] + at);
    ranks[t] = ranksOf(tets_[t]);
    put(t, ranks[t]);
  }
  // The rest of a last batch repeats its last tetrahedron, which weighs nothing there.
  for (ElementBatch& batch : batches_)
    for (size_t lane = batch.count; lane < kBatchTets; ++lane) {
      const size_t from = batch.count - 1;
      for (auto& row : batch.gradient) row[lane] = row[from];
      for (auto& row : batch.corner) row[lane] = row[from];
      batch.mu[lane] = batch.mu[from];
      batch.lambda[lane] = batch.lambda[from];
      batch.volume[lane] = 0;
    }
  gather_.build(pattern_, place_, ranks, batchCount);
  arrangeAverages();
  arrangeRatio();
}

void Solid::put(size_t t, uint8_t ranks) {
  const SolidMaterial& material = materials_[materialOf_[t]];
  ElementBatch& batch = batches_[place_[t] / kBatchTets];
  const size_t lane = place_[t] % kBatchTets;
  batch.model = material.model;
  batch.count = static_cast<uint32_t>(lane + 1);
  batch.volume[lane] = elements_[t].volume;
  batch.mu[lane] = material.elastic.mu();
  batch.lambda[lane] = keptLambda(material.elastic);
  for (size_t k = 0; k < 4; ++k) {
    const size_t rank = (ranks >> (2 * k)) & 3;
    batch.corner[rank][lane] = tets_[t][k];
    for (size_t c = 0; c < 3 && rank > 0; ++c)
      batch.gradient[3 * (rank - 1) + c][lane] = elements_[t].gradient[k][static_cast<Eigen::Index>(c)];
  }
  if (!(material.fibreYoung > 0)) return;
  if (batch.fibres == kNoIndex) {
    batch.fibres = static_cast<uint32_t>(fibres_.size());
    fibres_.push_back({});
  }
  FibreBatch& fibres = fibres_[batch.fibres];
  const Vec3 direction = material.fibre.stableNormalized();
  // All places from here on, so that those without a tetrahedron have a direction too.
  for (size_t l = lane; l < kBatchTets; ++l) {
    for (size_t c = 0; c < 3; ++c) fibres.direction[c][l] = direction[static_cast<Eigen::Index>(c)];
    fibres.young[l] = material.fibreYoung;
  }
}

void Solid::arrangeAverages() {
  const size_t places = kBatchTets * batches_.size();
  std::vector<double> stiffness;
  for (const SolidMaterial& m : materials_)
    stiffness.push_back(m.elastic.poisson > kAveragedFrom ? m.elastic.lambda() - keptLambda(m.elastic) : 0);
  std::vector<std::array<uint32_t, 4>> corners(places);
  std::vector<double> volumes(places);
  std::vector<uint16_t> materials(places, 0);
  for (size_t p = 0; p < places; ++p) {
    const ElementBatch& batch = batches_[p / kBatchTets];
    for (size_t k = 0; k < 4; ++k) corners[p][k] = batch.corner[k][p % kBatchTets];
    volumes[p] = batch.volume[p % kBatchTets];
  }
  for (size_t t = 0; t < tets_.size(); ++t) materials[place_[t]] = materialOf_[t];
  averages_.build({corners, volumes, materials, stiffness}, gather_.stars);
}

// One ratio of lambda to mu for all lets rotated Hooke elements be summed as one kind of product.
void Solid::arrangeRatio() {
  ratio_ = keptRatio(materials_[materialOf_[0]].elastic);
  oneRatio_ = true;
  hooke_ = frozenHooke_ = fibres_.empty();
  for (const ElementBatch& batch : batches_) {
    hooke_ = hooke_ && batch.model == ElasticModel::Linear;
    frozenHooke_ =
        frozenHooke_ && (batch.model == ElasticModel::Linear || batch.model == ElasticModel::Corotated);
  }
  for (const uint16_t m : materialOf_) oneRatio_ = oneRatio_ && keptRatio(materials_[m].elastic) == ratio_;
}

}  // namespace sunder::fem
