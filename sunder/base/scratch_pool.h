// Working memory that threads borrow: objects that keep what they have grown to from one use to the next. A
// thread takes the object that was given back last, whose memory is still in the caches, or makes one where
// all are lent.
//
// There are as many objects as were ever lent at one time, at most one a thread where no thread borrows
// twice, and they are freed with the pool: what a large problem needed does not stay when the problem is
// gone, as it does in thread_local memory. What is in a borrowed object is unspecified; results may not
// depend on it.
//
// Cost: two locks a loan, some 40 ns where nobody waits. Borrow for a block of work, not for an element.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sunder {

template <class T>
class ScratchPool {
 public:
  // Gives the object back when it ends; must not outlive the pool.
  class Loan {
   public:
    explicit Loan(ScratchPool& pool) : pool_(pool), object_(pool.take()) {}
    ~Loan() { pool_.giveBack(std::move(object_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    ScratchPool& pool_;
    std::unique_ptr<T> object_;
  };

  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;
  ~ScratchPool() { assert(idle_.size() == made_); }  // nothing is lent any more

  size_t made() const {  // lent ones included
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  std::unique_ptr<T> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<T> object = std::move(idle_.back());
        idle_.pop_back();
        return object;
      }
      idle_.reserve(made_ + 1);  // so that giving back never asks for memory
      ++made_;
    }
    try {
      return std::make_unique<T>();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      --made_;
      throw;
    }
  }
  void giveBack(std::unique_ptr<T> object) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(object));
  }

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
  size_t made_ = 0;
};

}  // namespace sunder
