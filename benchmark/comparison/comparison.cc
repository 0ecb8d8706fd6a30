// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/comparison.h"

#include <time.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "benchmark/comparison/step_times.h"
#include "benchmark/peak_memory.h"

namespace gloo {
namespace compare {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// After each batch the ranks exchange their measurements.
constexpr Seconds kBatchTime(.3);
constexpr size_t kRoundsPerBatchMax = 256;
constexpr size_t kRoundsMin = 3;

constexpr size_t kTurnIterationsMax = 64;

// User and system time of all threads of this process, or of this thread.
double cpuSeconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

}  // namespace

Comparison::Comparison(ControlChannel& control,
                       const std::vector<Contender>& contenders,
                       size_t elements,
                       Options options)
    : control_(control),
      contenders_(contenders),
      elements_(elements),
      options_(std::move(options)),
      verification_(control.size(), elements),
      inputs_(elements),
      data_(elements),
      measured_(contenders.size()),
      batches_(contenders.size()),
      errors_(contenders.size()),
      begun_(contenders.size()) {
  verification_.fillExact(control_.rank(), inputs_.data());
  for (const auto& contender : contenders_) {
    algorithms_.push_back(
        contender.spec.create(contender.context, data_.data(), elements_));
  }
}

std::vector<Measured> Comparison::run(
    std::chrono::duration<double> perContender,
    const std::function<void(const Progress&)>& progress) {
  total_ = perContender * contenders_.size();
  begin(progress);
  Seconds elapsed(0);
  size_t next = 1;
  while (true) {
    // Rank 0 decides for all ranks, because clocks and speeds differ.
    const auto rounds = static_cast<size_t>(control_.fromRank0(next));
    if (rounds == 0) {
      break;
    }
    const auto batchStart = Clock::now();
    runBatch(rounds);
    gather();
    rounds_ += rounds;
    elapsed = Clock::now() - start_;
    report();
    const Seconds aRound = (Clock::now() - batchStart) / (1.0 * rounds);
    const bool over = elapsed + aRound > total_ && rounds_ >= kRoundsMin;
    const Seconds left = std::min(kBatchTime, total_ - elapsed);
    next = over ? 0
                : std::clamp<size_t>(
                      static_cast<size_t>(std::max(left / aRound, 0.0)),
                      1,
                      kRoundsPerBatchMax);
  }
  finish();
  return measured_;
}

// Sums of zeros are zeros, so the buffer needs no refill.
void Comparison::runForever(
    const std::function<void(const Progress&)>& progress) {
  begin(progress);
  std::fill(data_.begin(), data_.end(), 0.f);
  while (true) {
    algorithms_.front()->run();
    iterations_++;
    reportIfDue();
  }
}

// Warms up. The time of the run begins then.
void Comparison::begin(const std::function<void(const Progress&)>& progress) {
  warmUp();
  progress_ = progress;
  start_ = reported_ = Clock::now();
}

// Untimed runs: first enough to reach the steady state, then one with inputs
// that need rounding.
void Comparison::warmUp() {
  for (size_t i = 0; i < algorithms_.size(); i++) {
    for (int run = 0; run < contenders_[i].spec.warmupRuns; run++) {
      std::copy(inputs_.begin(), inputs_.end(), data_.begin());
      algorithms_[i]->run();
    }
    verification_.fillRandom(control_.rank(), data_.data());
    control_.barrier();
    algorithms_[i]->run();
    const auto gaps = gapsOfAll(algorithms_[i]->outcome().gaps);
    if (!verification_.verifyRandom(data_.data(), gaps)) {
      measured_[i].verified = false;
    }
    control_.barrier();
  }
}

void Comparison::runBatch(size_t rounds) {
  for (size_t round = 0; round < rounds; round++) {
    for (size_t i = 0; i < algorithms_.size(); i++) {
      takeTurn(i);
      if (round + 1 == rounds) {
        check(i);
      }
    }
    const double idleStart = barrierThenCpu();
    control_.barrier();
    idleCpuSeconds_ += cpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - idleStart;
  }
}

// Checks the result that is in the buffer.
void Comparison::check(size_t contender) {
  const auto gaps = gapsOfAll(algorithms_[contender]->outcome().gaps);
  if (!verification_.verifyExact(data_.data(), gaps)) {
    measured_[contender].verified = false;
  }
  const auto error = verification_.errorOfExact(data_.data());
  errors_[contender].squares += error.squares;
  errors_[contender].sumSquares += error.sumSquares;
  batches_[contender].worst.push_back(error.worst);
}

double Comparison::barrierThenCpu() {
  control_.barrier();
  return cpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
}

// One untimed iteration, because a barrier releases the ranks at different
// times. Then the timed iterations.
void Comparison::takeTurn(size_t contender) {
  auto& algorithm = *algorithms_[contender];
  auto& measured = measured_[contender];
  auto& batch = batches_[contender];
  atTurn({contender, true, 0});
  const double cpuStart = barrierThenCpu();
  double copyCpu = 0;
  Clock::time_point turnStart;
  for (size_t i = 0; i < batch.turnIterations + 1; i++) {
    const double copyStart = cpuSeconds(CLOCK_THREAD_CPUTIME_ID);
    const auto refill = Clock::now();
    std::copy(inputs_.begin(), inputs_.end(), data_.begin());
    if (options_.turnTime >= kProgressTime) {
      reportIfDue();
    }
    turnStart += Clock::now() - refill;
    copyCpu += cpuSeconds(CLOCK_THREAD_CPUTIME_ID) - copyStart;
    const bool counts = comeLate(contender);
    const auto start = Clock::now();
    algorithm.run();
    const auto end = Clock::now();
    iterations_++;
    const double us = counts ? Seconds(end - start).count() * 1e6 : 0;
    if (i == 0) {
      turnStart = end;
    } else {
      const Outcome outcome = algorithm.outcome();
      measured.boundUs = outcome.boundUs;
      measured.missingPairs += outcome.missingPairs;
      measured.cutPairs += outcome.cutPairs;
      measured.driftElements += static_cast<double>(outcome.driftElements);
      batch.us.push_back(us);
      batch.finishedUs.push_back(Seconds(end - turnStart).count() * 1e6);
      batch.notBounded.push_back(!outcome.bounded);
      batch.expired.push_back(outcome.expired);
    }
  }
  control_.barrier();
  atTurn({contender, false, batch.turnIterations + 1});
  const double spent =
      cpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - cpuStart - copyCpu;
  const double timed = batch.turnIterations;
  measured.cpuSeconds += spent * timed / (timed + 1);
}

void Comparison::report() {
  reported_ = Clock::now();
  progress_({reported_ - start_, total_, rounds_, iterations_});
}

void Comparison::reportIfDue() {
  if (Clock::now() - reported_ > kProgressTime) {
    report();
  }
}

void Comparison::atTurn(const Turn& turn) {
  if (options_.atTurn) {
    options_.atTurn(turn);
  }
}

// Sleeps if this rank is late in this iteration. Returns whether its time
// counts: not if it is late now or is the one rank that is late at times.
bool Comparison::comeLate(size_t contender) {
  const size_t iteration = begun_[contender]++;
  const LateRanks& lateness = options_.lateness;
  const int rank = control_.rank();
  if (!lateness.isLate(rank, iteration, control_.size())) {
    return rank != lateness.rank;
  }
  std::this_thread::sleep_for(lateness.time);
  return false;
}

// Exchanges the batches and begins new ones.
void Comparison::gather() {
  for (size_t i = 0; i < batches_.size(); i++) {
    Batch& batch = batches_[i];
    Measured& measured = measured_[i];
    const auto slowest = control_.max(batch.us);
    const auto steps = stepTimes(control_.concatenate(batch.finishedUs),
                                 slowest.size(),
                                 batch.turnIterations);
    measured.stepUs.insert(measured.stepUs.end(), steps.begin(), steps.end());
    const auto notBounded = control_.max(batch.notBounded);
    const auto expired = control_.max(batch.expired);
    for (const double worst : control_.max(batch.worst)) {
      errors_[i].worst += worst;
      errors_[i].checks++;
    }
    double total = 0;
    for (size_t k = 0; k < slowest.size(); k++) {
      measured.slowestUs.push_back(slowest[k]);
      measured.boundedOps += notBounded[k] == 0;
      measured.expiredOps += expired[k] > 0;
      total += slowest[k];
    }
    // All ranks have the same times, so they compute the same number.
    const double perTurn = options_.turnTime.count() * 1e6 *
                           static_cast<double>(slowest.size()) / total;
    batch = Batch();
    batch.turnIterations = static_cast<size_t>(
        std::clamp(perTurn,
                   static_cast<double>(Batch::kTurnIterationsMin),
                   static_cast<double>(kTurnIterationsMax)));
  }
}

// Adds up the counts of all ranks.
void Comparison::finish() {
  const double elements = elements_;
  for (size_t i = 0; i < measured_.size(); i++) {
    Measured& measured = measured_[i];
    const Errors& errors = errors_[i];
    const double iterations = measured.slowestUs.size();
    const auto sums = control_.sum({measured.cpuSeconds - idleCpuSeconds_,
                                    measured.missingPairs,
                                    measured.cutPairs,
                                    measured.driftElements,
                                    errors.squares,
                                    errors.sumSquares});
    const auto maxima =
        control_.max({measured.boundUs,
                      measured.verified ? 0.0 : 1.0,
                      static_cast<double>(::benchmark::peakResidentBytes())});
    measured.cpuSeconds = std::max(sums[0], 0.0);
    measured.missingPairs = sums[1];
    measured.cutPairs = sums[2];
    measured.driftElements = sums[3];
    if (sums[5] > 0) {
      measured.meanSquaredError = sums[4] / sums[5];
      measured.worstSquaredError =
          errors.worst * elements * control_.size() / sums[5];
    }
    measured.expectedPairs =
        iterations * elements * control_.size() * control_.size();
    measured.boundUs = maxima[0];
    measured.verified = maxima[1] == 0;
    measured.peakResidentBytes = maxima[2];
  }
}

// Owners know which contributions all results lack. Contributors know the form
// of their contributions.
Gaps Comparison::gapsOfAll(const Gaps& own) {
  Gaps gaps = own;
  gaps.missing = rangesOfAll(own.missing);
  gaps.transformed = rangesOfAll(own.transformed);
  return gaps;
}

std::vector<RankRange> Comparison::rangesOfAll(
    const std::vector<RankRange>& own) {
  std::vector<double> flat;
  for (const auto& range : own) {
    flat.push_back(range.rank);
    flat.push_back(range.offset);
    flat.push_back(range.count);
  }
  const auto all = control_.concatenate(std::move(flat));
  std::vector<RankRange> ranges;
  for (size_t i = 0; i + 2 < all.size(); i += 3) {
    ranges.push_back({static_cast<int>(all[i]),
                      static_cast<size_t>(all[i + 1]),
                      static_cast<size_t>(all[i + 2])});
  }
  return ranges;
}

}  // namespace compare
}  // namespace gloo
