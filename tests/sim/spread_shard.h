// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/sim/checker.h"

namespace ubt::sim {

// What a shard of which some contributions were transformed has to come to,
// computed from the inputs and from what the reports say was there.
class SpreadShard {
 public:
  // All must outlive this.
  SpreadShard(const SimOptions& options,
              const Inputs& inputs,
              const OpKey& key,
              int owner,
              const std::vector<Outcome>& outcomes);

  // Whether the reports tell all that it takes: the owner and all who
  // contributed have returned.
  bool known() const { return known_; }
  // Whether a rank has filled any slot of the shard.
  bool filledAt(int rank) const;
  // The shard's part of a rank's result.
  const std::byte* resultAt(int rank) const;
  size_t bytes() const { return layout_.shardSize(owner_); }
  // Whether that is what it has to be, but for rounding. REQUIRES known().
  bool isRightAt(int rank) const;

 private:
  using Values = std::vector<double>;

  Values broughtBy(int rank) const;
  void sum();
  bool filled(int rank, uint32_t slot) const;
  size_t first(uint32_t slot) const;

  const int ranks_;
  const Fill fill_;
  const Inputs& inputs_;
  const OpKey key_;
  const int owner_;
  const std::vector<Outcome>& outcomes_;
  const OpShape shape_;
  const ShardLayout layout_;
  size_t elements_ = 0;
  uint64_t seed_ = 0;
  bool known_ = true;
  bool anyIn_ = false;        // anybody contributed to anything
  Form form_ = Form::kPlain;  // of the result
  Values expected_;           // in that form
  double magnitude_ = 0;      // of the largest value that rounding may harm
};

}  // namespace ubt::sim
