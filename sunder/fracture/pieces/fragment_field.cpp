#include "sunder/fracture/pieces/fragment_field.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sunder::fracture {

namespace {

constexpr double kCell = 0.4;    // of the mean edge
constexpr double kBand = 0.15;   // of the mean edge
constexpr double kBeyond = 1;    // edges that a record may be deeper than the object's surface
constexpr double kNoWay = 1e-7;  // of the mean edge: nearer points take the normal of the face
constexpr size_t kBunch = 16;

// Lists by rank from pairs in order.
void group(const SparseRanks& ranks, std::span<const uint32_t> of, std::vector<uint32_t>& start,
           std::vector<uint32_t>& list) {
  start.assign(ranks.count() + 1, 0);
  std::vector<uint32_t> rank(of.size());
  for (size_t i = 0; i < of.size(); ++i) {
    rank[i] = of[i] == kNoIndex ? kNoIndex : ranks.rank(of[i]);
    if (rank[i] != kNoIndex) ++start[rank[i] + 1];
  }
  for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  list.resize(start.back());
  std::vector<uint32_t> next(start.begin(), start.end() - 1);
  for (uint32_t i = 0; i < of.size(); ++i)
    if (rank[i] != kNoIndex) list[next[rank[i]]++] = i;
}

}  // namespace

void SparseRanks::close() {
  before_.resize(words_.size());
  count_ = 0;
  for (size_t i = 0; i < words_.size(); ++i) {
    before_[i] = count_;
    count_ += uint32_t(std::popcount(words_[i]));
  }
}

FragmentField::FragmentField(RestMeshPtr rest, const CrackedMesh& mesh, std::span<const CutCell> cells,
                             std::span<const uint32_t> rootTets, std::span<const uint32_t> rootVertices)
    : rest_(std::move(rest)),
      rootTet_(rootTets.begin(), rootTets.end()),
      rootVertex_(rootVertices.begin(), rootVertices.end()) {
  build(mesh, cells, nullptr, {}, {});
}

FragmentField::FragmentField(const FragmentField& parent, const CrackedMesh& mesh,
                             std::span<const CutCell> cells, std::span<const uint32_t> tetSource,
                             std::span<const uint32_t> vertexSource)
    : rest_(parent.rest_) {
  rootTet_.reserve(tetSource.size());
  for (const uint32_t t : tetSource) rootTet_.push_back(parent.rootTet_[t]);
  rootVertex_.reserve(vertexSource.size());
  for (const uint32_t v : vertexSource) rootVertex_.push_back(parent.rootVertex_[v]);
  build(mesh, cells, &parent, tetSource, vertexSource);
}

void FragmentField::build(const CrackedMesh& mesh, std::span<const CutCell> cells,
                          const FragmentField* parent, std::span<const uint32_t> tetSource,
                          std::span<const uint32_t> vertexSource) {
  const size_t count = mesh.size();
  if (rootTet_.size() != count || rootVertex_.size() != mesh.mesh.positions.size() || cells.size() != count)
    throw Error(ErrorKind::Usage,
                "a fragment needs cells and sources for all of its tetrahedra and vertices");
  band_ = kBand * rest_->edge();
  positions_ = mesh.mesh.positions;
  tets_ = mesh.mesh.tets;
  corners_.assign(count, 0xf);
  present_.assign(positions_.size(), 0);
  sideStart_.reserve(count + 1);
  sideStart_.push_back(0);
  size_t cuts = 0;
  for (const auto& list : mesh.cuts) cuts += list.size();
  sides_.reserve(cuts);
  for (size_t t = 0; t < count; ++t) {
    tetRanks_.set(rootTet_[t]);
    for (const Cut& cut : mesh.cuts[t]) {
      sides_.push_back({cut.phi, cut.side > 0});
      for (size_t i = 0; i < 4; ++i)
        if ((cut.phi[i] >= 0) != (cut.side > 0)) corners_[t] &= uint8_t(~(1u << i));
    }
    sideStart_.push_back(uint32_t(sides_.size()));
    for (size_t i = 0; i < 4; ++i)
      if (corners_[t] >> i & 1) {
        present_[tets_[t][i]] = 1;
        box_.grow(positions_[tets_[t][i]]);
      }
  }
  tetRanks_.close();
  group(tetRanks_, rootTet_, tetsAtStart_, tetsAt_);
  clipped_ = rest_->halfSpaces() && halfSpaces_.find(*rest_, mesh, cells, rootTet_);
  if (clipped_) {
    for (const CutCell& cell : cells)
      for (const CutCell::Corner& corner : cell.corners) box_.grow(corner.position);
    return;
  }
  // What it does not know of its cracks a clipped parent cannot hand on.
  if (parent && parent->clipped_) parent = nullptr;
  addFaces(mesh, cells);
  grid_ = FaceGrid(faces_, faces_.size(), box_, kCell * rest_->edge(), band_);

  records_.assign(positions_.size(), {});
  if (parent) inherit(*parent, tetSource, vertexSource);
  std::vector<uint32_t> front;
  for (uint32_t t = 0; t < count; ++t)
    for (const uint32_t face : facesOf(t)) {
      const bool old = parent && faces_[face].plane - 4u <
                                     parent->sideStart_[tetSource[t] + 1] - parent->sideStart_[tetSource[t]];
      if (old) continue;
      for (const uint32_t v : tets_[t]) {
        if (!present_[v]) continue;
        ++work_.seeds;
        if (tryFace(v, face)) front.push_back(v);
      }
    }
  handOn(std::move(front));
}

void FragmentField::addFaces(const CrackedMesh& mesh, std::span<const CutCell> cells) {
  const size_t count = mesh.size();
  faces_.reserve(sides_.size());
  faceList_.reserve(sides_.size());
  faceStart_.reserve(count + 1);
  faceStart_.push_back(0);
  for (uint32_t t = 0; t < count; ++t) {
    for (const CutCell::Face& face : cells[t].faces) {
      if (face.plane < 4) continue;
      const Cut& cut = mesh.cuts[t][face.plane - 4u];
      // The gradient of the crack's function is defined better than that of small polygons.
      const Vec3 gradient = rest_->gradient(rootTet_[t], cut.phi);
      for (const uint8_t c : cells[t].cornersOf(face)) {
        faces_.addCorner(cells[t].corners[c].position);
        box_.grow(cells[t].corners[c].position);
      }
      faceList_.push_back(faces_.add(gradient.normalized() * (cut.side > 0 ? -1.0 : 1.0), t, face.plane));
    }
    faceStart_.push_back(uint32_t(faceList_.size()));
  }
}

void FragmentField::inherit(const FragmentField& parent, std::span<const uint32_t> tetSource,
                            std::span<const uint32_t> vertexSource) {
  // Polygons of the parent that are still whole have a number here.
  std::vector<uint32_t> number(parent.faces_.size(), kNoIndex);
  for (uint32_t t = 0; t < tets_.size(); ++t) {
    const uint32_t source = tetSource[t];
    if (sideStart_[t + 1] - sideStart_[t] != parent.sideStart_[source + 1] - parent.sideStart_[source])
      continue;
    const auto ours = facesOf(t), theirs = parent.facesOf(source);
    for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i) number[theirs[i]] = ours[i];
  }
  for (uint32_t v = 0; v < records_.size(); ++v) {
    if (!present_[v]) continue;
    const NodeRecord& old = parent.records_[vertexSource[v]];
    if (old.face == kNoIndex) continue;
    uint32_t& n = number[old.face];
    if (n == kNoIndex) n = faces_.copy(parent.faces_, old.face);
    records_[v] = {old.distance, old.point, n};
  }
}

bool FragmentField::tryFace(uint32_t vertex, uint32_t face) {
  NodeRecord& record = records_[vertex];
  NearestOnFace best{record.distance * record.distance, record.point, record.face};
  faces_.nearer(face, positions_[vertex], best);
  if (best.face == record.face) return false;
  const double distance = std::sqrt(best.squared);
  if (!(distance < record.distance)) return false;
  record = {distance, best.point, face};
  return true;
}

void FragmentField::handOn(std::vector<uint32_t> front) {
  if (front.empty()) return;
  const size_t vertices = positions_.size();
  std::vector<uint32_t> start(vertices + 1, 0);
  for (const auto& t : tets_)
    for (const uint32_t v : t) ++start[v + 1];
  for (size_t i = 1; i <= vertices; ++i) start[i] += start[i - 1];
  std::vector<uint32_t> around(4 * tets_.size()), next(start.begin(), start.end() - 1);
  for (uint32_t t = 0; t < tets_.size(); ++t)
    for (const uint32_t v : tets_[t]) around[next[v]++] = t;

  // Nearest first: what they say stands more often.
  const auto nearestFirst = [&](std::vector<uint32_t>& list) {
    std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      const double da = records_[a].distance, db = records_[b].distance;
      return da != db ? da < db : a < b;
    });
  };
  nearestFirst(front);
  front.erase(std::unique(front.begin(), front.end()), front.end());
  std::vector<uint32_t> seen(vertices, 0), coming;
  uint32_t stamp = 0;  // of one vertex of a front
  std::vector<char> queued(vertices, 0);
  const double beyond = kBeyond * rest_->edge();
  while (!front.empty()) {
    ++work_.steps;
    coming.clear();
    for (const uint32_t a : front) {
      const uint32_t face = records_[a].face;
      ++stamp;
      for (uint32_t k = start[a]; k < start[a + 1]; ++k) {
        const uint32_t t = around[k];
        const auto& tet = tets_[t];
        for (size_t i = 0; i < 4; ++i) {
          const uint32_t b = tet[i];
          // Both ends in the cell, which is convex: the edge is inside.
          if (seen[b] == stamp || b == a || !(corners_[t] >> i & 1)) continue;
          bool holdsA = true;
          if (corners_[t] != 0xf)
            for (size_t j = 0; j < 4; ++j) holdsA &= tet[j] != a || (corners_[t] >> j & 1);
          if (!holdsA) continue;
          seen[b] = stamp;
          if (records_[b].face == face) continue;
          const double root = rootVertex_[b] == kNoIndex ? Box3::kInfinity : rest_->depth(rootVertex_[b]);
          const double enough = std::min(records_[b].distance, root + beyond);
          const double reach = records_[a].distance - enough;
          if (reach > 0 && reach * reach > (positions_[a] - positions_[b]).squaredNorm()) continue;
          if (!tryFace(b, face)) continue;
          ++work_.updates;
          if (!queued[b]) {
            queued[b] = 1;
            coming.push_back(b);
          }
        }
      }
    }
    nearestFirst(coming);
    for (const uint32_t v : coming) queued[v] = 0;
    front.swap(coming);
  }
}

double FragmentField::depth(uint32_t vertex) const {
  const uint32_t root = rootVertex_[vertex];
  const double below = root == kNoIndex ? Box3::kInfinity : rest_->depth(root);
  if (!clipped_) return std::min(records_[vertex].distance, below);
  uint32_t plane;
  return std::max(0.0, std::min(-halfSpaces_.highest(positions_[vertex], plane), below));
}

void FragmentField::setMasks(std::shared_ptr<const FragmentMasks> masks, uint32_t id) {
  masks_ = std::move(masks);
  slot_ = masks_ ? masks_->slot(id) : kNoIndex;
}

FieldErrors FragmentField::errors() const {
  const FieldErrors& object = rest_->errors();
  FieldErrors e;
  e.domain = object.domain;
  if (clipped_) {
    e.band = object.band;
    e.near = object.near + halfSpaces_.bend() + 1e-9 * rest_->edge();
    e.above = std::max(object.above, object.near) + halfSpaces_.bend() + 1e-9 * rest_->edge();
    e.far = std::max(object.far, e.near);
    return e;
  }
  // All faces within the band are asked; at its end values may be bounds.
  e.band = std::min(0.99 * band_, object.band);
  e.near = object.near + 1e-9 * rest_->edge();
  e.above = std::max(object.above, object.near) + 1e-9 * rest_->edge();
  e.far = std::max(object.far, object.near) + band_;
  return e;
}

std::span<const uint32_t> FragmentField::tetsAt(uint32_t rootTet) const {
  const uint32_t rank = tetRanks_.rank(rootTet);
  if (rank == kNoIndex) return {};
  return {tetsAt_.data() + tetsAtStart_[rank], tetsAt_.data() + tetsAtStart_[rank + 1]};
}

bool FragmentField::onSides(uint32_t tet, const std::array<double, 4>& w, uint32_t first) const {
  for (uint32_t k = sideStart_[tet] + first; k < sideStart_[tet + 1]; ++k) {
    const auto& phi = sides_[k].phi;
    const double value = w[0] * phi[0] + w[1] * phi[1] + w[2] * phi[2] + w[3] * phi[3];
    if ((value >= 0) != sides_[k].positive) return false;
  }
  return true;
}

uint32_t FragmentField::holder(const RestMesh::Place& place) const {
  if (place.tet == kNoIndex) return kNoIndex;
  for (const uint32_t t : tetsAt(place.tet))
    if (onSides(t, place.weights)) return t;
  return kNoIndex;
}

bool FragmentField::holds(const Vec3& point) const { return holder(rest_->locate(point)) != kNoIndex; }

sdf::FieldSample FragmentField::sampleAt(const Vec3& p, const sdf::FieldSample& object) const {
  const Vec3 onBox = p.cwiseMax(box_.lower).cwiseMin(box_.upper);
  if (const double gap = (p - onBox).norm(); gap > band_) {
    if (gap > object.value) return {gap, (p - onBox) / gap};
    return object;
  }
  RestMesh::Place place;
  if (object.value <= 0) place = rest_->locate(p);
  if (place.tet == kNoIndex) {
    // The foot on the object's surface, a little below it; farther where the field and the tetrahedra do not
    // agree on where that is.
    for (const double below : {1e-6 * rest_->edge(), 2 * rest_->errors().near, 0.1 * rest_->edge()}) {
      place = rest_->locate(p - (std::max(object.value, 0.0) + below) * object.gradient);
      if (place.tet != kNoIndex) break;
    }
  }
  const uint32_t tet = holder(place);
  if (tet == kNoIndex) return outside(p, object);
  if (object.value > 0) return object;
  NearestOnFace best;
  best.squared = object.value * object.value;
  for (const uint32_t face : grid_.at(p)) faces_.nearer(face, p, best);
  // What is deeper than the grid reaches is known by the vertices and by the tetrahedron itself.
  if (best.squared > band_ * band_) {
    for (const uint32_t face : facesOf(tet)) faces_.nearer(face, p, best);
    for (const uint32_t v : tets_[tet])
      if (const uint32_t face = records_[v].face; face != kNoIndex) faces_.nearer(face, p, best);
  }
  if (best.face == kNoIndex) return object;
  const double distance = std::sqrt(best.squared);
  const Vec3 way =
      distance > kNoWay * rest_->edge() ? Vec3((best.point - p) / distance) : faces_[best.face].normal;
  return {-distance, way};
}

sdf::FieldSample FragmentField::outside(const Vec3& p, const sdf::FieldSample& object) const {
  NearestOnFace best;
  best.squared = band_ * band_;
  for (const uint32_t face : grid_.at(p)) faces_.nearer(face, p, best);
  if (best.face != kNoIndex) {
    const double distance = std::sqrt(best.squared);
    const Vec3 way =
        distance > kNoWay * rest_->edge() ? Vec3((p - best.point) / distance) : faces_[best.face].normal;
    return {std::max(object.value, distance), way};
  }
  // Far from all cracks: a bound below, away from the middle.
  sdf::FieldSample out{std::max(object.value, band_), object.gradient};
  if (masks_ && slot_ != kNoIndex) out.value = std::max(out.value, masks_->distanceBelow(slot_, p));
  if (const Vec3 away = p - box_.center(); away.squaredNorm() > 0) out.gradient = away.normalized();
  return out;
}

void FragmentField::clippedSamples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const {
  std::array<sdf::FieldSample, kBunch> object;
  std::array<Vec3, kBunch> asked;
  std::array<size_t, kBunch> of;
  std::array<double, kBunch> height;
  std::array<uint32_t, kBunch> plane;
  for (size_t first = 0; first < points.size(); first += kBunch) {
    const size_t end = std::min(first + kBunch, points.size());
    size_t count = 0;
    for (size_t i = first; i < end; ++i) {
      uint32_t k = kNoIndex;
      const double h = halfSpaces_.highest(points[i], k);
      // Far beyond a plane or from the box nobody needs to know of the object.
      const Vec3 onBox = points[i].cwiseMax(box_.lower).cwiseMin(box_.upper);
      if (const double gap = (points[i] - onBox).norm(); gap > band_ && gap > h) {
        out[i] = {gap, (points[i] - onBox) / gap};
        continue;
      }
      if (h > band_) {
        out[i].value = halfSpaces_.distance(points[i], h, k, out[i].gradient);
        continue;
      }
      asked[count] = points[i];
      of[count] = i;
      height[count] = h;
      plane[count++] = k;
    }
    rest_->field().samples({asked.data(), count}, {object.data(), count});
    for (size_t j = 0; j < count; ++j) {
      sdf::FieldSample& sample = out[of[j]];
      Vec3 way;
      const double h = height[j] > 0 ? halfSpaces_.distance(asked[j], height[j], plane[j], way) : height[j];
      if (h > object[j].value) {
        sample = {h, height[j] > 0 ? way : halfSpaces_.all()[plane[j]].normal};
      } else {
        const double length = object[j].gradient.norm();
        sample = {object[j].value, length > 0 ? Vec3(object[j].gradient / length) : Vec3(Vec3::UnitY())};
      }
    }
  }
}

void FragmentField::samples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const {
  sdf::requireSameSize(points.size(), out.size());
  if (clipped_) return clippedSamples(points, out);
  std::array<sdf::FieldSample, kBunch> object;
  for (size_t first = 0; first < points.size(); first += kBunch) {
    const size_t count = std::min(kBunch, points.size() - first);
    rest_->field().samples(points.subspan(first, count), {object.data(), count});
    for (size_t i = 0; i < count; ++i) {
      const double length = object[i].gradient.norm();
      object[i].gradient = length > 0 ? Vec3(object[i].gradient / length) : Vec3(Vec3::UnitY());
      out[first + i] = sampleAt(points[first + i], object[i]);
    }
  }
}

void FragmentField::values(std::span<const Vec3> points, std::span<double> out) const {
  sdf::requireSameSize(points.size(), out.size());
  std::array<sdf::FieldSample, kBunch> found;
  for (size_t first = 0; first < points.size(); first += kBunch) {
    const size_t count = std::min(kBunch, points.size() - first);
    samples(points.subspan(first, count), {found.data(), count});
    for (size_t i = 0; i < count; ++i) out[first + i] = found[i].value;
  }
}

}  // namespace sunder::fracture
