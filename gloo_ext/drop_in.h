// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

namespace gloo_ext {

// Replaces gloo::allreduce(). Runs GLOO_ALGO's algorithm where it applies
// (docs/drop_in.md), and the original elsewhere. Any thread may call; calls on
// one context run in parallel if their tags differ, as in Gloo. Throws like the
// original, and also for a setting that is wrong.
void allreduce(const gloo::AllreduceOptions& options);

// Whether allreduce() may return a sum that is not exact. Also true if a
// setting is wrong, because allreduce() then throws.
bool mayBound();

}  // namespace gloo_ext
