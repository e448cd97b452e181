#include "sunder/world/part/part.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"

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

}  // namespace sunder::world
