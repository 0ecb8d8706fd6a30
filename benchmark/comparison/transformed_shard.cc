// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/transformed_shard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/kernels/hadamard.h"

namespace gloo {
namespace compare {

namespace {

constexpr auto kType = ubt::ElementType::kFloat32;
constexpr double kBlockRoot = 8;  // of its 64 elements

}  // namespace

// A rank's contribution in the form it was sent. Raises `largest` to the
// largest magnitude of its input.
TransformedShard::Values TransformedShard::broughtBy(int rank,
                                                     Input input,
                                                     double* largest) const {
  std::vector<float> brought(shard_.count);
  for (size_t i = 0; i < brought.size(); i++) {
    brought[i] = input(rank, shard_.offset + i);
    *largest = std::max<double>(*largest, std::fabs(brought[i]));
  }
  if (transformedBy_[rank]) {
    // Inputs are far below the transform's limit.
    ubt::hadamardTransform(kType,
                           brought.data(),
                           brought.size(),
                           shard_.seed,
                           transformedBy_.size());
  }
  return Values(brought.begin(), brought.end());
}

void TransformedShard::turnBack(Values* values) const {
  std::vector<float> rounded(values->begin(), values->end());
  ubt::hadamardInverse(kType, rounded.data(), rounded.size(), shard_.seed);
  values->assign(rounded.begin(), rounded.end());
}

void TransformedShard::add(int rank,
                           const Values& brought,
                           const std::vector<GapRun>& runs,
                           Sum* sum) const {
  bool any = false;
  for (size_t k = 0; k < runs.size(); k++) {
    if (runs[k].missing[rank]) {
      continue;
    }
    any = true;
    sum->in[k]++;
    for (size_t i = begin(runs[k]); i < end(runs[k]); i++) {
      sum->values[i] += brought[i];
    }
  }
  sum->ranks += any ? 1 : 0;
}

// Scales the sum as if all ranks that contributed to any run had contributed to
// every run.
void TransformedShard::rescale(const std::vector<GapRun>& runs,
                               Sum* sum) const {
  for (size_t k = 0; k < runs.size(); k++) {
    for (size_t i = begin(runs[k]); sum->in[k] > 0 && i < end(runs[k]); i++) {
      sum->values[i] *= static_cast<double>(sum->ranks) / sum->in[k];
    }
  }
}

// The owner's result, in its form.
TransformedShard::Values TransformedShard::result(
    const std::vector<GapRun>& runs, Sum* plain, Sum* transformed) const {
  rescale(runs, plain);
  rescale(runs, transformed);
  if (plain->ranks > 0) {
    turnBack(&transformed->values);
  }
  Values result(shard_.count);
  for (size_t k = 0; k < runs.size(); k++) {
    const int in = plain->in[k] + transformed->in[k];
    // The transformed part covers every element; the plain part covers only the
    // elements that arrived.
    const int held = transformed->ranks + (plain->in[k] > 0 ? plain->ranks : 0);
    const double scale =
        in == 0 ? 0 : static_cast<double>(transformedBy_.size()) / held;
    for (size_t i = begin(runs[k]); i < end(runs[k]); i++) {
      result[i] = (plain->values[i] + transformed->values[i]) * scale;
    }
  }
  return result;
}

bool TransformedShard::verify(const float* data,
                              Input input,
                              GapWalk* walk) const {
  UBT_REQUIRE(walk->at() == begin());
  std::vector<GapRun> runs;
  while (walk->at() < end()) {
    runs.emplace_back();
    if (!walk->next(end(), &runs.back())) {
      return false;
    }
  }
  const int ranks = static_cast<int>(transformedBy_.size());
  // Plain, and transformed.
  Sum sums[] = {Sum(runs.size(), shard_.count), Sum(runs.size(), shard_.count)};
  Values fills(shard_.count);
  double largest = 0;
  for (int rank = 0; rank < ranks; rank++) {
    const Values brought = broughtBy(rank, input, &largest);
    add(rank, brought, runs, &sums[transformedBy_[rank] ? 1 : 0]);
    for (const GapRun& run : runs) {
      if (run.filled == rank && transformedBy_[rank] == shard_.transformed) {
        for (size_t i = begin(run); i < end(run); i++) {
          fills[i] = ranks * brought[i];
        }
      }
    }
  }
  Sum& plain = sums[0];
  Sum& transformed = sums[1];
  Values expected = result(runs, &plain, &transformed);
  const bool cameSo = plain.ranks == 0;  // transformed, if any rank came
  for (const auto& run : runs) {
    if (run.filled != GapRun::kNotFilled) {
      std::copy(fills.begin() + begin(run),
                fills.begin() + end(run),
                expected.begin() + begin(run));
    } else if (plain.ranks + transformed.ranks > 0 &&
               cameSo != shard_.transformed) {
      return false;
    }
  }
  if (shard_.transformed) {
    turnBack(&expected);
  }
  const double tolerance = (ranks + 12) *
                           std::numeric_limits<float>::epsilon() * ranks *
                           kBlockRoot * largest;
  for (size_t i = 0; i < shard_.count; i++) {
    // Written so that NaN always fails.
    if (!(std::fabs(data[shard_.offset + i] - expected[i]) <= tolerance)) {
      return false;
    }
  }
  return true;
}

std::optional<std::vector<TransformedShard>> transformedShards(
    const Gaps& gaps, int ranks, size_t elements) {
  std::vector<TransformedShard> shards;
  size_t at = 0;
  size_t matched = 0;
  for (const auto& shard : gaps.shards) {
    if (shard.count == 0 || shard.offset != at || shard.count > elements - at) {
      return std::nullopt;
    }
    at += shard.count;
    std::vector<bool> transformed(ranks);
    bool any = shard.transformed;
    for (const auto& range : gaps.transformed) {
      if (range.offset != shard.offset) {
        continue;
      }
      if (range.count != shard.count || range.rank < 0 || range.rank >= ranks ||
          transformed[range.rank]) {
        return std::nullopt;
      }
      transformed[range.rank] = true;
      any = true;
      matched++;
    }
    if (any) {
      shards.emplace_back(shard, std::move(transformed));
    }
  }
  if (matched != gaps.transformed.size() ||
      (!gaps.shards.empty() && at != elements)) {
    return std::nullopt;
  }
  return shards;
}

}  // namespace compare
}  // namespace gloo
