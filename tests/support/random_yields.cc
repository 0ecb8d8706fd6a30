// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_yields.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace ubt {
namespace {

std::atomic<unsigned long> yields{0};

#ifndef __SANITIZE_THREAD__
std::atomic<uint64_t> nextSeed{1};

// Yields or sleeps in one of four calls. During a sleep, other threads can get
// ahead.
void maybeYield() {
  thread_local uint64_t state = nextSeed++ * 0x9e3779b97f4a7c15;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % 4 != 0) {
    return;
  }
  yields++;
  if (state % 64 == 0) {
    const timespec moment{0, static_cast<long>(state / 64 % 100000)};
    nanosleep(&moment, nullptr);
  } else {
    sched_yield();
  }
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#endif

}  // namespace

unsigned long RandomYields::count() {
  return yields;
}

}  // namespace ubt

#ifndef __SANITIZE_THREAD__
extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto kLock = ubt::next<int (*)(pthread_mutex_t*)>(__func__);
  ubt::maybeYield();
  return kLock(mutex);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto kWait =
      ubt::next<int (*)(pthread_cond_t*, pthread_mutex_t*)>(__func__);
  ubt::maybeYield();
  const int status = kWait(condition, mutex);
  ubt::maybeYield();
  return status;
}

int pthread_cond_clockwait(pthread_cond_t* condition,
                           pthread_mutex_t* mutex,
                           clockid_t clock,
                           const timespec* until) {
  static const auto kWait = ubt::next<int (*)(
      pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(__func__);
  ubt::maybeYield();
  const int status = kWait(condition, mutex, clock, until);
  ubt::maybeYield();
  return status;
}

}  // extern "C"
#endif
