// The table of all bodies of a world, of whatever kind of matter: one number for each, for ever. Recordings,
// events, inputs and parts name bodies by it. Rows are only appended; a body that is gone keeps its row.
//
// A part numbers its own bodies 0, 1, 2... (the local number); the table has both ways from one number to the
// other. Meshes have numbers of the same kind: a body shows one of them, or none.
#pragma once

#include "sunder/base/index.h"

#include <cstdint>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::world {

struct BodyRow {
  uint32_t part = 0, local = 0;  // which part's body it is, and its number there
  uint32_t origin = 0;           // the body of the scene that it is, or came from
  uint32_t parent = kNoIndex;    // the body that it broke from
  uint64_t born = 0;             // the first frame it is part of
  uint32_t mesh = kNoIndex;      // what is seen of it
  bool operator==(const BodyRow&) const = default;
};

struct MeshRow {
  uint32_t part = 0, local = 0;
  bool operator==(const MeshRow&) const = default;
};

class BodyTable {
 public:
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  const BodyRow& operator[](uint32_t body) const { return rows_[body]; }
  // The number of a part's body.
  uint32_t number(uint32_t part, uint32_t local) const { return ofPart_[part].bodies[local]; }
  uint32_t countOf(uint32_t part) const {
    return part < ofPart_.size() ? static_cast<uint32_t>(ofPart_[part].bodies.size()) : 0;
  }

  uint32_t meshCount() const { return static_cast<uint32_t>(meshes_.size()); }
  const MeshRow& mesh(uint32_t mesh) const { return meshes_[mesh]; }
  uint32_t meshCountOf(uint32_t part) const { return part < ofPart_.size() ? ofPart_[part].meshes : 0; }

  // The next body of a part; its number. `parent`: kNoIndex for a body of the scene, which is its own origin.
  uint32_t add(uint32_t part, uint32_t parent, uint64_t born, uint32_t mesh);
  // The next mesh of a part; its number.
  uint32_t addMesh(uint32_t part);

  void clear();
  void save(ByteWriter& out) const;
  // Throws Error (Format) for rows that do not begin with those that are here, or refer to what is not there:
  // parts, parents, meshes, frames beyond `frame`.
  void load(ByteReader& in, uint32_t parts, uint64_t frame);

 private:
  struct OfPart {
    std::vector<uint32_t> bodies;  // numbers, by local number
    uint32_t meshes = 0;
  };
  OfPart& ofPart(uint32_t part);

  std::vector<BodyRow> rows_;
  std::vector<MeshRow> meshes_;
  std::vector<OfPart> ofPart_;
};

// The table as one part sees it: to look at,
class PartBodies {
 public:
  PartBodies(const BodyTable& table, uint32_t part) : table_(&table), part_(part) {}

  const BodyTable& all() const { return *table_; }
  uint32_t part() const { return part_; }
  uint32_t count() const { return table_->countOf(part_); }
  uint32_t number(uint32_t local) const { return table_->number(part_, local); }
  bool mine(uint32_t body) const { return (*table_)[body].part == part_; }
  uint32_t local(uint32_t body) const { return (*table_)[body].local; }

 private:
  const BodyTable* table_;
  uint32_t part_;
};

// and to add its own bodies to.
class OwnBodies : public PartBodies {
 public:
  OwnBodies(BodyTable& table, uint32_t part) : PartBodies(table, part), table_(&table) {}

  // A body of the scene; its number.
  uint32_t add(uint32_t mesh) { return table_->add(part(), kNoIndex, 0, mesh); }
  uint32_t addPiece(uint32_t parent, uint64_t born, uint32_t mesh) {
    return table_->add(part(), parent, born, mesh);
  }
  uint32_t addMesh() { return table_->addMesh(part()); }

 private:
  BodyTable* table_;
};

}  // namespace sunder::world
