#include "sunder/world/part/bodies.h"

#include "sunder/base/bytes.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

BodyTable::OfPart& BodyTable::ofPart(uint32_t part) {
  if (ofPart_.size() <= part) ofPart_.resize(part + 1);
  return ofPart_[part];
}

uint32_t BodyTable::add(uint32_t part, uint32_t parent, uint64_t born, uint32_t mesh) {
  const uint32_t number = size();
  OfPart& own = ofPart(part);
  const uint32_t origin = parent == kNoIndex ? number : rows_[parent].origin;
  rows_.push_back({part, static_cast<uint32_t>(own.bodies.size()), origin, parent, born, mesh});
  own.bodies.push_back(number);
  return number;
}

uint32_t BodyTable::addMesh(uint32_t part) {
  const uint32_t number = meshCount();
  meshes_.push_back({part, ofPart(part).meshes++});
  return number;
}

void BodyTable::clear() {
  rows_.clear();
  meshes_.clear();
  ofPart_.clear();
}

// Local numbers and origins follow from the order of the rows.
void BodyTable::save(ByteWriter& out) const {
  out.u32(meshCount());
  for (const MeshRow& mesh : meshes_) out.u32(mesh.part);
  out.u32(size());
  for (const BodyRow& row : rows_) {
    out.u32(row.part);
    out.u32(row.parent);
    out.u64(row.born);
    out.u32(row.mesh);
  }
}

void BodyTable::load(ByteReader& in, uint32_t parts, uint64_t frame) {
  const auto requirePart = [&](uint32_t part) {
    if (part >= parts) in.fail(fmt::format("a row of the bodies is of part {}, of {}", part, parts));
  };
  BodyTable read;
  const uint32_t meshes = in.u32("number of meshes");
  in.need(meshes, 4, "meshes");
  for (uint32_t i = 0; i < meshes; ++i) {
    const uint32_t part = in.u32("part of a mesh");
    requirePart(part);
    read.addMesh(part);
  }
  const uint32_t bodies = in.u32("number of bodies");
  in.need(bodies, 20, "bodies");
  for (uint32_t i = 0; i < bodies; ++i) {
    const uint32_t part = in.u32("part of a body"), parent = in.u32("parent of a body");
    const uint64_t born = in.u64("birth of a body");
    const uint32_t mesh = in.u32("mesh of a body");
    requirePart(part);
    if (parent != kNoIndex && (parent >= i || read.rows_[parent].part != part))
      in.fail(fmt::format("body {} is a piece of {}, which it cannot be", i, parent));
    if (born > frame) in.fail(fmt::format("body {} is born in frame {}, later than the state", i, born));
    if (mesh != kNoIndex && (mesh >= meshes || read.meshes_[mesh].part != part))
      in.fail(fmt::format("body {} shows mesh {}, which is not of its part", i, mesh));
    read.add(part, parent, born, mesh);
  }
  const auto startsWith = [](const auto& all, const auto& start) {
    return all.size() >= start.size() && std::equal(start.begin(), start.end(), all.begin());
  };
  if (!startsWith(read.rows_, rows_) || !startsWith(read.meshes_, meshes_))
    in.fail("the bodies of the scene are not those of the state");
  *this = std::move(read);
}

}  // namespace sunder::world
