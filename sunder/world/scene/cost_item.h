// What a part of a scene takes, and which number of the scene to change where that is too much: so that a
// scene that does not fit the memory is refused with that number, before the memory is taken. Reading refuses
// arrays of too many bodies so, build/cost.h everything else.
#pragma once

#include "sunder/world/scene/scene.h"
#include "sunder/world/scene/scene_node.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sunder::world {

inline constexpr double kProcessBytes =
    19e6;                                    // the program, its libraries and threads, before it has a scene
inline constexpr double kBytesABody = 4000;  // in the scene, the simulation and the recording

// Of a body with the pairs it makes in a run of that length, once bodies have come together.
double bytesABody(const WorldSettings& world);

// A number of the scene that an item follows from, and how to make the item cheaper by changing it.
// `scale` is 1 for the scene as it is and grows the cheaper the item gets.
struct CostLever {
  std::string pointer;                             // of the number in the document
  std::function<std::string(double scale)> value;  // the number, as one would write it
  std::function<double(double scale)> bytes;       // that the item takes
};

struct CostItem {
  enum class Kind { Other, Pairs, Length };  // Pairs: of bodies in one place. Length: of the run, in frames
  Kind kind = Kind::Other;
  std::string what;  // "81920 particles of water"
  double count = 0;
  double kept = 0;     // bytes, while the run lasts; where bodies may break: if they do
  double passing = 0;  // bytes more while it is built
  // Of `kept`, what breaking takes beyond what the forecast of build/cost_impacts.h expects, and all that it
  // takes.
  double unlikely = 0, byBreaking = 0;
  double buildSeconds = 0;
  std::string impossible;         // why it cannot be, whatever the memory; empty: it can
  std::vector<CostLever> levers;  // the one to name first
};

// All that one number is to blame for.
struct Blame {
  std::string pointer;
  double besides = 0;  // what everything else takes
  std::vector<const CostLever*> levers;
  const CostItem* largest = nullptr;
  const CostLever* named = nullptr;  // of the largest item: says the value
  std::optional<double> scale = {};  // at which the scene fits

  double bytesAt(double at) const;
};

// Throws Error (Limit) at the number that is named first: one that alone can make the scene fit, where there
// is such. `unbroken`: what of the total is taken if nothing breaks.
[[noreturn]] void refuse(const SceneDocument& document, std::vector<Blame> blames, double total,
                         double unbroken, uint64_t memory);

// Refuses one item that does not fit, `besides` being what everything else takes.
[[noreturn]] void refuseItem(const SceneDocument& document, const CostItem& item, double besides,
                             uint64_t memory);

// The count of an array: what its bodies take follows from it.
CostLever countLever(const SceneNode& array, double bytesEach);

// What the box of a "fill" measures.
Vec3 boxOfFill(const SceneNode& array);

// 3 significant digits above a million, else all: "7812500", "2.1e+10".
std::string countWords(double count);

}  // namespace sunder::world
