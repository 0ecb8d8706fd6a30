// SPDX-License-Identifier: Apache-2.0
#include "algorithms/hierarchical_transpose_allreduce.h"

#include "algorithms/allreduce_options.h"
#include "algorithms/bounded_transpose_allreduce.h"
#include "algorithms/context_groups.h"
#include "algorithms/context_mesh.h"
#include "algorithms/mesh_transpose.h"
#include "transport_ubt/bounded/host_id.h"
#include "transport_ubt/config/settings.h"

namespace gloo {

namespace {

// Never destroyed, because contexts may outlive static objects.
ContextGroups& contextGroups() {
  static auto* const kGroups = new ContextGroups;
  return *kGroups;
}

}  // namespace

GroupWish groupWish(Context& context) {
  const auto* const device = detail::boundedContext(context);
  const auto grouping = device != nullptr
                            ? device->settings().groups
                            : ubt::Settings::fromEnvironment().groups;
  return {grouping, ubt::hostId()};
}

void hierarchicalTransposeAllreduce(const AllreduceOptions& options) {
  const auto& impl = allreduceOptionsImpl(options);
  if (impl.elements == 0) {
    return;
  }
  checkAllreduceOptions(impl);
  const auto mesh = contextMesh(*impl.context);
  const MeshDeadline deadline(impl.timeout);
  const auto groups = contextGroups().of(
      impl.context, mesh, deadline, [&] { return groupWish(*impl.context); });
  meshHierarchicalTransposeAllreduce(mesh, impl, *groups, deadline);
}

void hierarchicalTransposeAllreduce(const AllreduceOptions& options,
                                    const RankGroups& groups) {
  const auto& impl = allreduceOptionsImpl(options);
  if (impl.elements == 0) {
    return;
  }
  checkAllreduceOptions(impl);
  GLOO_ENFORCE_EQ(groups.ranks(), impl.context->size, "groups of other ranks");
  meshHierarchicalTransposeAllreduce(
      contextMesh(*impl.context), impl, groups, MeshDeadline(impl.timeout));
}

}  // namespace gloo
