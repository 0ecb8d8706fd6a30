// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ubt {

// Makes allocations fail. A program that links this has another operator new.
// Thread-safe.
class FailingHeap {
 public:
  // The allocation after `before` more of them, where one may fail, throws
  // std::bad_alloc; if `allAfter`, so does every later one.
  static void failAfter(uint64_t before, bool allAfter = false);
  // No further one fails.
  static void heal();
  // Whether one has failed since failAfter().
  static bool failed();
  // What is allocated now. Bytes.
  static size_t heldBytes();

  // In its lifetime, in the thread that made it, allocations count and may
  // fail. Elsewhere they do neither.
  class Scope {
   public:
    Scope();
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
};

}  // namespace ubt
