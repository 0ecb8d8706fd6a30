// SPDX-License-Identifier: Apache-2.0
//
// Allocations of one rank fail, one after another, while ranks find each other
// and in their first bounded allreduce. Ranks are threads, each with its own
// engine. Their mesh is Gloo's own over TCP.
#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "gloo_ext/bounded_contexts.h"
#include "gloo_ext/local_address.h"
#include "tests/conformance/local_ranks.h"
#include "tests/support/environment_variable.h"
#include "tests/support/failing_heap.h"

namespace gloo_ext {
namespace {

using ContextPtr = gloo::testing::LocalRanks::ContextPtr;
using std::chrono::milliseconds;
using ubt::Engine;
using ubt::FailingHeap;
using ubt::Settings;

constexpr int kRanks = 2;
constexpr milliseconds kTimeout{100};
constexpr size_t kElements = 1000;

// The error of a rank without a sum, or "". One of rank 0's allocations may
// fail.
std::string sum(int rank, BoundedContext* bounded) {
  std::vector<float> values(kElements, 1);
  try {
    const auto scope =
        rank == 0 ? std::make_unique<FailingHeap::Scope>() : nullptr;
    bounded->channel(Policy(), kTimeout, kTimeout)
        .allreduce(ubt::TagSpace::kOptions,
                   1,
                   ubt::ElementType::kFloat32,
                   values.data(),
                   values.size(),
                   kTimeout);
  } catch (const gloo::Exception& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  }
  EXPECT_EQ(values, std::vector<float>(kElements, kRanks));
  return "";
}

TEST(FailingGreeting, EndsCallsInTimeWithACause) {
  const test::EnvironmentVariable interface("GLOO_SOCKET_IFNAME", "lo");
  std::array<std::shared_ptr<Engine>, kRanks> engines;
  for (auto& engine : engines) {
    engine = std::make_shared<Engine>(localAddress(), Settings());
  }
  int busy = 0;  // calls without a failure that the machine was too slow for
  bool failed = true;
  for (uint64_t before = 0; failed; before++) {
    SCOPED_TRACE("allocations before: " + std::to_string(before));
    gloo::testing::LocalRanks mesh(gloo::testing::tcpTransport(), kRanks);
    std::array<std::string, kRanks> errors;
    std::array<std::unique_ptr<BoundedContext>, kRanks> contexts;
    EXPECT_EQ(mesh.run([&](const ContextPtr& context) {
      contexts[context->rank] = std::make_unique<BoundedContext>(
          engines[context->rank],
          ubt::Mesh{
              context->rank, context->size, [context](void* ptr, size_t bytes) {
                return context->createUnboundBuffer(ptr, bytes);
              }});
      if (context->rank == 0) {
        FailingHeap::failAfter(before);
      }
      errors[context->rank] = sum(context->rank, contexts[context->rank].get());
    }),
              "");
    failed = FailingHeap::failures() > 0;
    FailingHeap::heal();
    if (!failed && errors != decltype(errors)()) {
      ASSERT_LT(++busy, 20) << errors[0] << errors[1];
      failed = true;
    }
    EXPECT_TRUE(failed || before > 50) << "next to nothing was tried";
    for (const std::string& error : errors) {
      EXPECT_TRUE(error.empty() || error == "bad_alloc" ||
                  error.find("rank") != std::string::npos ||
                  error.find("bad_alloc") != std::string::npos)
          << error;
    }
    contexts = {};
  }
}

}  // namespace
}  // namespace gloo_ext
