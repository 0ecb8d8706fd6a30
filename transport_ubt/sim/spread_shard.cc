// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/spread_shard.h"

#include <algorithm>
#include <cmath>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/sim/narrow_float.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace ubt::sim {
namespace {

// How far off rounding may be, relative to the largest value. This allows
// several roundings.
double tolerance(ElementType type) {
  switch (type) {
    case ElementType::kFloat64:
      return 1e-12;
    case ElementType::kFloat32:
      return 1e-4;
    case ElementType::kFloat16:
      return 0.05;
    default:
      return 0.4;
  }
}

}  // namespace

SpreadShard::SpreadShard(const SimOptions& options,
                         const Inputs& inputs,
                         const OpKey& key,
                         Shard shard,
                         const std::vector<Outcome>& outcomes)
    : options_(options),
      ranks_(options.ranks),
      inputs_(inputs),
      key_(key),
      shard_(shard),
      outcomes_(outcomes),
      shape_(inputs.shapeOf(key)),
      layout_(shape_, options.ranks, options.slotBytes) {
  elements_ = layout_.shardSize(shard_) / elementSize(shape_.type);
  if (outcomes[shard].there) {
    seed_ = transformSeed(outcomes[shard].report.op, shard);
    for (const std::vector<Form>& forms : possibleForms()) {
      possible_.push_back(sum(forms));
    }
  }
}

// All possible combinations of forms, by rank, that ranks may have contributed
// in.
std::vector<std::vector<Form>> SpreadShard::possibleForms() const {
  std::vector<std::vector<Form>> all(1, std::vector<Form>(ranks_));
  for (int rank = 0; rank < ranks_; rank++) {
    if (outcomes_[rank].there) {
      for (std::vector<Form>& forms : all) {
        forms[rank] = outcomes_[rank].report.contributed[shard_];
      }
    } else if (options_.mayTransform(rank) &&
               !outcomes_[shard_].report.contributors[rank].none()) {
      const size_t known = all.size();
      for (size_t i = 0; i < known; i++) {
        all.push_back(all[i]);
        all.back()[rank] = Form::kTransformed;
      }
    }
  }
  return all;
}

size_t SpreadShard::first(uint32_t slot) const {
  return layout_.slotOffset(slot) / elementSize(shape_.type);
}

// The rank's contribution in the form that it sent.
SpreadShard::Values SpreadShard::broughtBy(int rank, Form form) const {
  std::vector<std::byte> bucket(shape_.bytes());
  inputs_.fill(key_, rank, bucket.data());
  std::byte* const shard = bucket.data() + layout_.shardOffset(shard_);
  if (form == Form::kTransformed) {
    plainReduction().transform(shape_.type, shard, elements_, seed_, ranks_);
  }
  return loadElements(shape_.type, shard, elements_);
}

ShardSum SpreadShard::sum(const std::vector<Form>& forms) const {
  const OpReport& report = outcomes_[shard_].report;
  std::vector<Run> runs;
  for (uint32_t slot = 0; slot < layout_.slots(shard_); slot++) {
    const size_t begin = first(slot);
    runs.push_back({begin, begin + layout_.slotElements(shard_, slot), {}});
    for (const BitSet& contributors : report.contributors) {
      runs.back().in.push_back(contributors.test(slot));
    }
  }
  std::vector<bool> transformed;
  transformed.reserve(forms.size());
  for (const Form form : forms) {
    transformed.push_back(form == Form::kTransformed);
  }
  return ShardSum(
      runs,
      transformed,
      [this, &forms](int rank) { return broughtBy(rank, forms[rank]); },
      [this](Values* values) { plainTransform(values, seed_, true); });
}

bool SpreadShard::filled(int rank, uint32_t slot) const {
  const size_t begin =
      layout_.shardOffset(shard_) / elementSize(shape_.type) + first(slot);
  const auto& filled = outcomes_[rank].report.filled;
  return rank != shard_ &&
         std::any_of(filled.begin(), filled.end(), [begin](auto& range) {
           return range.offset == begin;
         });
}

bool SpreadShard::filledAt(int rank) const {
  for (uint32_t slot = 0; slot < layout_.slots(shard_); slot++) {
    if (filled(rank, slot)) {
      return true;
    }
  }
  return false;
}

const std::byte* SpreadShard::resultAt(int rank) const {
  return outcomes_[rank].result.data() + layout_.shardOffset(shard_);
}

bool SpreadShard::isRightAt(int rank) const {
  UBT_REQUIRE(known());
  return std::any_of(
      possible_.begin(), possible_.end(), [this, rank](const ShardSum& sum) {
        return isRightAt(rank, sum);
      });
}

bool SpreadShard::isRightAt(int rank, const ShardSum& sum) const {
  const OpReport& report = outcomes_[rank].report;
  Values expected = sum.values;
  const Form own = report.contributed[shard_];
  const Form form = report.forms.empty() ? own : report.forms[shard_];
  bool anyReceived = false;
  for (uint32_t slot = 0; slot < layout_.slots(shard_); slot++) {
    if (!filled(rank, slot)) {
      anyReceived = true;
      continue;
    }
    for (size_t i = first(slot);
         i < first(slot) + layout_.slotElements(shard_, slot);
         i++) {
      expected[i] = 0;
    }
  }
  if (anyReceived && sum.anyIn &&
      (form == Form::kTransformed) != sum.transformed) {
    return false;
  }
  if (form == Form::kTransformed) {
    plainTransform(&expected, seed_, true);
  }
  const Values got = loadElements(shape_.type, resultAt(rank), elements_);
  double largest = std::max(1.0, sum.magnitude / elements_ * ranks_ * 8);
  for (const double value : expected) {
    largest = std::max(largest, std::abs(value));
  }
  for (size_t i = 0; i < elements_; i++) {
    if (!(std::abs(got[i] - expected[i]) <= tolerance(shape_.type) * largest)) {
      return false;
    }
  }
  return true;
}

}  // namespace ubt::sim
