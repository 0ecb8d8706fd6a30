// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace ubt {

// Divides a budget for what may be cut between two users of it. Each may use
// half, and the part of the other half that the other user has not used lately.
// Not thread-safe.
class BudgetSplit {
 public:
  // Each user always gets half, while add() is not called.
  static BudgetSplit fixed() {
    BudgetSplit split;
    split.first_ = split.second_ = 1;
    return split;
  }

  // Shares of one op that each user has cut.
  void add(double first, double second) {
    first_ += kWeight * (first - first_);
    second_ += kWeight * (second - second_);
  }

  double forFirst(double budget) const {
    return std::max(budget / 2, budget - second_);
  }
  double forSecond(double budget) const {
    return std::max(budget / 2, budget - first_);
  }

 private:
  static constexpr double kWeight = 1.0 / 64;  // of one op in a mean

  double first_ = 0;
  double second_ = 0;
};

}  // namespace ubt
