// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/conformance/transpose_job.h"

namespace gloo {
namespace testing {

template <typename T>
AllreduceOptions::Func sumFunction() {
  return static_cast<void (*)(void*, const void*, const void*, size_t)>(
      &sum<T>);
}

// Options to sum all ranks' `values` in place.
template <typename T>
AllreduceOptions sumOptions(const std::shared_ptr<Context>& context,
                            std::vector<T>* values) {
  AllreduceOptions options(context);
  options.setOutput(values->data(), values->size());
  options.setReduceFunction(sumFunction<T>());
  return options;
}

// Sums 20 times in a row under one tag. A rank may have several such callers at
// the same time.
template <typename Allreduce>
void sumManyTimes(const std::shared_ptr<Context>& context,
                  uint32_t tag,
                  Allreduce&& allreduce,
                  const std::vector<float>& expected) {
  for (int i = 0; i < 20; i++) {
    auto values =
        inputOf<float>(Operation::kSum, context->rank, 0, expected.size());
    AllreduceOptions options = sumOptions(context, &values);
    options.setTag(tag);
    allreduce(options);
    expectAll(expected, {values}, context->rank);
  }
}

}  // namespace testing
}  // namespace gloo
