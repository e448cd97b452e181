// Where the liquids of a scene come from: blocks, bodies that are filled, emitters.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/stop.h"
#include "sunder/fluid/fill.h"
#include "sunder/world/parts/liquids.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::world {

namespace {

// Of the density that a wall adds: particles of a block that have more are in it.
constexpr double kBuried = 0.75;
constexpr double kNozzle = 2;        // diameters that particles of an emitter are led
constexpr double kPoured = 0.5;      // liquid that is poured comes no nearer
constexpr double kLeastBytes = 300;  // of a particle, without neighbours
constexpr double kAboveRim = 4;      // diameters above a body at which what is poured surely runs over

// Where the particles of a layer are, across the jet and up.
std::vector<Vec2> nozzle(const EmitterSpec& emitter, double spacing) {
  std::vector<Vec2> places;
  if (emitter.radius > 0) {
    const int reach = int(emitter.radius / spacing);
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j)
        if (spacing * std::hypot(i, j) <= emitter.radius) places.emplace_back(spacing * i, spacing * j);
    return places;
  }
  const auto count = [&](double length) { return std::max(1, int(length / spacing + 1e-6)); };
  const int columns = count(emitter.width), rows = count(emitter.height);
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < rows; ++j)
      places.emplace_back(spacing * (i - 0.5 * (columns - 1)), spacing * (j - 0.5 * (rows - 1)));
  return places;
}

bool inNozzle(const EmitterSpec& emitter, const Vec3& way, double margin) {
  const double across = way.dot(emitter.across), up = way.dot(emitter.up);
  if (emitter.radius > 0) return std::hypot(across, up) <= emitter.radius + margin;
  return std::abs(across) <= 0.5 * emitter.width + margin && std::abs(up) <= 0.5 * emitter.height + margin;
}

}  // namespace

// Into a body, up to a level.
std::vector<Vec3> Liquids::poured(const BlockSpec& block, const Exchange& exchange) const {
  const double spacing = 2 * scene_.fluid->settings.radius;
  const auto findSolid = [&](std::span<const Vec3> points, std::span<uint8_t> solid) {
    findBuried(points, kPoured, solid);
  };
  Box3 box = exchange.solid(*block.container).bounds();
  if (!box.lower.allFinite() || !box.upper.allFinite())
    throw Error(ErrorKind::Geometry, "nothing can be poured into a body without end");
  Vec3 from = box.center();
  from.y() = box.upper.y();
  // A level far above the body fills it, or runs over; places up there would only take memory.
  if (block.level) box.upper.y() = std::min(*block.level, box.upper.y() + kAboveRim * spacing);
  if (box.empty()) throw Error(ErrorKind::Geometry, "the level is below the body");
  if (block.from) return fluid::pour(box, spacing, *block.from, findSolid);
  // Down from the middle of the top, as far as it goes.
  std::vector<Vec3> way;
  for (double y = from.y(); y > box.lower.y(); y -= 0.5 * spacing) way.emplace_back(from.x(), y, from.z());
  std::vector<uint8_t> solid(way.size());
  findSolid(way, solid);
  size_t end = 0;
  while (end < way.size() && solid[end] == 0) ++end;
  if (end < 3 || way[end - 1].y() > box.upper.y())
    throw Error(ErrorKind::Geometry, "nothing can be poured in from above the middle of the body")
        .hint("say where its inside is by a point (\"from\")");
  return fluid::pour(box, spacing, way[end - 2], findSolid);
}

void Liquids::fill(const Exchange& exchange) {
  const double spacing = 2 * scene_.fluid->settings.radius;
  for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l)
    for (const BlockSpec& block : scene_.fluid->liquids[l].blocks) {
      std::vector<Vec3> points;
      try {
        if (block.container) {
          points = poured(block, exchange);
        } else if (!block.field) {
          points = fluid::fillBox(block.box, spacing);
        } else {
          points = fluid::fillField(*block.field, block.box, spacing, 0.5 * spacing, false);
        }
      } catch (const Error& error) {
        throw scene_.document.error(block.pointer, error.message()).hint(error.hint());
      }
      std::vector<uint8_t> buried(points.size());
      findBuried(points, kBuried, buried);
      size_t kept = 0;
      for (size_t i = 0; i < points.size(); ++i)
        if (buried[i] == 0) points[kept++] = points[i];
      report_.buried += points.size() - kept;
      points.resize(kept);
      fluid_->add(points, block.velocity, l);
    }
}

// The estimate of the run's cost has refused most scenes that come here.
void Liquids::requireRoom(size_t more, const std::string& pointer) const {
  const double particles = double(fluid_->size()) + double(more);
  if (particles * kLeastBytes <= double(memoryLimit())) return;
  throw scene_.document
      .error(pointer,
             fmt::format("lets in more than the {:.3g} particles that the memory holds",
                         double(memoryLimit()) / kLeastBytes),
             ErrorKind::Limit)
      .hint("give it a lower speed, or an end (\"until\")");
}

// Layers of particles, each a diameter behind the one before.
void Liquids::emit(double time) {
  const double spacing = 2 * scene_.fluid->settings.radius;
  for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l) {
    const std::vector<EmitterSpec>& emitters = scene_.fluid->liquids[l].emitters;
    for (size_t e = 0; e < emitters.size(); ++e) {
      const EmitterSpec& emitter = emitters[e];
      const double interval = spacing / emitter.speed;
      while (true) {
        const double due = emitter.from + double(emitted_[l][e]) * interval;
        if (due > time || due >= emitter.until) break;
        ++emitted_[l][e];
        checkStop();
        const Vec3 centre = emitter.position + (time - due) * emitter.speed * emitter.direction;
        std::vector<Vec3> layer;
        for (const Vec2& place : nozzle(emitter, spacing))
          layer.push_back(centre + place.x() * emitter.across + place.y() * emitter.up);
        requireRoom(layer.size(), fmt::format("{}/emitters/{}", scene_.fluid->liquids[l].pointer, e));
        fluid_->add(layer, emitter.speed * emitter.direction, l);
      }
    }
  }
}

void Liquids::checkEmitted(const ByteReader& in, double time) const {
  const double spacing = 2 * scene_.fluid->settings.radius;
  for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l)
    for (size_t e = 0; e < emitted_[l].size(); ++e) {
      const EmitterSpec& emitter = scene_.fluid->liquids[l].emitters[e];
      const double lasts = std::min(time, emitter.until) - emitter.from;
      const double due = lasts < 0 ? 0 : std::floor(lasts * emitter.speed / spacing) + 1;
      // One more or less, where a layer is due in this moment.
      if (!(std::abs(double(emitted_[l][e]) - due) <= 1))
        in.fail(fmt::format("an emitter has emitted {} layers, not {}", emitted_[l][e], due));
    }
}

// Layers leave their emitter at its speed, whatever presses on them: left to themselves they would be pressed
// back to where the next ones come in.
void Liquids::drive(double time) {
  const double length = kNozzle * 2 * scene_.fluid->settings.radius;
  for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l)
    for (const EmitterSpec& emitter : scene_.fluid->liquids[l].emitters) {
      if (time < emitter.from || time > emitter.until + length / emitter.speed) continue;
      for (size_t i = 0; i < fluid_->size(); ++i) {
        const Vec3 way = fluid_->positions()[i] - emitter.position;
        const double along = way.dot(emitter.direction);
        if (along < -length || along > length || fluid_->phases()[i] != l) continue;
        if (inNozzle(emitter, way, 0.5 * length)) fluid_->setVelocity(i, emitter.speed * emitter.direction);
      }
    }
}

}  // namespace sunder::world
