#include "sunder/base/scratch_pool.h"

#include "sunder/base/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {
namespace {

std::atomic<int> alive{0};
struct Buffer {
  std::vector<int> numbers;
  std::atomic<bool> inUse{false};
  Buffer() { ++alive; }
  ~Buffer() { --alive; }
};
using BufferPool = ScratchPool<Buffer>;

TEST(ScratchPool, WhatWasGivenBackLastIsLentNextWithItsMemory) {
  BufferPool pool;
  Buffer *first, *second;
  {
    const BufferPool::Loan a(pool), b(pool);
    first = &*a;
    second = &*b;
    EXPECT_NE(first, second);
    a->numbers.resize(1000);
  }  // b goes first
  EXPECT_EQ(pool.made(), 2u);
  const BufferPool::Loan a(pool), b(pool);
  EXPECT_EQ(&*a, first);
  EXPECT_EQ(&*b, second);
  EXPECT_GE(a->numbers.capacity(), 1000u);
  EXPECT_EQ(pool.made(), 2u);
}

TEST(ScratchPool, HoldsNoMoreThanWereLentAtOnceAndFreesThemAll) {
  const int before = alive;
  {
    BufferPool pool;
    for (int round = 0; round < 100; ++round) {
      const BufferPool::Loan one(pool);
      const BufferPool::Loan two(pool);
    }
    EXPECT_EQ(pool.made(), 2u);
    EXPECT_EQ(alive - before, 2);
  }
  EXPECT_EQ(alive, before);
}

TEST(ScratchPool, ThreadsNeverShareAnObject) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    BufferPool pool;
    std::atomic<int> shared{0};
    parallelFor(
        2000,
        [&](size_t i) {
          const BufferPool::Loan loan(pool);
          if (loan->inUse.exchange(true)) ++shared;
          loan->numbers.assign(1 + i % 50, int(i));
          for (const int n : loan->numbers) shared += n != int(i);
          loan->inUse = false;
        },
        1);
    EXPECT_EQ(shared, 0);
    EXPECT_LE(pool.made(), threads);
  }
}

struct Refusing {
  static inline bool refuse = true;
  Refusing() {
    if (refuse) throw std::runtime_error("no memory");
  }
};

TEST(ScratchPool, AnObjectThatCannotBeMadeIsNotCounted) {
  ScratchPool<Refusing> pool;
  EXPECT_THROW(ScratchPool<Refusing>::Loan{pool}, std::runtime_error);
  EXPECT_EQ(pool.made(), 0u);
  Refusing::refuse = false;
  const ScratchPool<Refusing>::Loan loan(pool);
  EXPECT_EQ(pool.made(), 1u);
}

}  // namespace
}  // namespace sunder
