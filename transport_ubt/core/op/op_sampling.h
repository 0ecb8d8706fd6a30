// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/op/op_state.h"

namespace ubt {

// The op's measurements up to now. Late data is counted completely only once
// the op is done everywhere.
OpSample sampleOf(const OpState& op);

}  // namespace ubt
