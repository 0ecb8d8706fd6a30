// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/verification.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "transport_ubt/kernels/hadamard.h"

namespace gloo {
namespace compare {

namespace {

constexpr auto kType = ubt::ElementType::kFloat32;
constexpr double kBlockRoot = 8;  // of its 64 elements

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

const Verification::Input Verification::kExact = {&exactInput, 63};
const Verification::Input Verification::kRandom = {&randomInput, 1};

Verification::Verification(int ranks, size_t elements)
    : ranks_(ranks), elements_(elements) {
  const size_t distinct = std::min(elements, kPeriod);
  for (size_t i = 0; i < distinct; i++) {
    float sum = 0;
    for (int rank = 0; rank < ranks; rank++) {
      sum += exactInput(rank, i);
    }
    exactSums_.push_back(sum);
  }
}

void Verification::fillExact(int rank, float* data) const {
  const size_t distinct = exactSums_.size();
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
  if (!gaps.complete()) {
    return verify(data, gaps, kExact);
  }
  for (size_t done = 0; done < elements_; done += kPeriod) {
    const size_t count = std::min(kPeriod, elements_ - done);
    // Small integers: a transform and its inverse round no more than a sum.
    // They may leave -0, which equals 0.
    if (!std::equal(data + done, data + done + count, exactSums_.data())) {
      return false;
    }
  }
  return true;
}

Verification::Error Verification::errorOfExact(const float* data) const {
  Error error;
  for (size_t i = 0; i < elements_; i++) {
    const double sum = exactSums_[i % kPeriod];
    const double off = data[i] - sum;
    error.squares += off * off;
    error.sumSquares += sum * sum;
    error.worst = std::max(error.worst, off * off);
  }
  return error;
}

bool Verification::verifyRandom(const float* data, const Gaps& gaps) const {
  return verify(data, gaps, kRandom);
}

bool Verification::verify(const float* data,
                          const Gaps& gaps,
                          const Input& input) const {
  const auto parts = partsOf(gaps, ranks_, elements_);
  return parts &&
         std::all_of(parts->begin(), parts->end(), [&](const Part& part) {
           return verify(data + part.offset, part, input);
         });
}

bool Verification::verify(const float* data,
                          const Part& part,
                          const Input& input) const {
  using Values = ubt::sim::ShardSum::Values;
  const auto sent = [&](int rank) {
    std::vector<float> values(part.count);
    for (size_t i = 0; i < part.count; i++) {
      values[i] = input.at(rank, part.offset + i);
    }
    if (part.sentTransformed[rank]) {
      // Inputs are far below the transform's limit.
      ubt::hadamardTransform(
          kType, values.data(), part.count, part.seed, ranks_);
    }
    return Values(values.begin(), values.end());
  };
  const auto inverse = [&](Values* values) {
    std::vector<float> rounded(values->begin(), values->end());
    ubt::hadamardInverse(kType, rounded.data(), part.count, part.seed);
    values->assign(rounded.begin(), rounded.end());
  };
  ubt::sim::ShardSum sum(part.runs, part.sentTransformed, sent, inverse);
  bool received = false;
  for (size_t k = 0; k < part.runs.size(); k++) {
    if (part.results[k] == Part::Result::kSum) {
      received = true;
      continue;
    }
    std::fill(sum.values.begin() + part.runs[k].begin,
              sum.values.begin() + part.runs[k].end,
              0);
    if (part.results[k] == Part::Result::kUnknown && !part.isPlain()) {
      return false;
    }
  }
  if (!part.isPlain() && received && sum.anyIn &&
      sum.transformed != part.transformed) {
    return false;
  }
  if (part.transformed) {
    inverse(&sum.values);
  }
  const double roundings = part.isPlain() ? ranks_ : (ranks_ + 12) * kBlockRoot;
  const double rounding = roundings * std::numeric_limits<float>::epsilon() *
                          ranks_ * input.largest;
  for (size_t k = 0; k < part.runs.size(); k++) {
    const bool zero = part.isPlain() && part.results[k] == Part::Result::kZero;
    const double tolerance = zero ? 0 : rounding;
    for (size_t i = part.runs[k].begin;
         part.results[k] != Part::Result::kUnknown && i < part.runs[k].end;
         i++) {
      // Written so that NaN always fails.
      if (!(std::fabs(data[i] - sum.values[i]) <= tolerance)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace compare
}  // namespace gloo
