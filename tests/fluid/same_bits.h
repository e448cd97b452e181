// A fluid is the same for any number of threads, and after resuming in the middle.
#pragma once

#include "sunder/base/bytes.h"
#include "sunder/base/parallel.h"
#include "sunder/fluid/solver/fluid.h"

#include <span>
#include <string>

#include <gtest/gtest.h>

namespace sunder::fluid {

// `make` gives the fluid at its start; `saved` is the step before which it is saved.
template <class Make>
void expectSameBits(const Make& make, int steps, int saved) {
  std::string middle;
  const auto run = [&](unsigned threads) {
    const ThreadLimit limit(threads);
    Fluid fluid = make();
    for (int k = 0; k < steps; ++k) {
      if (k == saved) {
        middle.clear();
        ByteWriter writer(middle);
        fluid.save(writer);
      }
      fluid.step(2e-3);
    }
    return fluid.hash();
  };
  const uint64_t hash = run(1);
  EXPECT_EQ(run(2), hash);
  EXPECT_EQ(run(4), hash);
  Fluid resumed = make();
  ByteReader reader(std::as_bytes(std::span(middle.data(), middle.size())), "state");
  resumed.load(reader);
  for (int k = saved; k < steps; ++k) resumed.step(2e-3);
  EXPECT_EQ(resumed.hash(), hash);
}

}  // namespace sunder::fluid
