// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "benchmark/comparison/control_channel.h"
#include "benchmark/comparison/lateness.h"
#include "benchmark/comparison/verification.h"

namespace gloo {
namespace compare {

// An algorithm and the mesh that it has to itself.
struct Contender {
  AlgorithmSpec spec;
  std::shared_ptr<Context> context;
};

// What one contender did at one size, over all ranks: the same on every rank.
struct Measured {
  // One an iteration: the time of the slowest rank, but for one that computes
  // late (Lateness), for which nobody else is to wait.
  std::vector<double> slowestUs;
  double cpuSeconds = 0;    // all ranks, timed iterations only
  size_t boundedOps = 0;    // bounded on every rank
  size_t expiredOps = 0;    // expired on at least one
  double boundUs = 0;       // the largest at the end
  double missingPairs = 0;  // (contributor, element), in all results
  double expectedPairs = 0;
  double driftElements = 0;  // filled in, in all results
  // Of the results that were checked, over ranks, elements and iterations, and
  // relative to the mean square of exact sums: zeros have 1.
  double meanSquaredError = 0;
  double worstSquaredError = 0;  // of an iteration's worst element, on average
  bool verified = true;
  // Of the process that has had most in memory since it began: all contenders
  // together, inputs and what verifies results included.
  double peakResidentBytes = 0;
};

// Runs all contenders at one size, interleaved: a turn of each, again and
// again, so that whatever else the machines do meets all of them alike.
//
// A turn is some 50 ms of back-to-back iterations, as a training step makes
// them, between two barriers: all have the same time, a faster one more of
// them. The first is not timed: a barrier lets the ranks
// go at different times, and whoever goes first would count the wait for the
// last. Where an iteration takes longer than that (Options::turnTime), longer
// turns waste less. The CPU time that a rank spends is counted up to the second
// barrier, so that work which goes on after an algorithm has returned is not
// missed; what the barriers themselves cost is measured by turns without
// iterations, and taken off, as is refilling the buffer.
//
// Results are verified after warm-up, with inputs that need rounding, and in
// the last round of every batch, some times a second, with exact ones.
class Comparison {
 public:
  struct Turn {
    size_t contender;
    bool begins;  // else it is over, and so many iterations were made:
    size_t iterations;
  };

  struct Options {
    std::chrono::duration<double> turnTime{.05};
    // Called at both ends of each turn while no rank is inside an iteration,
    // and none enters one before it has returned. May be unset, or differ
    // between ranks.
    std::function<void(const Turn&)> atTurn;
    Lateness lateness;  // the same on all ranks
  };

  struct Progress {
    std::chrono::duration<double> elapsed;
    std::chrono::duration<double> total;
    size_t rounds;
  };

  // All ranks must pass the same contenders and elements; how long to go on,
  // rank 0 decides.
  Comparison(ControlChannel& control,
             const std::vector<Contender>& contenders,
             size_t elements,
             Options options);

  // `perContender` is how long each contender's iterations take together,
  // barriers and checks included. `progress` is called now and then.
  std::vector<Measured> run(
      std::chrono::duration<double> perContender,
      const std::function<void(const Progress&)>& progress);

 private:
  // What this rank measured of one contender since the last exchange: one value
  // for each iteration.
  struct Batch {
    static constexpr size_t kTurnIterationsMin = 2;

    size_t turnIterations = kTurnIterationsMin;
    std::vector<double> us;
    std::vector<double> notBounded;
    std::vector<double> expired;
    std::vector<double> worst;  // squared error, of each check
  };
  // Of one contender, over all checks on this rank so far.
  struct Errors {
    double squares = 0;
    double sumSquares = 0;
    double worst = 0;  // at the worst rank, summed over checks
    double checks = 0;
  };

  void warmUp();
  void runBatch(size_t rounds);
  void check(size_t contender);
  void takeTurn(size_t contender);
  void atTurn(const Turn& turn);
  bool comeLate(size_t contender);
  double barrierThenCpu();
  void gather();
  void finish();
  Gaps gapsOfAll(const Gaps& own);
  std::vector<RankRange> rangesOfAll(const std::vector<RankRange>& own);

  ControlChannel& control_;
  const std::vector<Contender>& contenders_;
  const size_t elements_;
  const Options options_;
  Verification verification_;
  std::vector<float> inputs_;
  std::vector<float> data_;
  std::vector<std::unique_ptr<AllreduceUnderTest>> algorithms_;
  std::vector<Measured> measured_;
  std::vector<Batch> batches_;
  std::vector<Errors> errors_;
  std::vector<size_t> begun_;  // iterations of each, for Lateness
  size_t rounds_ = 0;
  double idleCpuSeconds_ = 0;  // of this rank, in turns without iterations
};

}  // namespace compare
}  // namespace gloo
