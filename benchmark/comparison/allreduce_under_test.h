// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <gloo/transport/device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gloo {
namespace compare {

struct Range {
  size_t offset;
  size_t count;
};

struct RankRange {
  int rank;
  size_t offset;
  size_t count;
};

// Elements that one rank reduces, and the form of the received result.
struct Shard {
  size_t offset;
  size_t count;
  uint64_t seed;     // of its transform (transport_ubt/kernels/hadamard.h)
  bool transformed;  // received as coefficients, then turned back
};

// Where a result is not the sum over all ranks. A rank's ranges are disjoint,
// in any order. In a shard that was sent transformed, they are ranges of
// coefficients (docs/semantics.md).
struct Gaps {
  // Contributions that were left out. The result there is the sum of the
  // others, times ranks / contributors; zero if there is no contributor.
  std::vector<RankRange> missing;
  // Without a received result: zero. Overrides `missing`.
  std::vector<Range> zeros{};
  // Lacking contributions that no rank here can name. Overrides `missing`.
  std::vector<Range> unknown{};
  // In order, all shards with elements; empty for an exact allreduce.
  std::vector<Shard> shards{};
  // Contributions that were transformed, each a whole shard.
  std::vector<RankRange> transformed{};

  bool complete() const {
    return missing.empty() && zeros.empty() && unknown.empty();
  }
};

// The outcome of one run on this rank. The default is an exact allreduce's.
struct Outcome {
  bool bounded = false;       // took the bounded path
  bool expired = false;       // a stage ended before all came
  double boundUs = 0;         // of both stages together; 0 if not bounded
  uint64_t missingPairs = 0;  // (contributor, element) in this rank's result
  // Pairs that are missing from all ranks' results because a stage of this rank
  // ended, and not because the network lost data.
  uint64_t cutPairs = 0;
  uint64_t driftElements = 0;  // elements of it that this rank filled in
  // Contributions missing from the shard that this rank owns, in all ranks'
  // results; contributions that this rank sent transformed; and the elements
  // that were filled in its result.
  Gaps gaps;
};

// One allreduce (sum of floats, in place) over a fixed buffer, for any number
// of runs.
class AllreduceUnderTest {
 public:
  virtual ~AllreduceUnderTest() = default;
  virtual void run() = 0;
  // Of the last run.
  virtual Outcome outcome() const { return {}; }
};

// An algorithm that can be compared, with its name on the command line.
struct AlgorithmSpec {
  using CreateDevice = std::function<std::shared_ptr<transport::Device>(
      const std::string& interface)>;  // empty: the host's own address
  using Create = std::function<std::unique_ptr<AllreduceUnderTest>(
      const std::shared_ptr<Context>& context, float* data, size_t count)>;

  std::string name;
  std::string transport;
  std::string repair;  // the policy of a bounded algorithm; else empty
  bool isBounded;      // then a row without bounded runs is a failure
  int warmupRuns;      // not timed
  bool byDefault;      // compared if no algorithms are named
  CreateDevice createDevice;
  Create create;
  // Why it cannot work with this number of ranks; empty if it can. May be
  // unset.
  std::function<std::string(int ranks)> whyNot = nullptr;
};

}  // namespace compare
}  // namespace gloo
