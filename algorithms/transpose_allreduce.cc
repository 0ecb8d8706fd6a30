// SPDX-License-Identifier: Apache-2.0
#include "algorithms/transpose_allreduce.h"

#include "algorithms/allreduce_options.h"
#include "algorithms/mesh_transpose.h"

namespace gloo {

void transposeAllreduce(const AllreduceOptions& options) {
  const auto& impl = allreduceOptionsImpl(options);
  if (impl.elements == 0) {
    return;
  }
  checkAllreduceOptions(impl);
  Context& context = *impl.context;
  meshTransposeAllreduce({context.rank,
                          context.size,
                          [&context](void* ptr, size_t bytes) {
                            return context.createUnboundBuffer(ptr, bytes);
                          }},
                         impl);
}

}  // namespace gloo
