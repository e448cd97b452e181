#include "sunder/world/world.h"

#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/parts/part_list.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

World::World(Scene scene, const Progress& progress)
    : scene_(readyScene(std::move(scene))), shapes_([&] {
        const ProfileScope scope("build");
        const size_t count = scene_.shapes.size();
        return buildShapes(scene_, [&](size_t i, const std::string& name) {
          if (progress) progress(i, count, name);
        });
      }()) {
  const ProfileScope scope("build");
  for (size_t i = 0; i < shapes_.size(); ++i)
    if (!shapes_[i].problems.empty())
      ledger_.add("meshes with defects", 1, 0,
                  fmt::format("{}: {}", shapeTitle(scene_.shapes[i]), shapes_[i].problems.front()));
  parts_ = buildParts(scene_, shapes_, ledger_);
  for (const auto& part : parts_)
    if (part->meetsSolids()) exchange_.want();
  for (uint32_t p = 0; p < parts_.size(); ++p) {
    StepContext context = contextOf(p, 0, 0);
    parts_[p]->start(context);
  }
  startTable_ = table_;
}

World::~World() = default;

StepContext World::contextOf(uint32_t part, uint64_t step, uint64_t frame) {
  return {step,
          frame,
          scene_.world.simulation.timeStep,
          OwnBodies(table_, part),
          exchange_,
          ledger_,
          events_,
          meshChanges_,
          changes_};
}

void World::noteOverlaps() {
  for (const auto& part : parts_) part->inspect(ledger_, frame_);
}

void World::input(Input input) {
  if (input.step < step())
    throw Error(ErrorKind::Usage,
                fmt::format("an input for step {}, but the world is at step {}", input.step, step()));
  const auto part =
      std::find_if(parts_.begin(), parts_.end(), [&](const auto& p) { return p->name() == input.part; });
  if (part == parts_.end())
    throw Error(ErrorKind::Usage,
                fmt::format("an input for the part \"{}\", which the scene has not", input.part));
  (*part)->accept(input, contextOf(static_cast<uint32_t>(part - parts_.begin()), step(), frame_));
  const auto behind = std::upper_bound(inputs_.begin(), inputs_.end(), input.step,
                                       [](uint64_t step, const Input& i) { return step < i.step; });
  inputs_.insert(behind, std::move(input));
}

void World::advance() {
  events_.clear();
  meshChanges_.clear();
  applied_.clear();
  const uint64_t first = step();
  Work work(fmt::format("frame {}", frame_ + 1), scene_.world.stepsPerFrame, "steps");
  try {
    for (uint32_t i = 0; i < scene_.world.stepsPerFrame; ++i) {
      makeStep(first + i);
      work.step();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Limit || error.kind() == ErrorKind::Usage) throw;
    std::string message = fmt::format("frame {}: {}", frame_ + 1, error.message());
    std::string hint = error.hint();
    // What the step relies on refused a number of its own making: somebody has left every sensible place.
    if (error.kind() != ErrorKind::Numerical) {
      for (const auto& part : parts_) message += part->suspect();
      hint = "look for extreme forces and speeds; \"bounds\" of the world removes what flies away";
    }
    throw Error(ErrorKind::Numerical, message).hint(hint);
  }
  for (uint32_t p = 0; p < parts_.size(); ++p) {
    StepContext context = contextOf(p, first + scene_.world.stepsPerFrame - 1, frame_ + 1);
    parts_[p]->endFrame(context);
  }
  tellChanges(first + scene_.world.stepsPerFrame - 1);
  ++frame_;
}

void World::makeStep(uint64_t step) {
  const auto contextAt = [&](uint32_t part) { return contextOf(part, step, frame_ + 1); };
  while (!inputs_.empty() && inputs_.front().step <= step) {
    Input input = std::move(inputs_.front());
    input.sequence = nextInput_++;
    inputs_.pop_front();
    for (uint32_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p]->name() != input.part) continue;
      StepContext context = contextAt(p);
      parts_[p]->apply(input, context);
    }
    applied_.push_back(std::move(input));
  }
  exchange_.clearContacts();
  for (uint32_t p = 0; p < parts_.size(); ++p) {
    StepContext context = contextAt(p);
    parts_[p]->begin(context);
  }
  for (uint32_t p = 0; p < parts_.size(); ++p) {
    StepContext context = contextAt(p);
    parts_[p]->touch(context);
  }
  for (const Stage stage : {Stage::Deforming, Stage::Solids, Stage::Touching, Stage::Flowing}) {
    for (uint32_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p]->stage() != stage) continue;
      StepContext context = contextAt(p);
      parts_[p]->step(context);
    }
    for (uint32_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p]->stage() != stage) continue;
      StepContext context = contextAt(p);
      parts_[p]->change(context);
      tellChanges(step);
    }
  }
}

void World::tellChanges(uint64_t step) {
  std::vector<BodyChange> told;
  std::swap(told, changes_);
  for (const BodyChange& change : told)
    for (uint32_t p = 0; p < parts_.size(); ++p) {
      StepContext context = contextOf(p, step, frame_ + 1);
      parts_[p]->follow(change, context);
    }
}

Totals World::totals() const {
  Totals totals;
  for (const auto& part : parts_) part->addTotals(totals);
  return totals;
}

record::MeshEntry World::mesh(uint32_t index) {
  const MeshRow& row = table_.mesh(index);
  return parts_[row.part]->mesh(row.local, ledger_);
}

std::optional<record::Embedding> World::embedding(uint32_t mesh) const {
  const MeshRow& row = table_.mesh(mesh);
  return parts_[row.part]->embedding(row.local);
}

record::BodyEntry World::body(uint32_t index) const {
  const BodyRow& row = table_[index];
  record::BodyEntry body = parts_[row.part]->body(row.local);
  body.parent = row.parent;
  body.born = row.born;
  body.mesh = row.mesh;
  return body;
}

std::vector<record::MeshEntry> World::meshes() {
  std::vector<record::MeshEntry> out;
  for (uint32_t i = 0; i < meshCount(); ++i) out.push_back(mesh(i));
  return out;
}

std::vector<record::BodyEntry> World::bodies() const {
  std::vector<record::BodyEntry> out;
  for (uint32_t i = 0; i < bodyCount(); ++i) out.push_back(body(i));
  return out;
}

std::vector<record::BodyState> World::states() const {
  std::vector<record::BodyState> out(table_.size());
  for (uint32_t p = 0; p < parts_.size(); ++p) parts_[p]->states(PartBodies(table_, p), out);
  return out;
}

std::vector<record::BodyField> World::fields() const {
  std::vector<record::BodyField> out;
  for (uint32_t p = 0; p < parts_.size(); ++p) parts_[p]->fields(PartBodies(table_, p), out);
  return out;
}

std::vector<record::BodyPoints> World::points() const {
  std::vector<record::BodyPoints> out;
  for (uint32_t p = 0; p < parts_.size(); ++p) parts_[p]->points(PartBodies(table_, p), out);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.body < b.body; });
  return out;
}

std::vector<record::Statistic> World::statistics() const {
  std::vector<record::Statistic> out;
  for (const auto& part : parts_) part->statistics(out);
  out.push_back({"events", static_cast<double>(events_.size())});
  return out;
}

std::string World::resolvedScene() const {
  Json json = parseJson(scene_.resolvedText(), "scene");
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].fileHash.empty() || scene_.shapes[i].written.empty()) continue;
    // Every place that describes this file: equal descriptions are one shape.
    const Json spec = readJson(scene_.shapes[i].written);
    const std::function<void(Json&)> visit = [&](Json& node) {
      if (node.contains("file")) {
        Json bare = node;
        bare.erase("hash");
        if (bare == spec) node["hash"] = shapes_[i].fileHash;
        return;
      }
      if (node.isArray())
        for (Json& child : node) visit(child);
      if (node.isObject())
        for (const auto& [key, child] : node.members()) visit(node[key]);
    };
    for (const char* key : {"shapes", "bodies", "arrays"})
      if (json.contains(key)) visit(json[key]);
  }
  return json.text({.indent = 1}) + "\n";
}

}  // namespace sunder::world
