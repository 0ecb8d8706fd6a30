// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/conformance/local_ranks.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace testing {

// Far off, because these tests do not test time and machines are busy.
constexpr auto kBound = std::chrono::seconds(20);

// For a device that bounds ops of any size after their warm-up.
inline transport::ubt::attr attributes() {
  transport::ubt::attr attr("127.0.0.1");
  attr.settings.minBytes = 0;
  return attr;
}

// A transport that bounds every op from the first on. `change` gets the number
// of devices made before.
inline Transport bounded(
    const std::function<void(ubt::Settings*, int)>& change = {}) {
  const auto devices = std::make_shared<std::atomic<int>>(0);
  return {"ubt", [change, devices] {
            transport::ubt::attr attr = attributes();
            attr.settings.protocol.warmupOps = 0;
            attr.settings.protocol.boundScatter = kBound;
            attr.settings.protocol.boundBroadcast = kBound;
            if (change) {
              change(&attr.settings, (*devices)++);
            }
            return transport::ubt::CreateDevice(attr);
          }};
}

// As bounded(), but loses, repeats and delays packets, and repairs results.
inline Transport lossy() {
  return bounded([](ubt::Settings* settings, int) {
    settings->faults.loss = 0.02;
    settings->faults.duplicate = 0.01;
    settings->faults.reorder = 0.02;
    settings->protocol.boundScatter = std::chrono::milliseconds(40);
    settings->protocol.boundBroadcast = std::chrono::milliseconds(40);
    settings->mtu = 1500;
  });
}

// A rank's contribution: small integers, so that sums are exact in any order.
template <typename T>
void fill(int rank, std::vector<T>* values) {
  for (size_t i = 0; i < values->size(); i++) {
    (*values)[i] = static_cast<T>((i * 7 + rank * 13) % 31);
  }
}

template <typename T>
T expected(int ranks, size_t i) {
  T sum = 0;
  for (int rank = 0; rank < ranks; rank++) {
    sum += static_cast<T>((i * 7 + rank * 13) % 31);
  }
  return sum;
}

// Four ranks under loss: contributions are missing, but replicas stay equal.
template <typename Algorithm>
void expectRepairWithoutDrift() {
  LocalRanks mesh(lossy(), 4);
  std::atomic<uint64_t> missing{0};
  const auto error = mesh.run([&](const LocalRanks::ContextPtr& context) {
    std::vector<float> values(100000);
    Algorithm algorithm(context, {values.data()}, values.size());
    for (int i = 0; i < 10; i++) {
      fill(context->rank, &values);
      algorithm.run();
      missing += algorithm.report()->pairsMissing;
      EXPECT_EQ(algorithm.report()->driftElements, 0u);
    }
  });
  EXPECT_EQ(error, "");
  EXPECT_GT(missing, 0u);
}

}  // namespace testing
}  // namespace gloo
