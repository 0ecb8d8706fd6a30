// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "algorithms/allreduce_options.h"
#include "algorithms/context_mesh.h"
#include "algorithms/mesh_halving_doubling.h"

namespace gloo {
namespace testing {

// Calls meshHalvingDoublingAllreduce() with the context of the options.
inline void halvingDoublingAllreduce(const AllreduceOptions& options) {
  const auto& impl = allreduceOptionsImpl(options);
  meshHalvingDoublingAllreduce(contextMesh(*impl.context), impl);
}

}  // namespace testing
}  // namespace gloo
