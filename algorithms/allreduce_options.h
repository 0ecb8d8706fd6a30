// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/allreduce_options_access.h"

namespace gloo {

// Checks options of one element or more. Like Gloo's own allreduce(), throws
// EnforceNotMet if they have no output, element size or reduce function, or if
// a buffer's size is not the options'.
void checkAllreduceOptions(const detail::AllreduceOptionsImpl& options);

}  // namespace gloo
