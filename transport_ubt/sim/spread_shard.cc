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

SpreadShard::Sum SpreadShard::sum(const std::vector<Form>& forms) const {
  Sum sum;
  const OpReport& report = outcomes_[shard_].report;
  Values sums[2] = {Values(elements_), Values(elements_)};
  std::vector<int> in[2];  // by slot: number of contributors
  int ranks[2] = {0, 0};
  for (std::vector<int>& count : in) {
    count.resize(layout_.slots(shard_));
  }
  for (int rank = 0; rank < ranks_; rank++) {
    if (report.contributors[rank].none()) {
      continue;
    }
    const Values brought = broughtBy(rank, forms[rank]);
    const auto form = static_cast<size_t>(forms[rank]);
    ranks[form]++;
    for (uint32_t slot = 0; slot < layout_.slots(shard_); slot++) {
      if (!report.contributors[rank].test(slot)) {
        continue;
      }
      in[form][slot]++;
      for (size_t i = 0; i < layout_.slotElements(shard_, slot); i++) {
        sums[form][first(slot) + i] += brought[first(slot) + i];
        sum.magnitude += std::abs(brought[first(slot) + i]);
      }
    }
  }
  Values& plain = sums[0];
  Values& transformed = sums[1];
  const int both = ranks[0] + ranks[1];
  sum.anyIn = both > 0;
  sum.form = ranks[0] == 0 ? Form::kTransformed : Form::kPlain;
  const auto rescale = [&](Values* values, uint32_t slot, int to, int from) {
    for (size_t i = 0; i < layout_.slotElements(shard_, slot); i++) {
      (*values)[first(slot) + i] *= from == 0 ? 0 : 1.0 * to / from;
    }
  };
  for (uint32_t slot = 0; slot < layout_.slots(shard_); slot++) {
    rescale(&plain, slot, ranks[0], in[0][slot]);
    rescale(&transformed, slot, ranks[1], in[1][slot]);
  }
  if (sum.form == Form::kPlain) {
    plainTransform(&transformed, seed_, true);
  }
  sum.values.resize(elements_);
  for (uint32_t slot = 0; slot < layout_.slots(shard_); slot++) {
    const int missed =
        in[0][slot] == 0 && sum.form == Form::kPlain ? ranks[0] : 0;
    const bool none = in[0][slot] + in[1][slot] == 0;
    for (size_t i = first(slot);
         i < first(slot) + layout_.slotElements(shard_, slot);
         i++) {
      sum.values[i] = none || both == missed ? 0
                                             : (plain[i] + transformed[i]) *
                                                   ranks_ / (both - missed);
    }
  }
  return sum;
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
      possible_.begin(), possible_.end(), [this, rank](const Sum& sum) {
        return isRightAt(rank, sum);
      });
}

bool SpreadShard::isRightAt(int rank, const Sum& sum) const {
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
  if (anyReceived && sum.anyIn && form != sum.form) {
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
