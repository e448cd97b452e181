#include "sunder/world/build/ready_scene.h"

#include "sunder/base/hash.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/json_pointer.h"
#include "sunder/world/build/cost_shapes.h"
#include "sunder/world/build/cut_size.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/scene/joint_words.h"
#include "sunder/world/scene/scene_text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

// Thrown where an estimate lacks a piece that the scene names.
struct NamesPieceLeftOut {};

// By piece: how many are larger.
std::vector<size_t> ranks(std::span<const double> volumes) {
  std::vector<size_t> order(volumes.size()), rank(volumes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return volumes[a] > volumes[b]; });
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

class PieceMaker {
 public:
  PieceMaker(Scene scene, bool estimate, uint64_t memory)
      : scene_(std::move(scene)),
        bodies_(std::exchange(scene_.bodies, {})),
        shapes_(std::exchange(scene_.shapes, {})),
        estimate_(estimate),
        memory_(memory) {}

  Scene run() {
    scene_.uncut = estimate_;
    placeBodies();
    placeJoints();
    for (ForceSpec& force : scene_.forces) placeForce(force);
    placeLiquids();
    placeSoftBodies();
    return std::move(scene_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Shapes keep their order; that of a body with a cut has a place only where another body has it whole.
  void placeBodies() {
    newShape_.assign(shapes_.size(), kNone);
    std::vector<bool> onlyCut(shapes_.size(), false);
    ErrorList errors;
    size_t next = 0;
    for (const BodySpec& body : bodies_) {
      for (; next < body.shape; ++next)
        if (!onlyCut[next]) takeShape(next);
      if (body.cut.empty()) {
        newBody_.push_back(static_cast<uint32_t>(scene_.bodies.size()));
        const uint32_t shape = takeShape(body.shape);
        addBody(body, shape);
      } else {
        newBody_.push_back(kNone);
        if (newShape_[body.shape] == kNone) onlyCut[body.shape] = true;
        try {
          addPieces(body);
        } catch (const Error& error) {
          if (error.kind() == ErrorKind::Limit && errors.empty()) throw;
          errors.add(error);
        }
      }
      next = std::max<size_t>(next, body.shape + size_t(1));
    }
    for (; next < shapes_.size(); ++next) takeShape(next);
    errors.throwIfAny();
  }

  uint32_t takeShape(size_t index) {
    if (newShape_[index] == kNone) {
      newShape_[index] = static_cast<uint32_t>(scene_.shapes.size());
      scene_.shapes.push_back(shapes_[index]);
    }
    return newShape_[index];
  }

  void addBody(BodySpec body, uint32_t shape) {
    body.shape = shape;
    if (!byId_.try_emplace(body.id, static_cast<uint32_t>(scene_.bodies.size())).second)
      throw scene_.document.error(body.pointer, fmt::format("there are two bodies \"{}\"", body.id))
          .hint("give one of them another id");
    scene_.bodies.push_back(std::move(body));
  }

  // The words of a document that describe a piece; none for scenes of programs.
  Json wordsOf(const BodySpec& body, const ShapeSpec& whole) const {
    const Json* const cut = findAt(std::as_const(scene_.document).json(), body.pointer + "/cut");
    if (whole.written.empty() || !cut) return nullptr;
    Json words = readJson(whole.written);
    words["cut"] = *cut;
    return words;
  }

  void addPieces(const BodySpec& body) {
    ShapeSpec whole = shapes_[body.shape];
    const auto* source = std::get_if<MeshShape>(&whole.value);
    if (!source) throw scene_.document.error(body.pointer + "/cut", "only meshes can be cut");
    MeshShape cut = *source;
    cut.cut = body.cut;
    whole.value = cut;
    try {
      requireAffordableMesh(scene_, whole, memory_);
    } catch (const Error& error) {
      if (scene_.document.placed(error)) throw;
      scene_.document.rethrow(error, whole.pointer);
    }
    // What the pieces take is compared with the memory before anything is cut.
    const geometry::TriMesh mesh = sourceMeshAt(scene_, whole, cut);
    const auto sizes = std::make_shared<const CutSize>(sizeOfPieces(mesh, cut.cut));
    std::vector<double> volumes;
    std::vector<size_t> estimated;  // by piece
    if (estimate_) {
      for (const PieceSize& piece : sizes->pieces) volumes.push_back(piece.volume);
      estimated.resize(volumes.size());
      std::iota(estimated.begin(), estimated.end(), size_t(0));
    } else {
      cutBytes_ += requireAffordablePieces(scene_, whole, *sizes, cutBytes_, memory_);
      try {
        volumes = pieceVolumes(mesh, cut.cut);
      } catch (const Error& error) {
        scene_.document.rethrow(error, whole.pointer);
      }
      estimated = ranks(volumes);
    }
    const double sum = std::accumulate(volumes.begin(), volumes.end(), 0.0);
    Json words = wordsOf(body, whole);
    for (size_t k = 0; k < volumes.size(); ++k) {
      cut.piece = k;
      ShapeSpec spec{.name = whole.name.empty() ? "" : fmt::format("{}.{}", whole.name, k),
                     .value = cut,
                     .pointer = whole.pointer,
                     .fileHash = whole.fileHash,
                     .cut = sizes,
                     .cutPiece = estimated[k]};
      if (!words.isNull()) {
        words["piece"] = k;
        spec.written = words.text({.strict = true});
      }
      const auto [found, added] =
          pieceShapes_.try_emplace(spec.written.empty() ? shapeText(spec.value) : spec.written,
                                   static_cast<uint32_t>(scene_.shapes.size()));
      if (added)
        scene_.shapes.push_back(std::move(spec));
      else
        scene_.shapes[found->second].cut = sizes;
      BodySpec piece = body;
      piece.cut.clear();
      piece.id = fmt::format("{}.{}", body.id, k);
      if (body.mass) piece.mass = *body.mass * volumes[k] / sum;
      pieces_.push_back(static_cast<uint32_t>(scene_.bodies.size()));
      addBody(std::move(piece), found->second);
    }
  }

  uint32_t bodyOf(const std::string& id, const std::string& pointer) const {
    if (const auto found = byId_.find(id); found != byId_.end()) return found->second;
    if (estimate_) throw NamesPieceLeftOut{};
    throw noSuchBody(scene_, pointer, id);
  }

  std::vector<uint32_t> bodiesLike(const std::string& pattern, const std::string& pointer) const {
    std::vector<uint32_t> found;
    for (uint32_t b = 0; b < scene_.bodies.size(); ++b)
      if (fitsPattern(pattern, scene_.bodies[b].id)) found.push_back(b);
    if (found.empty() && estimate_) throw NamesPieceLeftOut{};
    if (found.empty()) throw noBodyLike(scene_, pointer, pattern);
    return found;
  }

  void placeJoints() {
    for (JointSpec& joint : std::exchange(scene_.joints, {})) {
      if (!joint.words) {
        rigid::JointSettings& s = joint.settings;
        if (s.a.valid()) s.a = rigid::BodyIndex(newBody_[s.a.value]);
        s.b = rigid::BodyIndex(newBody_[s.b.value]);
        scene_.joints.push_back(std::move(joint));
        continue;
      }
      const JointWords& words = *joint.words;
      rigid::BodyIndex a;
      if (!words.a.empty()) a = rigid::BodyIndex(bodyOf(words.a, joint.pointer + "/a"));
      const auto bodies = isPattern(words.b) ? bodiesLike(words.b, joint.pointer + "/b")
                                             : std::vector<uint32_t>{bodyOf(words.b, joint.pointer + "/b")};
      addJoints(scene_, joint, a, bodies);
    }
  }

  void placeForce(ForceSpec& force) {
    std::set<uint32_t> acted;
    for (const uint32_t b : force.bodies) acted.insert(newBody_[b]);
    for (const std::string& pattern : force.pieces) {
      bool any = false;
      for (const uint32_t b : pieces_) {
        if (!fitsPattern(pattern, scene_.bodies[b].id)) continue;
        any = true;
        if (scene_.bodies[b].kind == rigid::BodyKind::Dynamic) acted.insert(b);
      }
      if (!any) bodiesLike(pattern, force.pointer + "/bodies");  // throws where no other body fits either
    }
    force.bodies.assign(acted.begin(), acted.end());
    force.pieces.clear();
  }

  void placeLiquids() {
    if (!scene_.fluid) return;
    for (LiquidSpec& liquid : scene_.fluid->liquids) {
      for (BlockSpec& block : liquid.blocks) {
        if (block.container) block.container = newBody_[*block.container];
        if (!block.pour.empty()) block.container = bodyOf(block.pour, block.pointer + "/pour");
        block.pour.clear();
      }
    }
  }

  void placeSoftBodies() {
    const auto hold = [&](auto& holder) {
      if (holder.body) holder.body = newBody_[*holder.body];
      if (!holder.piece.empty()) holder.body = bodyOf(holder.piece, holder.pointer + "/body");
      holder.piece.clear();
    };
    for (SoftBodySpec& body : scene_.softBodies) {
      if (byId_.contains(body.id))
        throw scene_.document.error(body.pointer, fmt::format("there are two bodies \"{}\"", body.id))
            .hint("give one of them another id");
      body.shape = takeShape(body.shape);
      for (PinSpec& pin : body.soft.pins) hold(pin);
      for (AttachSpec& attach : body.soft.attach) hold(attach);
    }
  }

  Scene scene_;
  const std::vector<BodySpec> bodies_;   // as they are said
  const std::vector<ShapeSpec> shapes_;  // the same
  bool estimate_;
  uint64_t memory_;
  double cutBytes_ = 0;                       // of pieces so far
  std::vector<uint32_t> newBody_, newShape_;  // by old index; kNone: cut
  std::vector<uint32_t> pieces_;              // bodies
  std::map<std::string, uint32_t> byId_, pieceShapes_;
};

// A scene of a program with the document that its values make.
Scene documented(Scene scene) {
  if (!scene.document.empty()) return scene;
  return readScene(SceneDocument::ofProgram(sceneText(scene)));
}

// What cage and collision spheres of a soft body follow from, besides its shape.
std::string cageWords(const SoftSpec& soft) {
  return soft.cage.empty() ? fmt::format("{} {}", soft.tets, soft.spheres)
                           : fmt::format("{} {}", soft.cage, soft.spheres);
}

}  // namespace

Scene readyScene(Scene scene, uint64_t memory) {
  scene = documented(std::move(scene));
  if (scene.anyCuts()) scene = PieceMaker(std::move(scene), false, memory).run();
  for (ShapeSpec& shape : scene.shapes)
    if (shape.identity.empty()) shape.identity = shapeText(shape.value);
  return scene;
}

Scene estimatedScene(Scene scene, uint64_t memory) {
  scene = documented(std::move(scene));
  if (!scene.anyCuts()) return scene;
  try {
    return PieceMaker(scene, true, memory).run();
  } catch (const NamesPieceLeftOut&) {
    return readyScene(std::move(scene), memory);
  }
}

uint64_t identityOfScene(const Scene& scene) {
  Hasher hasher;
  for (const BodySpec& body : scene.bodies) {
    hasher.updateSized(std::string_view(body.id));
    hasher.updateSized(std::string_view(scene.shapes[body.shape].identity));
  }
  for (const SoftBodySpec& body : scene.softBodies) {
    hasher.updateSized(std::string_view(body.id));
    hasher.updateSized(std::string_view(scene.shapes[body.shape].identity));
    hasher.updateSized(std::string_view(cageWords(body.soft)));
  }
  hasher.update(uint64_t(scene.joints.size()));
  if (scene.fluid)
    for (const LiquidSpec& liquid : scene.fluid->liquids) hasher.updateSized(std::string_view(liquid.id));
  for (const PartBlock& block : scene.parts) hasher.updateSized(std::string_view(block.text));
  return hasher.digest();
}

}  // namespace sunder::world
