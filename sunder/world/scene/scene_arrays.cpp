#include "sunder/world/scene/scene_arrays.h"

#include "sunder/base/hash.h"
#include "sunder/base/random.h"
#include "sunder/shapes/text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

namespace {

using rigid::Pose;

constexpr std::array<std::string_view, 6> kPatterns{"grid", "ring", "spiral", "stack", "fill", "letters"};

Quat aboutY(double angle) { return Quat(Eigen::AngleAxisd(angle, Vec3::UnitY())); }

// Cells of a block, x fastest, then z, then y.
using Cells = std::array<uint64_t, 3>;

// At most `most` cells at the corner of a block: as many along each side, where the sides are so long.
Cells cornerBlock(const Cells& cells, uint64_t most) {
  const auto part = [&](uint64_t longest) {
    return Cells{std::min(cells[0], longest), std::min(cells[1], longest), std::min(cells[2], longest)};
  };
  uint64_t low = 1, high = *std::max_element(cells.begin(), cells.end());
  while (low < high) {
    const uint64_t middle = high - (high - low) / 2;
    const Cells tried = part(middle);
    const bool fits = double(tried[0]) * double(tried[1]) * double(tried[2]) <= double(most);
    (fits ? low : high) = fits ? middle : middle - 1;
  }
  return part(low);
}

// Calls visit(index, x, y, z) for the cells of a corner block, ascending; indices end at `count`.
template <class Visit>
void visitCells(const Cells& cells, uint64_t count, uint64_t most, Visit visit) {
  const Cells part = cornerBlock(cells, most);
  for (uint64_t y = 0; y < part[1]; ++y)
    for (uint64_t z = 0; z < part[2]; ++z)
      for (uint64_t x = 0; x < part[0]; ++x) {
        const uint64_t index = x + cells[0] * (z + cells[2] * y);
        if (index < count) visit(index, double(x), double(y), double(z));
      }
}

std::vector<ArrayItem> grid(const SceneNode& node, uint64_t most) {
  Cells count{};
  for (size_t k = 0; k < 3; ++k) count[k] = node["count"][k].whole();
  const double all = double(count[0]) * double(count[1]) * double(count[2]);
  if (all > 1e7) node.fail("more than 10 million bodies");
  const Vec3 spacing = node["spacing"].vector(kLength);
  std::vector<ArrayItem> items;
  visitCells(count, uint64_t(all), most, [&](uint64_t index, double x, double y, double z) {
    const Vec3 at(x - 0.5 * static_cast<double>(count[0] - 1), y,
                  z - 0.5 * static_cast<double>(count[2] - 1));
    items.push_back({{at.cwiseProduct(spacing), Quat::Identity()}, index});
  });
  return items;
}

std::vector<ArrayItem> ring(const SceneNode& node, uint64_t most) {
  const uint64_t count = node["count"].whole();
  const double radius = node["radius"].positive(kLength);
  std::vector<ArrayItem> items;
  for (uint64_t i = 0; i < std::min(count, most); ++i) {
    const double angle = 2 * kPi * static_cast<double>(i) / static_cast<double>(count);
    items.push_back({{Vec3(radius * std::cos(angle), 0, radius * std::sin(angle)), aboutY(-angle)}, i});
  }
  return items;
}

std::vector<ArrayItem> spiral(const SceneNode& node, uint64_t most) {
  const uint64_t count = node["count"].whole();
  const double radius = node["radius"].positive(kLength), growth = node.quantity("growth", kLength, 0),
               rise = node.quantity("rise", kLength, 0), spacing = node["spacing"].positive(kLength);
  std::vector<ArrayItem> items;
  double angle = 0;
  for (uint64_t i = 0; i < std::min(count, most); ++i) {
    const double r = radius + growth * angle / (2 * kPi);
    if (!(r > 0))
      node.fail(fmt::format("reaches its centre after {} bodies", i), "fewer bodies, or less growth");
    items.push_back(
        {{Vec3(r * std::cos(angle), rise * angle / (2 * kPi), r * std::sin(angle)), aboutY(-angle)}, i});
    angle += spacing / std::sqrt(r * r + growth * growth / (4 * kPi * kPi));
  }
  return items;
}

std::vector<ArrayItem> stack(const SceneNode& node, uint64_t most) {
  const uint64_t count = node["count"].whole();
  const double height = node["height"].positive(kLength), turn = node.quantity("turn", kAngle, 0);
  std::vector<ArrayItem> items;
  for (uint64_t i = 0; i < std::min(count, most); ++i)
    items.push_back(
        {{Vec3(0, height * static_cast<double>(i), 0), aboutY(turn * static_cast<double>(i))}, i});
  return items;
}

// Layers of a square lattice, every second one shifted by half a cell.
std::vector<ArrayItem> fill(const SceneNode& node, uint64_t most) {
  const uint64_t count = node["count"].whole();
  const double spacing = node["spacing"].positive(kLength);
  const Vec3 lower = node["box"]["lower"].vector(kLength), upper = node["box"]["upper"].vector(kLength);
  const Vec3 extent = upper - lower;
  if (!(extent.minCoeff() > 0)) node["box"].fail("the upper corner must be above the lower one");
  Cells cells{};
  for (int k = 0; k < 3; ++k) {
    const double n = std::floor(extent[k] / spacing);
    if (n > 1e6) node["spacing"].fail("is too small for the box");
    cells[static_cast<size_t>(k)] = static_cast<uint64_t>(n);
  }
  if (cells[0] * cells[1] * cells[2] < count)
    node.fail(fmt::format("the box has room for {} bodies at this spacing, {} are wanted",
                          cells[0] * cells[1] * cells[2], count),
              "a higher box or a smaller spacing");
  if (count == 0) return {};
  const Cells filled{cells[0], (count - 1) / (cells[0] * cells[2]) + 1, cells[2]};
  std::vector<ArrayItem> items;
  visitCells(filled, count, most, [&](uint64_t index, double x, double y, double z) {
    Vec3 at = Vec3(x, y, z) * spacing;
    at += Vec3::Constant(spacing / 2);
    for (const int k : {0, 2})
      at[k] += 0.5 * (extent[k] - spacing * static_cast<double>(cells[static_cast<size_t>(k)]));
    items.push_back({{lower + at, Quat::Identity()}, index});
  });
  return items;
}

std::vector<ArrayItem> text(const SceneNode& node, LetterSettings& letters, uint64_t most) {
  letters.text = node["text"].text();
  letters.height = node.positive("height", kLength, 0.3);
  letters.depth = node.positive("depth", kLength, 0.25 * letters.height);
  const double gap = node.notNegative("gap", kLength, 0.14 * letters.height), unit = letters.height / 15;
  std::vector<ArrayItem> items;
  double x = 0;
  for (const char c : letters.text) {
    double width = 0;
    try {
      width = shapes::glyph(c).width * unit;
    } catch (const Error& error) {
      node["text"].rethrow(error);
    }
    if (c != ' ' && letters.count++ < most)
      items.push_back({{Vec3(x + width / 2, 0, 0), Quat::Identity()}, items.size(), c});
    x += width + gap;
  }
  for (ArrayItem& item : items) item.pose.position.x() -= (x - gap) / 2;
  if (items.empty()) node["text"].fail("has no letters");
  return items;
}

Quat randomTurn(RandomStream& random) {
  Vec4 c;
  do {
    for (int k = 0; k < 4; ++k) c[k] = random.uniform(-1, 1);
  } while (!(c.squaredNorm() > 1e-3 && c.squaredNorm() <= 1));
  Quat q;
  q.coeffs() = c.normalized();
  return q;
}

}  // namespace

double arrayCount(const SceneNode& array, std::string* name) {
  const std::string pattern = array.oneOf(kPatterns);
  if (name) *name = pattern;
  const SceneNode node = array[pattern.c_str()];
  if (pattern == "letters") return static_cast<double>(node["text"].text().size());
  if (pattern != "grid") return static_cast<double>(node["count"].whole());
  double count = 1;
  for (size_t k = 0; k < 3; ++k) count *= static_cast<double>(node["count"][k].whole());
  return count;
}

std::vector<ArrayItem> arrayItems(const SceneNode& array, uint64_t seed, LetterSettings& letters,
                                  uint64_t most) {
  const std::string pattern = array.oneOf(kPatterns);
  const SceneNode node = array[pattern.c_str()];
  std::vector<ArrayItem> items = pattern == "letters"  ? text(node, letters, most)
                                 : pattern == "grid"   ? grid(node, most)
                                 : pattern == "ring"   ? ring(node, most)
                                 : pattern == "spiral" ? spiral(node, most)
                                 : pattern == "stack"  ? stack(node, most)
                                                       : fill(node, most);
  const Pose frame{array.vector("position", kLength, Vec3::Zero()), array.rotation("rotation")};
  const std::string id = array["id"].text();
  const uint64_t streams = hash64(std::string_view(id), seed);
  const bool turned = array.flag("turned", false);
  Vec3 shift = Vec3::Zero();
  double angle = 0;
  if (array.has("jitter")) {
    shift = array["jitter"].vector("position", kLength, Vec3::Zero());
    angle = array["jitter"].notNegative("angle", kAngle, 0);
  }
  for (ArrayItem& item : items) {
    RandomStream random(streams, item.index);
    Pose& pose = item.pose;
    if (turned) pose.rotation = randomTurn(random);
    if (shift != Vec3::Zero())
      for (int k = 0; k < 3; ++k) pose.position[k] += random.uniform(-shift[k], shift[k]);
    if (angle > 0) {
      const Vec3 axis = random.unitVector();
      pose.rotation = Quat(Eigen::AngleAxisd(random.uniform(-angle, angle), axis)) * pose.rotation;
    }
    pose = frame * pose;
    pose.rotation.normalize();
  }
  return items;
}

}  // namespace sunder::world
