// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/trace/replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/learn/absence_budget.h"
#include "transport_ubt/core/learn/budget_split.h"
#include "transport_ubt/core/learn/cut_factor.h"
#include "transport_ubt/core/learn/late_entries.h"
#include "transport_ubt/core/learn/stop_rule.h"
#include "transport_ubt/core/learn/usual_times.h"

namespace ubt {
namespace {

constexpr TimePoint kStart{};  // of a stage's clock

// When every sender's data was complete.
Duration completeAt(const StageRecord& stage) {
  Duration last{0};
  for (size_t rank = 0; rank < stage.senders.size(); rank++) {
    if (static_cast<int>(rank) != stage.rank) {
      last = std::max(last, stage.senders[rank].completeAt(stage.slots));
    }
  }
  return last;
}

// q: when half of the others were through.
Duration halfThroughAt(const StageRecord& stage) {
  std::vector<Duration> through;
  for (size_t rank = 0; rank < stage.senders.size(); rank++) {
    if (static_cast<int>(rank) != stage.rank) {
      const StageRecord::Sender& sender = stage.senders[rank];
      through.push_back(
          std::min(sender.completeAt(stage.slots), sender.throughAt));
    }
  }
  const auto half = through.begin() + (through.size() + 1) / 2 - 1;
  std::nth_element(through.begin(), half, through.end());
  return *half;
}

// Of the ranks that entered at `until` or before.
Duration lastEntry(const StageRecord& stage, Duration until) {
  Duration last{0};
  for (const StageRecord::Sender& sender : stage.senders) {
    if (sender.enteredAt <= until) {
      last = std::max(last, sender.enteredAt);
    }
  }
  return last;
}

// One owner over the ops of a context.
class Owner {
 public:
  // Without `learns` only the usual times are learned, and no absent rank is
  // cut.
  Owner(int ranks, const ReplayOptions& options, bool learns)
      : options_(options), learns_(learns), usual_(ranks) {}

  struct End {
    Duration at{0};
    uint64_t late = 0;  // contributions of a slot that were cut
    int absent = 0;     // ranks
  };

  // Ends the stage, and learns from it. `exact`: it waits for everything.
  End take(const StageRecord& stage, double factor, double earned, bool exact) {
    budget_.earn(earned);
    const StopRule rule{usual_.usual(), factor, 2 * options_.lateness};
    const TimePoint q = kStart + halfThroughAt(stage);
    End end;
    end.at = completeAt(stage);
    if (!exact && usual_.any()) {
      end = cut(stage, rule, q, end.at);
    }
    const Duration most = usual_.mostProjected();
    for (size_t rank = 0; rank < stage.senders.size(); rank++) {
      if (static_cast<int>(rank) == stage.rank) {
        usual_.complete(stage.rank, stage.senders[rank].enteredAt);
        continue;
      }
      const Duration took = stage.senders[rank].completeAt(stage.slots);
      if (took <= end.at) {
        usual_.complete(static_cast<int>(rank), took);
      } else {
        usual_.cut(static_cast<int>(rank), took, most);
      }
    }
    return end;
  }

 private:
  End cut(const StageRecord& stage,
          const StopRule& rule,
          TimePoint q,
          Duration complete) {
    const auto& senders = stage.senders;
    const Duration absentEnd = rule.absentEnd(kStart, q) - kStart;
    End end;
    for (const StageRecord::Sender& sender : senders) {
      end.absent += sender.enteredAt > absentEnd;
    }
    const double cost = static_cast<double>(end.absent) / senders.size();
    const bool cutsAbsent = learns_ && end.absent > 0 &&
                            lateEntries_.cutsPay(rule.absentWait()) &&
                            cost <= budget_.tokens();
    lateEntries_.add(lastEntry(stage, Duration::max()) - rule.base(kStart, q));
    if (cutsAbsent) {
      budget_.spend(cost);
    } else {
      end.absent = 0;
    }
    const Duration entryEnd = cutsAbsent ? absentEnd : Duration::max();
    const auto isCut = [&](const StageRecord::Sender& sender) {
      return sender.enteredAt > entryEnd;
    };
    const Duration networkEnd =
        rule.networkEnd(kStart, q, kStart + lastEntry(stage, entryEnd)) -
        kStart;
    end.at = cutsAbsent ? absentEnd : Duration{0};
    for (size_t rank = 0; rank < senders.size(); rank++) {
      if (static_cast<int>(rank) != stage.rank && !isCut(senders[rank])) {
        end.at = std::max(end.at, senders[rank].completeAt(stage.slots));
      }
    }
    end.at = std::min({end.at, networkEnd, complete});
    for (size_t rank = 0; rank < senders.size(); rank++) {
      if (static_cast<int>(rank) != stage.rank && !isCut(senders[rank])) {
        end.late += senders[rank].after(end.at, stage.slots);
      }
    }
    return end;
  }

  const ReplayOptions options_;
  const bool learns_;
  UsualTimes usual_;
  AbsenceBudget budget_;
  LateEntries lateEntries_;
};

// `fixed`: the constant x; empty: it is learned.
Replayed replay(const std::vector<RecordedOp>& ops,
                const ReplayOptions& options,
                std::optional<double> fixed,
                bool exact) {
  Replayed replayed;
  if (ops.empty()) {
    return replayed;
  }
  const auto ranks = static_cast<int>(ops[0].size());
  std::vector<Owner> owners(ranks, Owner(ranks, options, !fixed));
  CutFactor factor;
  BudgetSplit split;  // late, absent
  for (size_t number = 0; number < ops.size(); number++) {
    const bool warm = number >= options.warmupOps;
    Duration took{0};
    double cutLate = 0;
    double cutAbsent = 0;
    for (int rank = 0; rank < ranks; rank++) {
      const StageRecord& stage = ops[number][rank];
      const Owner::End end =
          owners[rank].take(stage,
                            fixed.value_or(factor.value()),
                            warm ? split.forSecond(options.budget) : 0,
                            exact || !warm);
      took = std::max(took, end.at);
      const double all = static_cast<double>(ranks) * ranks;
      cutLate += end.late / (all * std::max<uint32_t>(1, stage.slots));
      cutAbsent += end.absent / all;
    }
    if (!warm) {
      continue;
    }
    factor.returned(cutLate, split.forFirst(options.budget));
    split.add(cutLate, cutAbsent);
    replayed.took.push_back(took);
    replayed.cutLate += cutLate;
    replayed.cutAbsent += cutAbsent;
  }
  const auto count = static_cast<double>(replayed.took.size());
  if (count > 0) {
    replayed.cutLate /= count;
    replayed.cutAbsent /= count;
  }
  return replayed;
}

}  // namespace

std::vector<std::vector<RecordedOp>> opsOf(
    const std::vector<StageRecord>& records) {
  using Key = std::pair<uint64_t, std::string>;
  std::vector<Key> order;
  std::map<Key, std::map<int, const StageRecord*>> found;
  for (const StageRecord& record : records) {
    const Key key{record.context, record.op};
    auto& ranks = found[key];
    if (ranks.empty()) {
      order.push_back(key);
    }
    ranks[record.rank] = &record;
  }
  std::map<uint64_t, std::vector<RecordedOp>> contexts;
  for (const Key& key : order) {
    RecordedOp op;
    bool complete = true;
    for (const auto& [rank, record] : found[key]) {
      op.push_back(*record);
      complete = complete && completeAt(*record) != StageRecord::kUnknown &&
                 found[key].size() == record->senders.size();
    }
    if (!complete || op.size() < 2) {
      continue;
    }
    auto& ops = contexts[key.first];
    if (ops.empty() || ops[0].size() == op.size()) {
      ops.push_back(std::move(op));
    }
  }
  std::vector<std::vector<RecordedOp>> all;
  all.reserve(contexts.size());
  for (auto& [context, ops] : contexts) {
    all.push_back(std::move(ops));
  }
  return all;
}

Duration Replayed::mean() const {
  return std::accumulate(took.begin(), took.end(), Duration{0}) /
         static_cast<int64_t>(std::max<size_t>(1, took.size()));
}

Duration Replayed::slowTenth() const {
  std::vector<Duration> sorted = took;
  std::sort(sorted.begin(), sorted.end());
  const auto count = std::min<size_t>(
      sorted.size(),
      std::max<size_t>(1,
                       std::lround(static_cast<double>(sorted.size()) / 10)));
  return std::accumulate(sorted.end() - count, sorted.end(), Duration{0}) /
         static_cast<int64_t>(std::max<size_t>(1, count));
}

Replayed replayExact(const std::vector<RecordedOp>& ops,
                     const ReplayOptions& options) {
  return replay(ops, options, 1.0, true);
}

Replayed replayRule(const std::vector<RecordedOp>& ops,
                    const ReplayOptions& options) {
  return replay(ops, options, std::nullopt, false);
}

Replayed replayFixed(const std::vector<RecordedOp>& ops,
                     const ReplayOptions& options,
                     double factor) {
  return replay(ops, options, factor, false);
}

double bestFactor(const std::vector<RecordedOp>& ops,
                  const ReplayOptions& options,
                  double share) {
  double low = 1;
  double high = CutFactor::kMax;
  for (int step = 0; step < 40; step++) {
    const double middle = std::sqrt(low * high);
    (replayFixed(ops, options, middle).cutLate > share ? low : high) = middle;
  }
  return high;
}

}  // namespace ubt
