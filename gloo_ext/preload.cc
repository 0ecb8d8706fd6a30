// SPDX-License-Identifier: Apache-2.0
//
// The one symbol of Gloo's that the preloaded library overrides.

#include <gloo/allreduce.h>

#include "gloo_ext/drop_in.h"

namespace gloo {

__attribute__((visibility("default"))) void allreduce(
    const AllreduceOptions& options) {
  gloo_ext::allreduce(options);
}

}  // namespace gloo
