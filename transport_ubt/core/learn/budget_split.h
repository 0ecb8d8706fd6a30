// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace ubt {

// Divides a budget for what may be cut between two users of it. Each may use
// half, and the part of the other half that the other user has not used lately.
// Not thread-safe.
class BudgetSplit {
 public:
  // Without `adapts` each user always gets half. `first`: the initial mean of
  // each user's cut share of an op. With zero, both together may cut twice the
  // budget at first.
  explicit BudgetSplit(bool adapts = true, double first = 0)
      : adapts_(adapts), first_(first), second_(first) {}

  // Shares of one op that each user has cut.
  void add(double first, double second) {
    first_ += kWeight * (first - first_);
    second_ += kWeight * (second - second_);
  }

  double forFirst(double budget) const {
    return adapts_ ? std::max(budget / 2, budget - second_) : budget / 2;
  }
  double forSecond(double budget) const {
    return adapts_ ? std::max(budget / 2, budget - first_) : budget / 2;
  }

 private:
  static constexpr double kWeight = 1.0 / 64;  // of one op in a mean

  bool adapts_;
  double first_;
  double second_;
};

}  // namespace ubt
