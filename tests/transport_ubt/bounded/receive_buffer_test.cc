// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/receive_buffer.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr int kAsked = 4 << 20;

TEST(ReceiveBuffer, NeedsNoAdviceWhereTheKernelGrantedAll) {
  // The kernel reports twice the requested size.
  EXPECT_EQ(receiveBufferAdvice(2 * kAsked, kAsked), "");
  EXPECT_EQ(receiveBufferAdvice(3 * kAsked, kAsked), "");
}

TEST(ReceiveBuffer, NamesTheLimitAndTheSysctl) {
  // Half of the requested size looks like all of it.
  for (const int granted : {2 * kAsked - 2, kAsked, 2 * 212992}) {
    const std::string advice = receiveBufferAdvice(granted, kAsked);
    EXPECT_NE(advice.find(std::to_string(granted / 2) + " bytes"),
              std::string::npos);
    EXPECT_NE(advice.find("sysctl -w net.core.rmem_max=4194304"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace ubt
