// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transport_ubt/core/base/require.h"

namespace ubt {

// How far a rank is ahead of the others: allreduces that have returned here and
// that some live rank has not finished, in ops and in bytes of their buckets.
// They are limited, because for each of them this rank keeps its shard.
class Lead {
 public:
  // Others wait for this rank in an op that they have begun. To begin it here
  // shortens no queue but theirs; if it had to wait for lead as well, two ranks
  // whose threads bring their tags in opposite orders would wait for each
  // other. So such ops have a limit of their own.
  static constexpr uint32_t kAwaitedOpsMax = 128;

  Lead(uint32_t opsMax, uint64_t bytesMax)
      : opsMax_(opsMax), bytesMax_(bytesMax) {}

  // Whether one more op may begin. One alone may have any number of bytes.
  bool mayBegin(bool awaited) const {
    const bool within = ops_ < opsMax_ && (ops_ == 0 || bytes_ < bytesMax_);
    return within || (awaited && ops_ < kAwaitedOpsMax);
  }

  void returned(uint64_t bytes) {
    ops_++;
    bytes_ += bytes;
  }
  // REQUIRES as many bytes as returned() was told.
  void doneEverywhere(uint64_t bytes) {
    UBT_REQUIRE(ops_ > 0 && bytes_ >= bytes);
    ops_--;
    bytes_ -= bytes;
  }

  bool any() const { return ops_ > 0; }

  // What mayBegin() holds ops to that nobody awaits, in words.
  std::string limit() const {
    return bytes_ < bytesMax_ ? std::to_string(opsMax_) + " ops"
                              : std::to_string(bytesMax_) + " bytes";
  }

 private:
  const uint32_t opsMax_;
  const uint64_t bytesMax_;
  uint32_t ops_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace ubt
