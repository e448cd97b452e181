#include "sunder/world/part/part.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"

#include <cmath>
#include <string>

#include <fmt/core.h>

namespace sunder::world {

void Part::accept(const Input& input, const StepContext&) const {
  throw Error(ErrorKind::Usage, fmt::format("the part \"{}\" knows no input \"{}\"", name(), input.what));
}

record::MeshEntry Part::mesh(uint32_t, Ledger&) { return {}; }

void Part::hash(Hasher& hasher) const {
  std::string bytes;
  ByteWriter out(bytes);
  save(out);
  hasher.updateSized(std::string_view(bytes));
}

void requireImpulse(const Input& input, const StepContext& context, const char* matter) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::Usage, message); };
  if (input.body == kNoIndex) refuse("an impulse needs a body");
  if (input.body >= context.bodies.all().size() || !context.bodies.mine(input.body))
    refuse(fmt::format("an impulse on body {}, which is not {}", input.body, matter));
  if (input.values.size() != 3 && input.values.size() != 6)
    refuse("an impulse has 3 numbers, or 6 with the place where it acts");
  for (const double value : input.values)
    if (!(std::abs(value) <= kMostInState))
      refuse(fmt::format("an impulse has the number {}; at most {} is possible", value, kMostInState));
}

}  // namespace sunder::world
