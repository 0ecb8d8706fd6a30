// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

namespace gloo_ext {

// What stands in for gloo::allreduce(): GLOO_ALGO's algorithm where it applies
// (docs/drop_in.md), the original elsewhere. Throws as that does, and for a
// setting that is wrong.
void allreduce(const gloo::AllreduceOptions& options);

}  // namespace gloo_ext
