// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/math.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "algorithms/bounded_transpose_allreduce.h"
#include "tests/conformance/local_ranks.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace testing {

inline constexpr size_t kElements = 70000;

// A device with long bounds and a short warm-up.
inline std::shared_ptr<transport::Device> device() {
  transport::ubt::attr attr("127.0.0.1");
  attr.settings.protocol.warmupOps = 2;
  // A bound learned on a busy machine is not the subject of these tests.
  attr.settings.protocol.boundScatter = std::chrono::seconds(10);
  attr.settings.protocol.boundBroadcast = std::chrono::seconds(10);
  return transport::ubt::CreateDevice(attr);
}

// Runs bounded allreduces. Their sums differ by rank, op and thread.
inline void allreduces(const LocalRanks::ContextPtr& context,
                       uint32_t tag,
                       int ops) {
  std::vector<float> values(kElements);
  for (int op = 0; op < ops; op++) {
    for (size_t i = 0; i < kElements; i++) {
      values[i] = (i + context->rank * 3 + op + tag) % 50;
    }
    AllreduceOptions options(context);
    options.setOutput(values.data(), kElements);
    options.setTag(tag);
    void (*sum)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
    options.setReduceFunction(sum);
    const BoundedReport report = boundedTransposeAllreduce(options);
    ASSERT_TRUE(report.has_value());
    ASSERT_EQ(report->pairsMissing, 0u);
    for (size_t i = 0; i < kElements; i++) {
      float expected = 0;
      for (int rank = 0; rank < context->size; rank++) {
        expected += (i + rank * 3 + op + tag) % 50;
      }
      ASSERT_EQ(values[i], expected) << "element " << i << ", tag " << tag;
    }
  }
}

}  // namespace testing
}  // namespace gloo
