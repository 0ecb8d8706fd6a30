// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "transport_ubt/mesh.h"

namespace gloo {

// transposeAllreduce() (transpose_allreduce.h) over a mesh, which stands in for
// the options' context: that is not looked at. REQUIRES options that
// checkAllreduceOptions() has nothing against.
void meshTransposeAllreduce(const transport::ubt::Mesh& mesh,
                            const detail::AllreduceOptionsImpl& options);

}  // namespace gloo
