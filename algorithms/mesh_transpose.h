// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "algorithms/mesh_allreduce.h"
#include "algorithms/rank_groups.h"
#include "transport_ubt/bounded/mesh.h"

namespace gloo {

// transposeAllreduce() (transpose_allreduce.h) over `mesh`. The options'
// context is not used. REQUIRES: checkAllreduceOptions() accepts the options.
void meshTransposeAllreduce(const ubt::Mesh& mesh,
                            const detail::AllreduceOptionsImpl& options);

// The same for hierarchicalTransposeAllreduce()
// (hierarchical_transpose_allreduce.h), in groups that the mesh's ranks have
// agreed on.
void meshHierarchicalTransposeAllreduce(
    const ubt::Mesh& mesh,
    const detail::AllreduceOptionsImpl& options,
    const RankGroups& groups,
    const MeshDeadline& deadline);

}  // namespace gloo
