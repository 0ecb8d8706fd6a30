// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_heap.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace ubt {
namespace {

constexpr int64_t kNever = INT64_MAX;

std::atomic<int64_t> left{kNever};  // allocations before the one that fails
std::atomic<bool> fails{false};     // whether all later ones fail, too
std::atomic<uint64_t> failed{0};
std::atomic<size_t> held{0};
thread_local int scopes = 0;

bool fail() {
  if (scopes == 0) {
    return false;
  }
  const int64_t before = left.load() == kNever ? kNever : left--;
  if (before > 0 || (before < 0 && !fails)) {
    return false;
  }
  failed++;
  return true;
}

}  // namespace

void FailingHeap::failAfter(uint64_t before, bool allAfter) {
  failed = 0;
  fails = allAfter;
  left = static_cast<int64_t>(before);
}

void FailingHeap::heal() {
  left = kNever;
}

uint64_t FailingHeap::failures() {
  return failed;
}

size_t FailingHeap::heldBytes() {
  return held;
}

FailingHeap::Scope::Scope() {
  scopes++;
}

FailingHeap::Scope::~Scope() {
  scopes--;
}

}  // namespace ubt

void* operator new(size_t bytes) {
  void* const memory = ubt::fail() ? nullptr : std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  ubt::held += malloc_usable_size(memory);
  return memory;
}

void operator delete(void* memory) noexcept {
  ubt::held -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  operator delete(memory);
}
