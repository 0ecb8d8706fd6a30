// SPDX-License-Identifier: Apache-2.0
//
// The one symbol of Gloo's that the preloaded library overrides.

#include <dlfcn.h>
#include <gloo/allreduce.h>

#include <cstdlib>
#include <string>

#include "gloo_ext/drop_in.h"
#include "gloo_ext/original_gloo.h"
#include "transport_ubt/warning.h"

namespace gloo {

__attribute__((visibility("default"))) void allreduce(
    const AllreduceOptions& options) {
  gloo_ext::allreduce(options);
}

}  // namespace gloo

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
