// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>
#include <gloo/context.h>

#include "algorithms/allreduce_options.h"
#include "algorithms/mesh_halving_doubling.h"

namespace gloo {
namespace testing {

// meshHalvingDoublingAllreduce() over the options' own context.
inline void halvingDoublingAllreduce(const AllreduceOptions& options) {
  const auto& impl = allreduceOptionsImpl(options);
  Context& context = *impl.context;
  meshHalvingDoublingAllreduce({context.rank,
                                context.size,
                                [&context](void* ptr, size_t bytes) {
                                  return context.createUnboundBuffer(ptr,
                                                                     bytes);
                                }},
                               impl);
}

}  // namespace testing
}  // namespace gloo
