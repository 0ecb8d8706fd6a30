// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>

#include "algorithms/mesh_allreduce.h"
#include "algorithms/rank_groups.h"
#include "transport_ubt/bounded/mesh.h"

namespace gloo {

// transposeAllreduce() (transpose_allreduce.h) over a mesh, which stands in for
// the options' context: that is not looked at. REQUIRES options that
// checkAllreduceOptions() has nothing against.
void meshTransposeAllreduce(const transport::ubt::Mesh& mesh,
                            const detail::AllreduceOptionsImpl& options);

// Likewise hierarchicalTransposeAllreduce()
// (hierarchical_transpose_allreduce.h) in groups of the mesh's ranks, which
// have agreed on them.
void meshHierarchicalTransposeAllreduce(
    const transport::ubt::Mesh& mesh,
    const detail::AllreduceOptionsImpl& options,
    const RankGroups& groups,
    const MeshDeadline& deadline);

}  // namespace gloo
