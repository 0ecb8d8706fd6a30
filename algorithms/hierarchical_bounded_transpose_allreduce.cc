// SPDX-License-Identifier: Apache-2.0
#include "algorithms/hierarchical_bounded_transpose_allreduce.h"

namespace gloo {

BoundedReport hierarchicalBoundedTransposeAllreduce(
    const AllreduceOptions& options) {
  BoundedReport report = detail::boundedAllreduce(options, true);
  if (!report) {
    hierarchicalTransposeAllreduce(options);
  }
  return report;
}

}  // namespace gloo
