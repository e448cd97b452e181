#include "sunder/world/part/ledger.h"

#include "sunder/base/bytes.h"

namespace sunder::world {

void Ledger::add(std::string_view what, uint64_t count, uint64_t frame, std::string_view example) {
  if (count == 0) return;
  for (Degradation& d : entries_) {
    if (d.what != what) continue;
    d.count += count;
    return;
  }
  entries_.push_back({std::string(what), count, frame, std::string(example)});
}

void Ledger::save(ByteWriter& out) const {
  out.u32(static_cast<uint32_t>(entries_.size()));
  for (const Degradation& d : entries_) {
    out.u32(static_cast<uint32_t>(d.what.size()));
    out.string(d.what);
    out.u64(d.count);
    out.u64(d.firstFrame);
    out.u32(static_cast<uint32_t>(d.example.size()));
    out.string(d.example);
  }
}

void Ledger::load(ByteReader& in) {
  const uint32_t count = in.u32("number of degradations");
  in.need(count, 24, "degradations");
  std::vector<Degradation> entries(count);
  for (Degradation& d : entries) {
    d.what = in.string(in.u32("length"), "degradation");
    d.count = in.u64("degradation");
    d.firstFrame = in.u64("degradation");
    d.example = in.string(in.u32("length"), "degradation");
  }
  entries_ = std::move(entries);
}

}  // namespace sunder::world
