// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/learn/transform_switch.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr size_t kBytes = 1 << 20;

// Whether the transform is on after this many ops with that loss.
bool after(TransformSwitch* transform, int ops, double loss) {
  for (int op = 0; op < ops; op++) {
    transform->returned(loss, kBytes);
  }
  return transform->wanted();
}

TEST(TransformSwitch, TurnsOnBeyondTwoPercentAndOffBelowOne) {
  TransformSwitch transform(Hadamard::kAuto);
  EXPECT_FALSE(transform.wanted());
  EXPECT_FALSE(after(&transform, 200, 0.019));
  EXPECT_TRUE(after(&transform, 200, 0.021));
  EXPECT_TRUE(after(&transform, 200, 0.011));  // no oscillation
  EXPECT_FALSE(after(&transform, 200, 0.009));
}

TEST(TransformSwitch, OneBadOpIsNoReason) {
  TransformSwitch transform(Hadamard::kAuto);
  EXPECT_FALSE(after(&transform, 1, 0.3));
  after(&transform, 100, 0);
  EXPECT_FALSE(after(&transform, 1, 0.3));
}

TEST(TransformSwitch, WeighsOpsByTheirBytes) {
  TransformSwitch transform(Hadamard::kAuto);
  for (int op = 0; op < 100; op++) {
    transform.returned(0, kBytes);
    transform.returned(1, kBytes / 100);
  }
  EXPECT_FALSE(transform.wanted());
}

TEST(TransformSwitch, CanBeSetByHand) {
  TransformSwitch always(Hadamard::kAlways);
  TransformSwitch never(Hadamard::kNever);
  EXPECT_TRUE(after(&always, 100, 0));
  EXPECT_FALSE(after(&never, 100, 1));
}

}  // namespace
}  // namespace ubt
