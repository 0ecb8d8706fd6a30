// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "algorithms/context_groups.h"
#include "gloo_ext/bounded_contexts.h"
#include "gloo_ext/chosen_contexts.h"
#include "gloo_ext/recorder.h"

namespace gloo_ext {

// Everything that the library keeps in a process. A forked process starts anew:
// sockets and threads remain with the parent. When the process ends, first the
// contexts close, then the recorder.
class ProcessState {
 public:
  // The first caller creates it. It is never destroyed.
  static ProcessState& instance();
  // Call when the process is about to end by _exit() with `status`: ends the
  // contexts first (BoundedContexts::closeBeforeExit). Async-signal-safe. Does
  // nothing in a process that has no state of its own, such as one that vfork()
  // has made.
  static void beforeExit(int status) noexcept;

  BoundedContexts& contexts() { return contexts_; }
  ChosenContexts& chosen() { return chosen_; }
  gloo::ContextGroups& groups() { return groups_; }
  Recorder& recorder() { return recorder_; }

 private:
  ProcessState();
  void atExit(bool clean);

  const pid_t pid_;
  ProcessState* older_ = nullptr;  // in a child: list of its ancestors' states
  ChosenContexts chosen_;
  gloo::ContextGroups groups_;
  Recorder recorder_;
  BoundedContexts contexts_;
};

}  // namespace gloo_ext
