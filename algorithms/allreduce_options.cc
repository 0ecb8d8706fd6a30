// SPDX-License-Identifier: Apache-2.0
#include "algorithms/allreduce_options.h"

#include <gloo/common/logging.h>

namespace gloo {

void checkAllreduceOptions(const detail::AllreduceOptionsImpl& options) {
  GLOO_ENFORCE_GT(options.out.size(), 0, "no output");
  GLOO_ENFORCE_GT(options.elementSize, 0, "no element size");
  GLOO_ENFORCE(options.reduce != nullptr, "no reduce function");
  const size_t bytes = options.elements * options.elementSize;
  for (const auto& buffer : options.out) {
    GLOO_ENFORCE_EQ(buffer->size, bytes, "outputs must be of one size");
  }
  for (const auto& buffer : options.in) {
    GLOO_ENFORCE_EQ(buffer->size, bytes, "inputs must match the output's size");
  }
}

}  // namespace gloo
