// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/process_state.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>

#include "transport_ubt/config/settings.h"

namespace gloo_ext {
namespace {

std::atomic<ProcessState*> theInstance{nullptr};

// States of ancestor processes. They are kept and never used.
ProcessState* theParents = nullptr;

// Whether this process was forked from one that had a state. Parent and child
// have the same rank and report folder.
std::atomic<bool> isChild{false};

// Set by PyTorch's launchers, but not by torch.multiprocessing.spawn.
std::optional<int> rank() {
  const char* const value = std::getenv("RANK");
  return value == nullptr || *value == '\0'
             ? std::nullopt
             : std::optional<int>(std::atoi(value));
}

// What the launcher calls the job.
std::string job() {
  for (const char* const name :
       {"SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE"}) {
    const char* const value = std::getenv(name);
    // torchrun's default is "none".
    if (value != nullptr && *value != '\0' && std::string(value) != "none") {
      return value;
    }
  }
  return "";
}

Recorder::Setup setupOf(const ubt::Settings& settings) {
  Recorder::Setup setup;
  setup.lines = settings.reportFolder;
  setup.textfile = settings.metricsFolder.empty() ? settings.reportFolder
                                                  : settings.metricsFolder;
  setup.job = job();
  setup.rank = rank();
  setup.child = isChild ? "-" + std::to_string(getpid()) : "";
  return setup;
}

}  // namespace

ProcessState::ProcessState()
    : pid_(getpid()),
      recorder_(setupOf(ubt::Settings::fromEnvironment())),
      contexts_([this] { recorder_.finish(); }) {}

ProcessState& ProcessState::instance() {
  ProcessState* known = theInstance;
  if (known != nullptr) {
    return *known;
  }
  // A lock could be held by another thread at a fork.
  auto* const fresh = new ProcessState;
  if (!theInstance.compare_exchange_strong(known, fresh)) {
    delete fresh;
    return *known;
  }
  static const bool kOnce = [] {
    pthread_atfork(nullptr, nullptr, [] {
      ProcessState* const parents = theInstance.exchange(nullptr);
      if (parents != nullptr) {
        isChild = true;
        parents->older_ = theParents;
        theParents = parents;
      }
    });
    on_exit(
        [](int status, void*) {
          if (ProcessState* const last = theInstance) {
            last->atExit(status == 0);
          }
        },
        nullptr);
    return true;
  }();
  (void)kOnce;
  return *fresh;
}

// Restores the default action of SIGINT and SIGTERM, so that they can end the
// wait. The program's own handlers no longer make sense here.
void ProcessState::beforeExit(int status) noexcept {
  ProcessState* const last = theInstance;
  if (last == nullptr || last->pid_ != getpid()) {
    return;
  }
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 &&
        action.sa_handler != SIG_IGN) {
      action = {};
      action.sa_handler = SIG_DFL;
      sigaction(number, &action, nullptr);
    }
  }
  last->contexts_.closeBeforeExit(status == 0);
}

void ProcessState::atExit(bool clean) {
  contexts_.close(clean);
  recorder_.finish();
}

}  // namespace gloo_ext
