// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "transport_ubt/core/learn/early_timeout.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/learn/stage_bound.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// Learns how long ops may take, separately for each size class (a power of two
// of bytes). The first ops of a class are exact, the later ones bounded. A new
// class borrows the bounds of its nearest neighbours that have warmed up: those
// of a larger class unchanged, those of a smaller class in proportion to the
// bytes. The shorter ones apply. Not thread-safe.
class SizeClasses {
 public:
  static constexpr uint32_t kClasses = 64;
  // The class of an op of `bytes` bytes; below kClasses.
  static uint32_t of(uint64_t bytes);

  // The stage times of a class, as ranks report them. Zero: nothing to report.
  struct Sample {
    Duration scatter{0};
    Duration broadcast{0};
    Duration exchange{0};  // not reported to other ranks
  };

  // `options` must outlive this.
  SizeClasses(const Options& options, int ranks)
      : options_(options), ranks_(ranks) {}

  // The bounds of an op that begins now. `limit` is the longest time that the
  // call may take, whatever was learned.
  OpBounds boundsFor(const OpShape& shape,
                     const StageBound::Unrest& unrest,
                     Duration limit);
  // An op has returned at this rank with a result. Returns the report for the
  // other ranks.
  Sample returned(int rank, const OpSample& op);
  // A rank reports. REQUIRES sizeClass < kClasses.
  void sample(int rank, uint32_t sizeClass, const Sample& sample);
  // The op is done everywhere: all of its late data has come.
  void done(const OpSample& op);

 private:
  struct Learned {
    Learned(int ranks, double earlyShare)
        : scatterEarly(ranks, earlyShare), broadcastEarly(ranks, earlyShare) {}

    uint32_t ops = 0;
    StageBound scatter;
    StageBound exchange;
    StageBound broadcast;
    EarlyTimeout scatterEarly;
    EarlyTimeout broadcastEarly;
  };

  Learned& classOf(uint32_t sizeClass);
  bool warm(const Learned& learned) const;
  Sample learned(uint32_t sizeClass, const StageBound::Unrest& unrest) const;

  const Options& options_;
  const int ranks_;
  std::map<uint32_t, Learned> classes_;
};

}  // namespace ubt
