// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Which errors the options of a job explain: what each fault makes calls throw,
// and which ranks it puts to blame. Not thread-safe.
class Causes {
 public:
  explicit Causes(const SimOptions& options);

  // Whether any call may throw at all.
  bool any() const { return blamed_ != 0 || mayHalt_; }

  // Whether some fault explains that a call at this rank throws this text. One
  // that names innocent ranks only does not.
  // A rank to blame may name others, which its peers pass on: call this in the
  // order of the errors.
  bool explain(int rank, const std::string& text);

 private:
  bool blames(int rank) const {
    return rank >= 0 && (blamed_ >> rank & 1) != 0;
  }
  bool isBrokenTo(int rank, int peer) const;
  // Whether an error may name another rank than the one to blame. In groups a
  // call waits for an owner, the owner for a co-owner, and the co-owner for a
  // member: the error can only name the owner. And if most answers get lost,
  // other ranks seem silent, too.
  bool chained() const {
    return blamed_ != 0 && (options_.groups > 1 || losesAnswers_);
  }

  const SimOptions options_;
  bool mayHalt_ = false;
  bool losesAnswers_ = false;
  // By rank, a bit each.
  uint64_t blamed_ = 0;   // something is wrong with it or its paths
  uint64_t crashed_ = 0;  // of these, those that die
  uint64_t closes_ = 0;   // those that end their context
  uint64_t drops_ = 0;    // those that may drop what another rank needs
  uint64_t hearsay_ = 0;  // those that a rank to blame has named
  uint64_t silent_ = 0;   // those of which nothing may come for 10 s
};

}  // namespace ubt::sim
