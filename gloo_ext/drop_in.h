// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

namespace gloo_ext {

// What stands in for gloo::allreduce(): GLOO_ALGO's algorithm where it applies
// (docs/drop_in.md), the original elsewhere. Any thread may call, several on
// one context with different tags, as in Gloo. Throws as that does, and for a
// setting that is wrong.
void allreduce(const gloo::AllreduceOptions& options);

// Whether it may give a sum that is not exact; also if a setting is wrong, for
// then it throws.
bool mayBound();

}  // namespace gloo_ext
