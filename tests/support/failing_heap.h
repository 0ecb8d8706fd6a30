// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ubt {

// Makes allocations fail. It replaces operator new of the program that links
// it. Thread-safe.
class FailingHeap {
 public:
  // Lets `before` more allocations succeed. The next one throws std::bad_alloc,
  // and so do all later ones if `allAfter`. Only allocations in a Scope count.
  static void failAfter(uint64_t before, bool allAfter = false);
  // No allocation fails from now on.
  static void heal();
  // The number of allocations that have failed since failAfter().
  static uint64_t failures();
  // Bytes that are allocated now.
  static size_t heldBytes();

  // While a Scope exists, allocations of the thread that made it count and may
  // fail. Other allocations do neither.
  class Scope {
   public:
    Scope();
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
};

}  // namespace ubt
