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

// Something about rank `rank`'s elements [offset, offset + count).
struct RankRange {
  int rank;
  size_t offset;
  size_t count;
};

// Elements that one rank reduces, and how their result came here.
struct Shard {
  size_t offset;
  size_t count;
  uint64_t seed;     // of its transform (transport_ubt/kernels/hadamard.h)
  bool transformed;  // it came as coefficients, and was turned back here
};

// Where a result is not the sum over all ranks. Ranges are disjoint for each
// rank, in any order; of a shard that travelled transformed they are ranges of
// its coefficients (docs/semantics.md).
struct Gaps {
  // Contributions that were left out: there, the result is the sum of those
  // that remain, times ranks / contributors; zero where none does.
  std::vector<RankRange> missing;
  // Where no result came, and ranks times this rank's contribution stands in
  // for it, or zero for rank -1; or, for kUnknown, one that lacks contributions
  // nobody here can name. Overrides `missing`.
  static constexpr int kUnknown = -3;
  std::vector<RankRange> filled;
  // In order, all that have elements; none of an exact allreduce.
  std::vector<Shard> shards{};
  // Contributions that were transformed, each a whole shard.
  std::vector<RankRange> transformed{};

  bool empty() const { return missing.empty() && filled.empty(); }
};

// What one run came to on this rank. The default is that of an exact allreduce.
struct Outcome {
  bool bounded = false;        // took the bounded path
  bool expired = false;        // a stage ended at its bound
  double boundUs = 0;          // for both stages together; 0 when not bounded
  uint64_t missingPairs = 0;   // (contributor, element) in this rank's result
  uint64_t driftElements = 0;  // of it that this rank filled in
  // What was left out of the shard that this rank owns, in everybody's result;
  // what this rank contributed transformed, and what is filled in its result.
  Gaps gaps;
};

// One allreduce (sum of floats, in place) over a fixed buffer, as often as
// wanted.
class AllreduceUnderTest {
 public:
  virtual ~AllreduceUnderTest() = default;
  virtual void run() = 0;
  // Of the last run.
  virtual Outcome outcome() const { return {}; }
};

// An algorithm that can be compared, under the name it has on the command line.
struct AlgorithmSpec {
  using CreateDevice = std::function<std::shared_ptr<transport::Device>(
      const std::string& interface)>;  // empty: the host's own address
  using Create = std::function<std::unique_ptr<AllreduceUnderTest>(
      const std::shared_ptr<Context>& context, float* data, size_t count)>;

  std::string name;
  std::string transport;
  std::string repair;  // the policy, for a bounded algorithm; else empty
  bool isBounded;      // then a row without bounded runs is a failure
  int warmupRuns;      // not timed
  bool byDefault;      // compared when no algorithms are named
  CreateDevice createDevice;
  Create create;
  // Why it cannot work with so many ranks; empty when it can. May be unset.
  std::function<std::string(int ranks)> whyNot = nullptr;
};

}  // namespace compare
}  // namespace gloo
