// SPDX-License-Identifier: Apache-2.0
//
// What the preloaded library overrides: one symbol of Gloo's, and those of the
// C library by which a process ends without its atexit() handlers.

#include <dlfcn.h>
#include <gloo/allreduce.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gloo_ext/drop_in.h"
#include "gloo_ext/original_gloo.h"
#include "gloo_ext/process_state.h"
#include "transport_ubt/io/warning.h"

namespace gloo {

__attribute__((visibility("default"))) void allreduce(
    const AllreduceOptions& options) {
  gloo_ext::allreduce(options);
}

}  // namespace gloo

namespace {

using Exit = void (*)(int);

// The next library's; found before anybody may need it, for dlsym() is not
// async-signal-safe.
Exit nextExit = nullptr;
Exit nextQuickExit = nullptr;

__attribute__((constructor)) void findExits() {
  nextExit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit"));
  nextQuickExit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "quick_exit"));
}

[[noreturn]] void exitNow(int status) {
  gloo_ext::ProcessState::beforeExit(status);
  if (nextExit != nullptr) {
    nextExit(status);
  }
  for (;;) {
    syscall(SYS_exit_group, status);
  }
}

}  // namespace

// Children of multiprocessing's fork end so, and os._exit(). The ranks that
// still need something of this one would find it gone.
extern "C" {

__attribute__((visibility("default"), noreturn)) void _exit(int status) {
  exitNow(status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(
    int status) noexcept {
  exitNow(status);
}

__attribute__((visibility("default"), noreturn)) void quick_exit(
    int status) noexcept {
  gloo_ext::ProcessState::beforeExit(status);
  if (nextQuickExit != nullptr) {
    nextQuickExit(status);
  }
  exitNow(status);
}

}  // extern "C"

namespace {

// Where another library has the symbol, too, the first one's is called. Who
// wants this one should hear if it is never asked.
__attribute__((constructor)) void checkIsFirst() {
  if (std::getenv("GLOO_ALGO") == nullptr) {
    return;
  }
  Dl_info own{};
  Dl_info first{};
  dladdr(reinterpret_cast<void*>(&gloo_ext::allreduce), &own);
  void* const found = dlsym(RTLD_DEFAULT, gloo_ext::OriginalGloo::kAllreduce);
  if (found != nullptr && dladdr(found, &first) != 0 &&
      first.dli_fbase != own.dli_fbase) {
    gloo::transport::ubt::warn(
        std::string("libgloo_ubt.so: ") + first.dli_fname +
        " comes before it in LD_PRELOAD, so plain Gloo serves every call; name "
        "it last, or not at all");
  }
}

}  // namespace
