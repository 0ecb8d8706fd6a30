// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "benchmark/comparison/allreduce_under_test.h"
#include "benchmark/comparison/late_ranks.h"
#include "benchmark/comparison/verification.h"
#include "benchmark/control_channel.h"

namespace gloo {
namespace compare {

using benchmark::ControlChannel;

// An algorithm and its own mesh.
struct Contender {
  AlgorithmSpec spec;
  std::shared_ptr<Context> context;
};

// One contender's measurements at one size, over all ranks. Equal on every
// rank.
struct Measured {
  // The time of the slowest rank, for each iteration. A rank that computes late
  // (LateRanks) does not count, because no other rank should wait for it.
  std::vector<double> slowestUs;
  // From the end of an iteration to the end of the next one (stepTimes).
  std::vector<double> stepUs;
  double cpuSeconds = 0;    // all ranks, timed iterations only
  size_t boundedOps = 0;    // bounded on every rank
  size_t expiredOps = 0;    // expired on at least one
  double boundUs = 0;       // the largest at the end
  double missingPairs = 0;  // (contributor, element), in all results
  double cutPairs = 0;      // of these: left out, not lost by the network
  double expectedPairs = 0;
  double driftElements = 0;  // filled in, in all results
  // Errors of the checked results, over ranks, elements and iterations,
  // relative to the mean square of exact sums. A result of zeros has an error
  // of 1.
  double meanSquaredError = 0;
  double worstSquaredError = 0;  // of an iteration's worst element; mean
  bool verified = true;
  // Peak memory of the process with the highest peak, since its start. Includes
  // all contenders, the inputs and the verification.
  double peakResidentBytes = 0;
};

// Runs all contenders at one size, interleaved in repeated turns, so that other
// load on the machines affects all of them equally.
//
// A turn is about 50 ms of back-to-back iterations, as in a training step,
// between two barriers. All contenders get the same time, so a faster one makes
// more iterations. The first iteration is not timed: a barrier releases the
// ranks at different times, so the first rank's time would include its wait for
// the last. If an iteration takes longer than Options::turnTime, longer turns
// waste less.
//
// Times of steps leave out the time that a rank needs to refill the buffer.
//
// The CPU time of a rank is counted up to the second barrier, so it includes
// work that continues after an algorithm has returned. The cost of the barriers
// is measured by turns without iterations and subtracted, like that of
// refilling the buffer.
//
// Results are verified after warm-up, with inputs that need rounding, and in
// the last round of every batch, several times a second, with exact inputs.
class Comparison {
 public:
  struct Turn {
    size_t contender;
    bool begins;  // or it ends, after this many iterations:
    size_t iterations;
  };

  struct Options {
    std::chrono::duration<double> turnTime{.05};
    // Called at both ends of each turn. During the call no rank is inside an
    // iteration or enters one. May be unset, and may differ between ranks.
    std::function<void(const Turn&)> atTurn;
    LateRanks lateness;  // the same on all ranks
  };

  static constexpr std::chrono::milliseconds kProgressTime{250};
  struct Progress {
    std::chrono::duration<double> elapsed;
    std::chrono::duration<double> total;
    size_t rounds;
    size_t iterations;  // of all contenders, untimed ones too
  };

  // All ranks must pass the same contenders and elements. Rank 0 decides how
  // long the run takes.
  Comparison(ControlChannel& control,
             const std::vector<Contender>& contenders,
             size_t elements,
             Options options);

  // `perContender` is the time for all iterations of each contender, including
  // barriers and checks. `progress` is called several times a second,
  // unless an iteration takes longer. In turns of at least kProgressTime it is
  // called between iterations, and otherwise after some turns.
  std::vector<Measured> run(
      std::chrono::duration<double> perContender,
      const std::function<void(const Progress&)>& progress);

  // Warms up. Then it runs the first contender all the time, without barriers,
  // and never returns: a second job next to a measured one. `progress` is
  // called as in run().
  [[noreturn]] void runForever(
      const std::function<void(const Progress&)>& progress);

 private:
  // This rank's measurements of one contender since the last exchange: one
  // value for each iteration.
  struct Batch {
    static constexpr size_t kTurnIterationsMin = 2;

    size_t turnIterations = kTurnIterationsMin;
    std::vector<double> us;
    std::vector<double> finishedUs;  // since the untimed iteration of its turn
    std::vector<double> notBounded;
    std::vector<double> expired;
    std::vector<double> worst;  // squared error, of each check
  };
  // Errors of one contender, over all checks on this rank.
  struct Errors {
    double squares = 0;
    double sumSquares = 0;
    double worst = 0;  // at the worst rank, summed over checks
    double checks = 0;
  };

  void begin(const std::function<void(const Progress&)>& progress);
  void warmUp();
  void runBatch(size_t rounds);
  void check(size_t contender);
  void takeTurn(size_t contender);
  void atTurn(const Turn& turn);
  void report();
  void reportIfDue();
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
  std::vector<size_t> begun_;  // iterations of each, for LateRanks
  std::function<void(const Progress&)> progress_;
  std::chrono::duration<double> total_{0};
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point reported_;
  size_t rounds_ = 0;
  size_t iterations_ = 0;
  double idleCpuSeconds_ = 0;  // of this rank, in turns without iterations
};

}  // namespace compare
}  // namespace gloo
