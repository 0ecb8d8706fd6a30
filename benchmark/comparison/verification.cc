// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/verification.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gloo {
namespace compare {

namespace {

// Prime, so that a shard in a wrong place does not go unnoticed.
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
  // 24 bits: every value is a float.
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

bool Verification::verifyExact(const float* data,
                               const Outcome& outcome) const {
  if (!outcome.missing.empty()) {
    return verifyIncomplete(data, outcome, &exactInput);
  }
  for (size_t done = 0; done < elements_; done += kPeriod) {
    const size_t count = std::min(kPeriod, elements_ - done);
    // Sums of integers are never -0, so equal values are equal bits.
    if (!std::equal(data + done, data + done + count, exactInputSums_.data())) {
      return false;
    }
  }
  return true;
}

bool Verification::verifyRandom(const float* data, const Outcome& outcome) {
  if (!outcome.missing.empty()) {
    return verifyIncomplete(data, outcome, &randomInput);
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
                                    const Outcome& outcome,
                                    Input input) const {
  // Walks over the elements with the set of ranks that are missing there.
  struct Change {
    size_t index;
    int rank;
    bool missing;
  };
  std::vector<Change> changes;
  for (const auto& range : outcome.missing) {
    if (range.rank < 0 || range.rank >= ranks_ || range.offset > elements_ ||
        range.count > elements_ - range.offset) {
      return false;
    }
    changes.push_back({range.offset, range.rank, true});
    changes.push_back({range.offset + range.count, range.rank, false});
  }
  // At one index ends come first, so that adjacent ranges join.
  std::sort(
      changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return a.index != b.index ? a.index < b.index : a.missing < b.missing;
      });
  std::vector<bool> missing(ranks_, false);
  int contributors = ranks_;
  auto next = changes.begin();
  for (size_t i = 0; i < elements_; i++) {
    for (; next != changes.end() && next->index == i; ++next) {
      if (missing[next->rank] == next->missing) {
        return false;  // the ranges of one rank overlap
      }
      missing[next->rank] = next->missing;
      contributors += next->missing ? -1 : 1;
    }
    Sum sum = {0, 0};
    for (int rank = 0; rank < ranks_ && contributors > 0; rank++) {
      if (!missing[rank]) {
        const double x = input(rank, i);
        sum.value += x * ranks_ / contributors;
        sum.magnitude += std::fabs(x) * ranks_ / contributors;
      }
    }
    if (!isClose(data[i], sum)) {
      return false;
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
  // Written so that NaN is not close to anything.
  return std::fabs(result - expected.value) <=
         ranks_ * epsilon * expected.magnitude;
}

}  // namespace compare
}  // namespace gloo
