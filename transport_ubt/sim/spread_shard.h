// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport_ubt/sim/checker.h"

namespace ubt::sim {

// What a shard of which some contributions were transformed has to come to,
// computed from the inputs and from what the reports say was there. In which
// form a rank contributed that has not returned nobody says: it may be either.
class SpreadShard {
 public:
  // All must outlive this.
  SpreadShard(const SimOptions& options,
              const Inputs& inputs,
              const OpKey& key,
              int owner,
              const std::vector<Outcome>& outcomes);

  // Whether the reports tell what it takes: the owner has returned.
  bool known() const { return !possible_.empty(); }
  // Whether a rank has filled any slot of the shard.
  bool filledAt(int rank) const;
  // The shard's part of a rank's result.
  const std::byte* resultAt(int rank) const;
  size_t bytes() const { return layout_.shardSize(owner_); }
  // Whether that is what it has to be, but for rounding. REQUIRES known().
  bool isRightAt(int rank) const;

 private:
  using Values = std::vector<double>;

  // What it comes to, if every rank contributed in a certain form.
  struct Sum {
    bool anyIn = false;        // anybody contributed to anything
    Form form = Form::kPlain;  // of the result
    Values values;             // in that form
    double magnitude = 0;      // of the largest value that rounding may harm
  };

  std::vector<std::vector<Form>> possibleForms() const;
  Values broughtBy(int rank, Form form) const;
  Sum sum(const std::vector<Form>& forms) const;
  bool isRightAt(int rank, const Sum& sum) const;
  bool filled(int rank, uint32_t slot) const;
  size_t first(uint32_t slot) const;

  const SimOptions& options_;
  const int ranks_;
  const Inputs& inputs_;
  const OpKey key_;
  const int owner_;
  const std::vector<Outcome>& outcomes_;
  const OpShape shape_;
  const ShardLayout layout_;
  size_t elements_ = 0;
  uint64_t seed_ = 0;
  std::vector<Sum> possible_;
};

}  // namespace ubt::sim
