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

// How long ops may take, learned apart for each size (powers of two of bytes):
// first as long as it takes, exactly; then by their bounds. A size not seen yet
// borrows the bounds of its neighbours that have warmed up: of a larger one as
// they are, of a smaller one in proportion. Not thread-safe.
class SizeClasses {
 public:
  static constexpr uint32_t kClasses = 64;
  // Of an op of so many bytes; under kClasses.
  static uint32_t of(uint64_t bytes);

  // What ranks tell each other of a class; zero: nothing to tell.
  struct Sample {
    Duration scatter{0};
    Duration broadcast{0};
    Duration exchange{0};  // a local matter
  };

  // `options` must outlive this.
  SizeClasses(const Options& options, int ranks)
      : options_(options), ranks_(ranks) {}

  // For an op of this shape that begins now. `limit`: what the call may take,
  // whatever was learned.
  OpBounds boundsFor(const OpShape& shape,
                     const StageBound::Unrest& unrest,
                     Duration limit);
  // An op has returned with a result at the own rank. What to tell the others.
  Sample returned(int rank, const OpSample& op);
  // A rank tells. REQUIRES sizeClass < kClasses.
  void sample(int rank, uint32_t sizeClass, const Sample& sample);
  // It is done everywhere: all that is late for it has come.
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
