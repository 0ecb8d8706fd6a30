// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace ubt {

// Pays for ranks that are cut because they are absent. It is a bucket of
// tokens; a token is a share of one op's contributions. While the bucket covers
// them, absent ranks are cut; a rank that hangs empties it and then holds the
// others. Not thread-safe.
class AbsenceBudget {
 public:
  // The largest number of tokens. A new bucket holds kFirst.
  static constexpr double kMost = 0.5;
  static constexpr double kFirst = 0.1;

  // An op has returned. Ops that overlap may spend the same tokens, so that
  // fewer than none are left.
  void earn(double share) { tokens_ = std::min(kMost, tokens_ + share); }
  void spend(double share) { tokens_ -= share; }

  double tokens() const { return tokens_; }

 private:
  double tokens_ = kFirst;
};

}  // namespace ubt
