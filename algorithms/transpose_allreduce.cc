// SPDX-License-Identifier: Apache-2.0
#include "algorithms/transpose_allreduce.h"

#include "algorithms/allreduce_options.h"
#include "algorithms/context_mesh.h"
#include "algorithms/mesh_transpose.h"

namespace gloo {

void transposeAllreduce(const AllreduceOptions& options) {
  const auto& impl = allreduceOptionsImpl(options);
  if (impl.elements == 0) {
    return;
  }
  checkAllreduceOptions(impl);
  meshTransposeAllreduce(contextMesh(*impl.context), impl);
}

}  // namespace gloo
