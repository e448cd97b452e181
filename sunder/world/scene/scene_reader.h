// Reads a Scene from a document, block by block: scene_world.cpp, scene_bodies.cpp, scene_soft.cpp,
// scene_joints.cpp, scene_forces.cpp; materials and liquids have headers of their own. Private to this
// folder.
#pragma once

#include "sunder/base/memory_limit.h"
#include "sunder/world/scene/scene.h"
#include "sunder/world/scene/scene_arrays.h"
#include "sunder/world/scene/scene_node.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sunder::world {

// Thrown where a sample lacks a body that the scene names.
struct NamesOneLeftOut {};

class SceneReader {
 public:
  // `most`: bodies of all arrays together, beyond which samples of them are read.
  explicit SceneReader(Scene& scene, uint64_t most = UINT64_MAX);

  // Parts that do not depend on each other are read on after an error, so that one report names all of them.
  void run();

 private:
  // Thrown where a part names one that has an error itself: nothing new for the reader.
  struct FollowsFromAnother {};

  // Whether a part was read. `id`: of the body or array that it is.
  template <class Part>
  bool attempt(const std::string& id, Part&& part) {
    try {
      part();
      return true;
    } catch (const FollowsFromAnother&) {
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Limit && errors_.empty()) throw;
      errors_.add(error);
    }
    failed_.insert(id);
    return false;
  }

  template <class Part>
  void each(const char* list, Part&& part) {
    if (!root_.has(list)) return;
    const SceneNode nodes = root_[list];
    for (size_t i = 0; i < nodes.size(); ++i) attempt(nodes[i].text("id", ""), [&] { part(nodes[i], i); });
  }

  void readWorld(const SceneNode& node);
  void readRecording(const SceneNode& node);

  uint32_t needMaterial(const SceneNode& node) const;
  uint32_t needShape(const SceneNode& node);
  uint32_t shapeIndex(const std::string& name, const SceneNode& node);
  uint32_t addShape(ShapeSpec spec);
  FractureSpec readFracture(const SceneNode& node, rigid::BodyKind kind);
  BodySpec readSettings(const SceneNode& node);
  static std::string readId(const SceneNode& node);
  // No other body may have it, nor is it a name of one that is cut.
  void requireFreshId(const std::string& id, const SceneNode& place) const;
  void addBody(BodySpec body, const SceneNode& place);
  void addBody(SoftBodySpec body, const SceneNode& place);
  void readBody(const SceneNode& node);
  SoftBodySpec readSoftSettings(const SceneNode& node);
  void readGrips(const SceneNode& node, SoftBodySpec& body);
  void readSoftBody(const SceneNode& node);
  void holdSoftBodies();
  void requireRoom(const SceneNode& array) const;
  void readArray(const SceneNode& node);
  void readLiquids(const SceneNode& node);
  void readBlocks();

  // Whether a body could not be read, or the array or the cut body that it is one of: "id", "id[3]", "id.0".
  bool failedBefore(const std::string& id) const;
  // Whether it names pieces that are not cut yet, or may do so.
  bool namesPieces(const std::string& pattern) const;
  // Of a rigid body. `ifSoft`: the hint where a deformable one is named.
  uint32_t needBody(const SceneNode& node, const char* ifSoft) const;
  const std::vector<uint32_t>& bodiesLike(const SceneNode& node, const char* ifSoft);
  void readJoint(const SceneNode& node, size_t number);
  void readForce(const SceneNode& node, size_t number);

  Scene& scene_;
  SceneNode root_;
  ErrorList errors_;
  std::set<std::string> failed_;  // ids of parts with errors; "" of parts that have none
  bool materialsRead_ = true;     // none has an error
  uint64_t memory_ = memoryLimit();
  double bodiesAsked_ = 0, jointsAsked_ = 0,
         forceBodies_ = 0;  // of the whole scene, also where a sample is read
  uint64_t mostBodies_, mostOfArray_ = UINT64_MAX;
  std::map<std::string, uint32_t> shapeByWords_, bodyById_, softById_;
  std::set<std::string> cuts_;  // ids of bodies with a cut
  std::map<std::string, std::vector<uint32_t>> bodiesByPattern_;
};

}  // namespace sunder::world
