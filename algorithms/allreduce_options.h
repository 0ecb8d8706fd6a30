// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/allreduce_options_access.h"

namespace gloo {

// Throws EnforceNotMet for options of one element or more that make no sense,
// as Gloo's own allreduce() does: buffers must be of the size that they claim.
void checkAllreduceOptions(const detail::AllreduceOptionsImpl& options);

}  // namespace gloo
