// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/process_state.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace gloo_ext {
namespace {

std::atomic<ProcessState*> theInstance{nullptr};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

ProcessState::ProcessState()
    : recorder_(environment("GLOO_UBT_REPORT"),
                std::atoi(environment("RANK").c_str())) {}

ProcessState& ProcessState::instance() {
  ProcessState* known = theInstance;
  if (known != nullptr) {
    return *known;
  }
  // No lock: it could be another thread's when the process is forked.
  auto* const fresh = new ProcessState;
  if (!theInstance.compare_exchange_strong(known, fresh)) {
    delete fresh;
    return *known;
  }
  static const bool kOnce = [] {
    pthread_atfork(nullptr, nullptr, [] { theInstance = nullptr; });
    std::atexit([] {
      if (ProcessState* const last = theInstance) {
        last->atExit();
      }
    });
    return true;
  }();
  (void)kOnce;
  return *fresh;
}

void ProcessState::atExit() {
  contexts_.close();
  recorder_.finish();
}

}  // namespace gloo_ext
