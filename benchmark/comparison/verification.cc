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

// Goes over the elements and knows what each rank counts for there.
class GapWalk {
 public:
  explicit GapWalk(int ranks)
      : missing_(ranks, false), contributors_(ranks), filled_(kNotFilled) {}

  // False if a range makes no sense.
  bool add(const std::vector<RankRange>& ranges, bool filled, size_t elements) {
    const int lowest = filled ? -1 : 0;
    const int ranks = missing_.size();
    for (const auto& range : ranges) {
      if (range.rank < lowest || range.rank >= ranks ||
          range.offset > elements || range.count > elements - range.offset) {
        return false;
      }
      changes_.push_back({range.offset, range.rank, filled, true});
      changes_.push_back(
          {range.offset + range.count, range.rank, filled, false});
    }
    return true;
  }

  // To be called once all ranges have been added.
  void begin() {
    // At one index ends come first, so that adjacent ranges join.
    std::sort(
        changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
          return a.index != b.index ? a.index < b.index : a.begins < b.begins;
        });
    next_ = changes_.begin();
  }

  // False if ranges overlap. REQUIRES: called for every index, in order.
  bool moveTo(size_t index) {
    for (; next_ != changes_.end() && next_->index == index; ++next_) {
      if (next_->filled) {
        if ((filled_ == kNotFilled) != next_->begins) {
          return false;
        }
        filled_ = next_->begins ? next_->rank : kNotFilled;
      } else {
        if (missing_[next_->rank] == next_->begins) {
          return false;
        }
        missing_[next_->rank] = next_->begins;
        contributors_ += next_->begins ? -1 : 1;
      }
    }
    return true;
  }

  double weight(int rank) const {
    const double ranks = missing_.size();
    if (filled_ != kNotFilled) {
      return filled_ == rank ? ranks : 0;
    }
    return missing_[rank] ? 0 : ranks / contributors_;
  }

 private:
  static constexpr int kNotFilled = -2;

  struct Change {
    size_t index;
    int rank;
    bool filled;
    bool begins;
  };

  std::vector<Change> changes_;
  std::vector<Change>::const_iterator next_;
  std::vector<bool> missing_;  // by rank
  int contributors_;
  int filled_;  // whose contribution stands in
};

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
    // Sums of integers are never -0, so equal values are equal bits.
    if (!std::equal(data + done, data + done + count, exactInputSums_.data())) {
      return false;
    }
  }
  return true;
}

bool Verification::verifyRandom(const float* data, const Gaps& gaps) {
  if (!gaps.empty()) {
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
  GapWalk walk(ranks_);
  if (!walk.add(gaps.missing, false, elements_) ||
      !walk.add(gaps.filled, true, elements_)) {
    return false;
  }
  walk.begin();
  for (size_t i = 0; i < elements_; i++) {
    if (!walk.moveTo(i)) {
      return false;
    }
    Sum sum = {0, 0};
    for (int rank = 0; rank < ranks_; rank++) {
      const double weight = walk.weight(rank);
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
