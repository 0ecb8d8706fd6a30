// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/config/nearest.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

TEST(Nearest, IsTheNameThatTakesTheFewestEdits) {
  const std::vector<std::string> names{"repair", "fill", "order"};
  EXPECT_EQ(nearest("repair", names), "repair");
  EXPECT_EQ(nearest("repiar", names), "repair");
  EXPECT_EQ(nearest("fil", names), "fill");
  EXPECT_EQ(nearest("boarder", names), "order");
  EXPECT_EQ(nearest("", names), "fill");  // the shortest
}

TEST(Nearest, IsTheFirstOfEquals) {
  EXPECT_EQ(nearest("x", {"a", "b"}), "a");
  EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace ubt
