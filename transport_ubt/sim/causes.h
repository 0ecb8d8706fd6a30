// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Decides which errors the options of a job explain: the exceptions that each
// fault may cause, and the ranks at fault. Not thread-safe.
class Causes {
 public:
  explicit Causes(const SimOptions& options);

  // Whether any call may throw at all.
  bool any() const { return blamed_ != 0 || mayHalt_; }

  // Whether some fault explains that a call at this rank throws this text. A
  // text that names only innocent ranks is not explained. A rank at fault may
  // name other ranks, and its peers repeat that. So REQUIRES calls in the order
  // of the errors.
  bool explain(int rank, const std::string& text);

 private:
  bool blames(int rank) const {
    return rank >= 0 && (blamed_ >> rank & 1) != 0;
  }
  bool isBrokenTo(int rank, int peer) const;
  // Whether an error may name a rank that is not at fault. In groups a call
  // waits for an owner, the owner for a co-owner, and the co-owner for a
  // member, but the error can only name the owner. And if most answers get
  // lost, ranks that are not at fault seem silent.
  bool chained() const {
    return blamed_ != 0 && (options_.groups > 1 || losesAnswers_);
  }

  const SimOptions options_;
  bool mayHalt_ = false;
  bool losesAnswers_ = false;
  // One bit per rank.
  uint64_t blamed_ = 0;   // ranks at fault: they or their paths fail
  uint64_t crashed_ = 0;  // ranks that die
  uint64_t closes_ = 0;   // ranks that end their context
  uint64_t drops_ = 0;    // ranks that may drop results others need
  uint64_t hearsay_ = 0;  // ranks that a rank at fault has named
  uint64_t silent_ = 0;   // ranks that may be silent for 10 s
};

}  // namespace ubt::sim
