// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/conformance/transpose_job.h"

namespace gloo {
namespace testing {

// The common parts of the test matrices: axes, endings of the cells' names, and
// the sizes for each cell.

inline auto everyType() {
  return ::testing::Values(Type::kInt8,
                           Type::kUint8,
                           Type::kInt32,
                           Type::kUint32,
                           Type::kInt64,
                           Type::kUint64,
                           Type::kFloat16,
                           Type::kFloat,
                           Type::kDouble);
}

inline auto everyOperation() {
  return ::testing::Values(
      Operation::kSum, Operation::kProduct, Operation::kMin, Operation::kMax);
}

// A name such as "float_sum_InPlace".
inline std::string jobName(Type type, Operation operation, Form form) {
  return std::string(typeName(type)) + "_" + operationName(operation) + "_" +
         formName(form);
}

// Runs the job with each of these element counts, with one input and with
// several.
inline void runSizes(Type type,
                     Job job,
                     const Transport& transport,
                     int ranks,
                     std::initializer_list<size_t> counts) {
  for (const size_t count : counts) {
    for (const int inputs : {1, 3}) {
      job.count = count;
      job.inputs = inputs;
      runJob(type, job, transport, ranks);
    }
  }
}

// Zero elements, one, fewer than there are ranks, and many.
inline void runSizes(Type type,
                     const Job& job,
                     const Transport& transport,
                     int ranks) {
  const size_t fewer = ranks > 1 ? ranks - 1 : 0;
  runSizes(type, job, transport, ranks, {0, 1, fewer, 1000});
}

}  // namespace testing
}  // namespace gloo
