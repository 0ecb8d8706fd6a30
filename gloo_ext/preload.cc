// SPDX-License-Identifier: Apache-2.0
//
// The symbols that the preloaded library overrides: Gloo's allreduce(), and the
// C library's functions that end a process without its atexit() handlers.

#include <dlfcn.h>
#include <gloo/allreduce.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gloo_ext/drop_in.h"
#include "gloo_ext/original_gloo.h"
#include "gloo_ext/process_state.h"
#include "gloo_ext/symbol.h"
#include "transport_ubt/io/warning.h"

namespace gloo {

__attribute__((visibility("default"))) void allreduce(
    const AllreduceOptions& options) {
  gloo_ext::allreduce(options);
}

}  // namespace gloo

namespace {

using Exit = void (*)(int);

// The next library's functions. They are looked up early, because dlsym() is
// not async-signal-safe.
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

// Children of multiprocessing's fork and users of os._exit() end this way.
// Without these overrides, ranks that still need this process would find it
// gone.
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

// What the user should know if the library in this file, which also has Gloo's
// allreduce(), comes before this one.
std::string precededBy(const char* file) {
  void* const first = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  void* version = nullptr;
  if (first != nullptr &&
      gloo_ext::look(first, "gloo_ubt_api_version", &version)) {
    return std::string("another copy, ") + file +
           ", precedes it in LD_PRELOAD and serves every call; remove one of "
           "the two";
  }
  return std::string(file) +
         " precedes it in LD_PRELOAD, so plain Gloo serves every call; put the "
         "other library last, or remove it";
}

// If another library has the symbol, too, the first library's is called. Warns
// if that is not this library, so that the user knows.
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
    ubt::warn("libgloo_ubt.so: " + precededBy(first.dli_fname));
  }
}

// Warns at the end of a process whose PyTorch lacks Gloo. Then nothing has
// called this library.
__attribute__((destructor)) void checkGlooWasThere() {
  void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (std::getenv("GLOO_ALGO") == nullptr || torch == nullptr) {
    return;
  }
  void* allreduce = nullptr;
  if (!gloo_ext::look(torch, gloo_ext::OriginalGloo::kAllreduce, &allreduce)) {
    ubt::warnOncePerJob(
        "libgloo_ubt.so: this process's PyTorch exports no Gloo (USE_GLOO), so "
        "nothing was bounded; install one that does, such as PyPI's");
  }
}

}  // namespace
