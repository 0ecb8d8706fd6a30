// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt::chooser {

// The result of one op at one rank.
struct Outcome {
  bool there = false;  // the rank has returned a result
  OpReport report;
  std::vector<float> result;
};

// Makes the inputs of small float32 ops, and checks results and reports against
// docs/semantics.md. No two sets of ranks have the same sum.
class OpCheck {
 public:
  // REQUIRES 1 < ranks <= 4.
  OpCheck(int ranks, int slots, size_t slotBytes, const Options& options);

  OpShape shape() const;
  float contribution(int op, int rank, size_t element) const;

  // Checks the outcomes of an op, by rank. Returns the first broken promise, or
  // an empty string. `calm`: all contributions came in time, so every sum must
  // hold those of most ranks.
  std::string check(int op,
                    const std::vector<Outcome>& outcomes,
                    bool calm) const;

 private:
  struct Slot {
    int owner = 0;
    size_t index = 0;
    size_t begin = 0;  // in elements of the bucket
    size_t end = 0;
  };

  std::string checkReport(int rank, const OpReport& report) const;
  std::string checkSlot(int op,
                        const Slot& slot,
                        const std::vector<Outcome>& outcomes,
                        bool calm) const;
  float sum(int op, unsigned set, size_t element) const;
  bool isSum(int op,
             unsigned set,
             const Slot& slot,
             const Outcome& outcome) const;

  const int ranks_;
  const size_t slots_;  // per shard
  const size_t slotElements_;
  const Options options_;
};

}  // namespace ubt::chooser
