// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace ubt {

// Divides the budget for cut contributions between its two causes: delays of
// the network, and absent ranks. Each may use half, and the part of the other
// half that the other cause has not used lately. Not thread-safe.
class BudgetSplit {
 public:
  // Shares of one op's contributions that were cut.
  void addLate(double share) { add(share, &late_); }
  void addAbsent(double share) { add(share, &absent_); }

  double forLate(double budget) const {
    return std::max(budget / 2, budget - absent_);
  }
  double forAbsent(double budget) const {
    return std::max(budget / 2, budget - late_);
  }

 private:
  static constexpr double kWeight = 1.0 / 64;  // of one op in a mean

  static void add(double share, double* mean) {
    *mean += kWeight * (share - *mean);
  }

  double late_ = 0;
  double absent_ = 0;
};

}  // namespace ubt
