// How a recording survives kills, full disks and lost power. It is written as a database writes its log: only
// appended to, with commits.
//
// Commit (CMIT). Follows every checkpoint, and the end of the run, in the same write; then the file is
// synced. It holds how many meshes, bodies, frames and so on come before it, and the
// running hash of all chunks before it (chainHash). A checkpoint counts as a place to resume from only
// together with its commit, and only where all before it is whole: what is committed and does not fit its
// commit is damage, which a reader names; what follows the last commit may be missing or torn without harm.
//
// Epoch (EPOC). Resuming changes no byte of the file. It appends an epoch, which says: what follows continues
// from the byte `continueAt`, where a commit ends. The chunks between that byte and the epoch are superseded:
// they stay in the file, and RunReader(path, offset of the epoch) reads the recording as it was before. A
// recording is thus the chunks before `continueAt` and those behind the epoch; epochs may follow each other,
// each continues the recording that the ones before it left.
//
//     |--- A: checkpoint, commit ---|--- B: frames ---| torn |EPOC|--- C: frames, checkpoint, commit ---|
//                                   ^ continueAt                     recording: A, EPOC, C
//
// An epoch that was cut off before its first commit and before it came as far as what it replaces does not
// count: the recording then still is A, B. So a resumed run that is killed at once, or finds the disk full,
// takes nothing away.
//
// Torn bytes. A kill in the middle of a write leaves a chunk whose head claims more bytes than follow; the
// epoch is appended behind them, within what the torn chunk claims. A reader that finds no head at the end of
// a chunk therefore searches for one from that chunk's payload on. This is certain because writers of epochs
// see to it, with padding, that no chunk begins where a torn one claims to end.
//
// Hostile files. `continueAt` must be the end of a chunk of the recording before the epoch; else the epoch is
// refused and named. Reading is linear in the size of the file whatever the epochs say.
#pragma once

#include "sunder/record/chunk.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sunder::record {

// What comes before a commit.
struct Counts {
  uint64_t frames = 0;
  uint32_t meshes = 0, bodies = 0, nameLists = 0;
  uint32_t materials = 0, changes = 0, embeddings = 0;  // changes: of meshes
  uint32_t inputs = 0, fronts = 0;                      // frames that have some
  bool operator==(const Counts&) const = default;
};

struct Commit {
  uint64_t offset = 0;  // of its own head
  uint64_t chain = 0;   // running hash of the chunks before it
  Counts counts;
  bool extended = true;  // false: by a program that counted neither materials nor what follows them
};

struct Epoch {
  uint64_t continueAt = 0;  // byte behind the commit it continues from
  uint64_t chain = 0;       // running hash there, the commit included
  uint32_t number = 0;      // the first is 1
};

// `counts` with those of `seen` that an earlier program did not write.
Counts withMore(Counts counts, const Counts& seen);

std::string encode(const Commit& commit);
std::string encode(const Epoch& epoch);
Commit decodeCommit(std::string_view payload, const std::string& file);
Epoch decodeEpoch(std::string_view payload, const std::string& file);

}  // namespace sunder::record
