// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/comparison.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace gloo {
namespace compare {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Between batches the ranks exchange what they measured.
constexpr Seconds kBatchTime(.3);
constexpr size_t kRoundsPerBatchMax = 256;
constexpr size_t kRoundsMin = 3;

// User and system time of all threads of this process.
double processCpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

}  // namespace

// What this rank measured since the last exchange: one value for each round
// and contender, contender first.
struct Comparison::Batch {
  std::vector<double> us;
  std::vector<double> notBounded;
  std::vector<double> expired;
};

Comparison::Comparison(ControlChannel& control,
                       const std::vector<Contender>& contenders,
                       size_t elements)
    : control_(control),
      contenders_(contenders),
      elements_(elements),
      verification_(control.size(), elements),
      inputs_(elements),
      data_(elements),
      measured_(contenders.size()) {
  verification_.fillExact(control_.rank(), inputs_.data());
  for (const auto& contender : contenders_) {
    algorithms_.push_back(
        contender.spec.create(contender.context, data_.data(), elements_));
  }
}

std::vector<Measured> Comparison::run(
    std::chrono::duration<double> perContender,
    const std::function<void(const Progress&)>& progress) {
  warmUp();
  const Seconds total = perContender * contenders_.size();
  const auto start = Clock::now();
  Seconds elapsed(0);
  size_t next = 1;
  while (true) {
    // Rank 0 decides for all: clocks and speeds differ.
    const auto rounds = static_cast<size_t>(control_.fromRank0(next));
    if (rounds == 0) {
      break;
    }
    Batch batch;
    runBatch(rounds, batch);
    gather(batch);
    rounds_ += rounds;
    elapsed = Clock::now() - start;
    progress({elapsed, total, rounds_});
    const Seconds aRound = elapsed / rounds_;
    const Seconds left = std::min(kBatchTime, total - elapsed);
    next = std::min(kRoundsPerBatchMax,
                    static_cast<size_t>(std::max(left / aRound, 0.0)));
    if (next == 0 && rounds_ < kRoundsMin) {
      next = 1;
    }
  }
  finish();
  return measured_;
}

// Untimed: first until everything is as it stays, then once with inputs that
// need rounding.
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

void Comparison::runBatch(size_t rounds, Batch& batch) {
  for (size_t round = 0; round < rounds; round++) {
    for (size_t i = 0; i < algorithms_.size(); i++) {
      std::copy(inputs_.begin(), inputs_.end(), data_.begin());
      const auto sample = measure(algorithms_[i].get());
      auto& measured = measured_[i];
      measured.cpuSeconds += sample.cpuSeconds;
      measured.boundUs = sample.outcome.boundUs;
      measured.missingPairs += sample.outcome.missingPairs;
      batch.us.push_back(sample.us);
      batch.notBounded.push_back(!sample.outcome.bounded);
      batch.expired.push_back(sample.outcome.expired);
      if (round + 1 == rounds) {
        const auto gaps = gapsOfAll(sample.outcome.gaps);
        if (!verification_.verifyExact(data_.data(), gaps)) {
          measured.verified = false;
        }
      }
    }
    idleCpuSeconds_ += measure(nullptr).cpuSeconds;
  }
}

Comparison::Sample Comparison::measure(AllreduceUnderTest* algorithm) {
  Sample sample;
  control_.barrier();
  const double cpuStart = processCpuSeconds();
  if (algorithm != nullptr) {
    const auto start = Clock::now();
    algorithm->run();
    sample.us = Seconds(Clock::now() - start).count() * 1e6;
    sample.outcome = algorithm->outcome();
  }
  control_.barrier();
  sample.cpuSeconds = processCpuSeconds() - cpuStart;
  return sample;
}

void Comparison::gather(const Batch& batch) {
  const auto slowest = control_.max(batch.us);
  const auto notBounded = control_.max(batch.notBounded);
  const auto expired = control_.max(batch.expired);
  for (size_t i = 0; i < slowest.size(); i++) {
    auto& measured = measured_[i % measured_.size()];
    measured.slowestUs.push_back(slowest[i]);
    measured.boundedOps += notBounded[i] == 0;
    measured.expiredOps += expired[i] > 0;
  }
}

// Sums up over the ranks what was counted on each.
void Comparison::finish() {
  const double elements = elements_;
  for (auto& measured : measured_) {
    const double iterations = measured.slowestUs.size();
    const auto sums = control_.sum(
        {measured.cpuSeconds - idleCpuSeconds_, measured.missingPairs});
    const auto maxima =
        control_.max({measured.boundUs, measured.verified ? 0.0 : 1.0});
    measured.cpuSeconds = std::max(sums[0], 0.0);
    measured.missingPairs = sums[1];
    measured.expectedPairs =
        iterations * elements * control_.size() * control_.size();
    measured.boundUs = maxima[0];
    measured.verified = maxima[1] == 0;
  }
}

// An owner knows what it left out; all results lack that.
Gaps Comparison::gapsOfAll(const Gaps& own) {
  std::vector<double> flat;
  for (const auto& range : own.missing) {
    flat.push_back(range.rank);
    flat.push_back(range.offset);
    flat.push_back(range.count);
  }
  const auto all = control_.concatenate(std::move(flat));
  Gaps gaps = {{}, own.filled};
  for (size_t i = 0; i + 2 < all.size(); i += 3) {
    gaps.missing.push_back({static_cast<int>(all[i]),
                            static_cast<size_t>(all[i + 1]),
                            static_cast<size_t>(all[i + 2])});
  }
  return gaps;
}

}  // namespace compare
}  // namespace gloo
