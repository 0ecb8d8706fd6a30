// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/verification.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "benchmark/comparison/transformed_shard.h"

namespace gloo {
namespace compare {

namespace {

// Prime, so that a shard in a wrong place is detected.
constexpr size_t kPeriod = 8191;

float exactInput(int rank, size_t index) {
  const size_t mixed = index % kPeriod * (2 * rank + 3) + 5 * rank;
  return static_cast<float>(mixed % 127) - 63;
}

float randomInput(int rank, size_t index) {
  uint64_t bits = (static_cast<uint64_t>(rank) << 40) + index + 1;
  bits *= 0x9e3779b97f4a7c15;
  bits ^= bits >> 32;
  bits *= 0xd6e8feb86659fd93;
  // 24 bits, so that every value is a float.
  return static_cast<int32_t>(bits >> 40) * (1.0f / (1 << 23)) - 1.0f;
}

}  // namespace

Verification::Verification(int ranks, size_t elements)
    : ranks_(ranks), elements_(elements) {
  const size_t distinct = std::min(elements, kPeriod);
  for (size_t i = 0; i < distinct; i++) {
    exactInputSums_.push_back(completeSum(&exactInput, i).value);
  }
}

void Verification::fillExact(int rank, float* data) const {
  const size_t distinct = exactInputSums_.size();
  for (size_t i = 0; i < distinct; i++) {
    data[i] = exactInput(rank, i);
  }
  for (size_t done = distinct; done < elements_; done += distinct) {
    std::copy_n(data, std::min(distinct, elements_ - done), data + done);
  }
}

void Verification::fillRandom(int rank, float* data) const {
  for (size_t i = 0; i < elements_; i++) {
    data[i] = randomInput(rank, i);
  }
}

bool Verification::verifyExact(const float* data, const Gaps& gaps) const {
  if (!gaps.empty()) {
    return verifyIncomplete(data, gaps, &exactInput);
  }
  for (size_t done = 0; done < elements_; done += kPeriod) {
    const size_t count = std::min(kPeriod, elements_ - done);
    // Small integers: a transform and its inverse round no more than a sum.
    // They may leave -0, which equals 0.
    if (!std::equal(data + done, data + done + count, exactInputSums_.data())) {
      return false;
    }
  }
  return true;
}

Verification::Error Verification::errorOfExact(const float* data) const {
  Error error;
  for (size_t i = 0; i < elements_; i++) {
    const double sum = exactInputSums_[i % kPeriod];
    const double off = data[i] - sum;
    error.squares += off * off;
    error.sumSquares += sum * sum;
    error.worst = std::max(error.worst, off * off);
  }
  return error;
}

bool Verification::verifyRandom(const float* data, const Gaps& gaps) {
  if (!gaps.empty() || !gaps.transformed.empty()) {
    return verifyIncomplete(data, gaps, &randomInput);
  }
  if (randomSums_.empty()) {
    randomSums_.reserve(elements_);
    randomMagnitudes_.reserve(elements_);
    for (size_t i = 0; i < elements_; i++) {
      const Sum sum = completeSum(&randomInput, i);
      randomSums_.push_back(sum.value);
      randomMagnitudes_.push_back(sum.magnitude);
    }
  }
  for (size_t i = 0; i < elements_; i++) {
    if (!isClose(data[i], {randomSums_[i], randomMagnitudes_[i]})) {
      return false;
    }
  }
  return true;
}

bool Verification::verifyIncomplete(const float* data,
                                    const Gaps& gaps,
                                    Input input) const {
  GapWalk walk(ranks_, elements_);
  const auto shards = transformedShards(gaps, ranks_, elements_);
  if (!shards || !walk.begin(gaps)) {
    return false;
  }
  for (const auto& shard : *shards) {
    if (!verifyPlain(data, shard.begin(), input, &walk) ||
        !shard.verify(data, input, &walk)) {
      return false;
    }
  }
  return verifyPlain(data, elements_, input, &walk);
}

// Verifies from the walk's position up to `end`.
bool Verification::verifyPlain(const float* data,
                               size_t end,
                               Input input,
                               GapWalk* walk) const {
  GapRun run;
  while (walk->at() < end) {
    if (!walk->next(end, &run)) {
      return false;
    }
    if (run.filled == Gaps::kUnknown) {
      continue;
    }
    for (size_t i = run.begin; i < run.end; i++) {
      Sum sum = {0, 0};
      for (int rank = 0; rank < ranks_; rank++) {
        const double weight = run.weight(rank);
        if (weight > 0) {
          const double x = input(rank, i);
          sum.value += weight * x;
          sum.magnitude += weight * std::fabs(x);
        }
      }
      if (!isClose(data[i], sum)) {
        return false;
      }
    }
  }
  return true;
}

Verification::Sum Verification::completeSum(Input input, size_t index) const {
  Sum sum = {0, 0};
  for (int rank = 0; rank < ranks_; rank++) {
    const double x = input(rank, index);
    sum.value += x;
    sum.magnitude += std::fabs(x);
  }
  return sum;
}

bool Verification::isClose(float result, Sum expected) const {
  const double epsilon = std::numeric_limits<float>::epsilon();
  // Written so that NaN always fails.
  return std::fabs(result - expected.value) <=
         ranks_ * epsilon * expected.magnitude;
}

}  // namespace compare
}  // namespace gloo
