// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transport_ubt/core/base/require.h"

namespace ubt {

// How far this rank is ahead of the others: allreduces that have returned here
// and that some rank has not finished, in ops and in bytes of their buckets.
// The lead is limited, because this rank keeps its shard of each such op.
class Lead {
 public:
  // The limit for ops that other ranks have begun (awaited ops). If those
  // waited for the ordinary limit, two ranks whose threads use their tags in
  // opposite orders would wait for each other.
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

  // The ordinary limit, in words.
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
