// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/shard_sum.h"

namespace ubt::sim {

// The right values of a shard with transformed contributions, computed from the
// inputs and the reports. If a rank has not returned, nobody reports its form,
// so it may be either.
class SpreadShard {
 public:
  // All arguments must outlive this.
  SpreadShard(const SimOptions& options,
              const Inputs& inputs,
              const OpKey& key,
              Shard shard,
              const std::vector<Outcome>& outcomes);

  // Whether the values are known: the owner has returned.
  bool known() const { return !possible_.empty(); }
  // Whether a rank has filled any slot of the shard.
  bool filledAt(int rank) const;
  // The part of a rank's result for this shard.
  const std::byte* resultAt(int rank) const;
  size_t bytes() const { return layout_.shardSize(shard_); }
  // Whether that part is right, except for rounding. REQUIRES known().
  bool isRightAt(int rank) const;

 private:
  using Values = ShardSum::Values;

  std::vector<std::vector<Form>> possibleForms() const;
  Values broughtBy(int rank, Form form) const;
  // The result for one combination of the ranks' forms.
  ShardSum sum(const std::vector<Form>& forms) const;
  bool isRightAt(int rank, const ShardSum& sum) const;
  bool filled(int rank, uint32_t slot) const;
  size_t first(uint32_t slot) const;

  const SimOptions& options_;
  const int ranks_;
  const Inputs& inputs_;
  const OpKey key_;
  const Shard shard_;
  const std::vector<Outcome>& outcomes_;
  const OpShape shape_;
  const ShardLayout layout_;
  size_t elements_ = 0;
  uint64_t seed_ = 0;
  std::vector<ShardSum> possible_;
};

}  // namespace ubt::sim
