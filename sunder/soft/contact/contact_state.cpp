// What contacts remember from step to step, written, read and hashed.
#include "sunder/base/bytes.h"
#include "sunder/base/hash.h"
#include "sunder/soft/contact/sphere_contacts.h"

#include <tuple>

#include <fmt/format.h>

namespace sunder::soft {

void SphereContacts::save(ByteWriter& out) const {
  out.u32(static_cast<uint32_t>(kept_.size()));
  for (const Kept& kept : kept_) {
    out.u32(kept.sphere);
    out.u8(kept.obstacle);
    out.u64(kept.other);
    out.f64(kept.force);
    for (int k = 0; k < 3; ++k) out.f64(kept.friction[k]);
  }
}

void SphereContacts::load(ByteReader& in) {
  constexpr size_t kSize = 4 + 1 + 8 + 4 * 8;
  const uint32_t count = in.u32("number of contacts");
  in.need(count, kSize, "contacts");
  std::vector<Kept> read(count);
  for (uint32_t i = 0; i < count; ++i) {
    Kept& kept = read[i];
    kept.sphere = in.u32("sphere of a contact");
    const uint8_t kind = in.u8("kind of a contact");
    kept.obstacle = kind != 0;
    kept.other = in.u64("other side of a contact");
    kept.force = in.boundedF64("force of a contact");
    for (int k = 0; k < 3; ++k) kept.friction[k] = in.boundedF64("friction of a contact");
    if (kind > 1 || kept.sphere >= spheres_.size() || (kind == 0 && kept.other >= spheres_.size()))
      in.fail(fmt::format("contact {} is of spheres {} and {}, but there are {}", i, kept.sphere, kept.other,
                          spheres_.size()));
    if (!(kept.force > 0)) in.fail(fmt::format("contact {} has the force {}", i, kept.force));
    if (i > 0 && std::tie(read[i - 1].sphere, read[i - 1].obstacle, read[i - 1].other) >=
                     std::tie(kept.sphere, kept.obstacle, kept.other))
      in.fail(fmt::format("contact {} is out of order", i));
  }
  kept_ = std::move(read);
}

void SphereContacts::hash(Hasher& hasher) const {
  hasher.update(uint64_t(kept_.size()));
  for (const Kept& kept : kept_) {
    hasher.update(kept.sphere);
    hasher.update(uint8_t(kept.obstacle));
    hasher.update(kept.other);
    hasher.update(kept.force);
    hasher.update(kept.friction);
  }
}

}  // namespace sunder::soft
