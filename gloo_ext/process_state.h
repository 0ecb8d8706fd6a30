// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "algorithms/context_groups.h"
#include "gloo_ext/bounded_contexts.h"
#include "gloo_ext/exact_contexts.h"
#include "gloo_ext/recorder.h"

namespace gloo_ext {

// All that the library keeps in a process. A process that is forked begins
// anew: sockets and threads stay with the parent. When the process ends,
// contexts close first, and then the records.
class ProcessState {
 public:
  // Made by whoever asks first; outlives everything.
  static ProcessState& instance();
  // The process is about to end by _exit(), with that status: what it keeps
  // ends first (BoundedContexts::closeBeforeExit). Async-signal-safe; in a
  // process that has no state of its own, such as one that vfork() has made,
  // it does nothing.
  static void beforeExit(int status) noexcept;

  BoundedContexts& contexts() { return contexts_; }
  ExactContexts& exact() { return exact_; }
  gloo::ContextGroups& groups() { return groups_; }
  Recorder& recorder() { return recorder_; }

 private:
  ProcessState();
  void atExit(bool clean);

  const pid_t pid_;
  ProcessState* older_ = nullptr;  // in a child: a list of its parents'
  ExactContexts exact_;
  gloo::ContextGroups groups_;
  Recorder recorder_;
  BoundedContexts contexts_;
};

}  // namespace gloo_ext
