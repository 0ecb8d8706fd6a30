// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/stage_ends.h"

#include <algorithm>

namespace ubt {

// When missing slots count as lost, if all senders of a stage have ended.
TimePoint StageEnds::overAt(const StageRun& run, TimePoint least) const {
  const StageProgress& progress = run.progress();
  if (progress.owed() == 0) {
    return least;  // the senders have said which are lost
  }
  return std::max(progress.lastArrival(), least) +
         op_.setup.host->lossAfter(progress.lastArrival(),
                                   progress.lastSender());
}

TimePoint StageEnds::scatter() const {
  const OpBounds& bounds = op_.bounds;
  const TimePoint start = op_.clock.startedAt();
  if (op_.owned.sum().closed() || !op_.mayCut()) {
    return kNever;
  }
  switch (bounds.rule) {
    case OpBounds::Rule::kExact:
      break;
    case OpBounds::Rule::kByHand:
      return start + bounds.scatter;
    case OpBounds::Rule::kPaper:
      // The own contribution belongs to the stage, too.
      return bounds.paperScatter.end(
          start,
          op_.call.entered() ? op_.scatterRun.progress().allEndedAt() : kNever);
    case OpBounds::Rule::kLearned:
      return learnedScatter();
  }
  return kNever;
}

TimePoint StageEnds::learnedScatter() const {
  const TimePoint start = op_.clock.startedAt();
  if (op_.requestsContributions) {
    return !mayEndScatter()          ? kNever
           : op_.allMembersEntered() ? TimePoint{}
                                     : absentEnd();
  }
  const bool pending = op_.sendersPending() > 0;
  if (op_.allMembersEntered() && !pending) {
    return overAt(op_.scatterRun, TimePoint{});
  }
  if (!op_.bounds.cuts) {
    return kNever;
  }
  TimePoint end{};
  if (pending) {
    end = std::min(networkEnd(), start + mostWait());
  }
  if (!op_.allMembersEntered()) {
    end = std::max(end, absentEnd());
    if (pending && op_.needsEveryResult() &&
        op_.setup.options->has(Loop::kMajority) &&
        !op_.owned.sum().holdsMajority()) {
      // Else ranks that enter late could leave less than a majority.
      end = std::max(end, start + mostWait());
    }
  }
  return end;
}

// Until when contributions of ranks that have entered are waited for.
TimePoint StageEnds::networkEnd() const {
  return op_.bounds.stop.networkEnd(
      op_.clock.startedAt(),
      op_.attendance.halfThroughAt(Stage::kScatter),
      op_.attendance.lastEntry());
}

// Until when contributions of absent ranks are waited for. kNever: the budget
// does not pay for them.
TimePoint StageEnds::absentEnd() const {
  const int absent = op_.ranks.members() - op_.membersEntered;
  return absent <= op_.bounds.absentMost * op_.ranks.members()
             ? op_.bounds.stop.absentEnd(
                   op_.clock.startedAt(),
                   op_.attendance.halfThroughAt(Stage::kScatter))
             : kNever;
}

TimePoint StageEnds::exchange() const {
  const OpBounds& bounds = op_.bounds;
  if (op_.owned.exchanged() || !op_.owned.sum().closed() ||
      op_.needsEveryResult() || !op_.clock.runs()) {
    return kNever;
  }
  const TimePoint sum = op_.scatterRun.closedAt;
  switch (bounds.rule) {
    case OpBounds::Rule::kExact:
      return kNever;
    case OpBounds::Rule::kByHand:
      return op_.clock.startedAt() + bounds.scatter + bounds.exchange;
    case OpBounds::Rule::kPaper:
      return bounds.paperExchange.end(sum,
                                      op_.exchangeRun.progress().allEndedAt());
    case OpBounds::Rule::kLearned:
      break;
  }
  const TimePoint ended = op_.exchangeRun.progress().allEnded()
                              ? overAt(op_.exchangeRun, sum)
                              : kNever;
  const StopRule& rule = bounds.exchangeStop;
  return bounds.cuts && rule.usual > Duration{0}
             ? std::min(ended, rule.networkEnd(sum, sum, sum))
             : ended;
}

TimePoint StageEnds::results() const {
  const OpBounds& bounds = op_.bounds;
  const OpClock& clock = op_.clock;
  const StageProgress& progress = op_.broadcastRun.progress();
  if (!op_.call.waits() || op_.needsEveryResult() || !clock.runs()) {
    return kNever;
  }
  switch (bounds.rule) {
    case OpBounds::Rule::kExact:
      return kNever;
    case OpBounds::Rule::kByHand:
      return std::max(clock.startedAt() + op_.limit(),
                      clock.enteredAt() + bounds.broadcast);
    case OpBounds::Rule::kPaper:
      return bounds.paperResults.end(
          op_.resultsStart(),
          op_.owned.complete() ? progress.allEndedAt() : kNever);
    case OpBounds::Rule::kLearned:
      break;
  }
  const TimePoint ended = op_.owned.complete() && progress.allEnded()
                              ? overAt(op_.broadcastRun, op_.ownClosedAt())
                              : kNever;
  return bounds.cuts
             ? std::min(ended,
                        bounds.resultsStop.networkEnd(
                            clock.startedAt(),
                            op_.attendance.halfThroughAt(Stage::kBroadcast),
                            clock.startedAt()))
             : ended;
}

bool StageEnds::mostIsLost() const {
  return op_.setup.options->has(Loop::kMajority) && op_.followsRule() &&
         !op_.requestsContributions && op_.sendersPending() == 0 &&
         !mayEndScatter();
}

// Whether the scatter stage may end although data was lost. A slot that holds
// no majority waits for one, unless more than half of all ranks are through:
// then the network is bad for this rank alone. One of these makes a rank
// through:
// - All its contributions have arrived, or some were turned away.
// - It has entered and closed a slot of its own. Results mostly leave after
//   contributions.
// - It is done, or has returned.
// An op without repair never waits. The same holds for a bound set by hand.
bool StageEnds::mayEndScatter() const {
  const OpRanks& ranks = op_.ranks;
  if (op_.owned.sum().holdsMajority() || ranks.grouped() ||
      !op_.needsEveryResult() ||
      op_.setup.options->boundScatter > Duration{0}) {
    return true;
  }
  int through = op_.call.entered() ? 1 : 0;
  for (int rank = 0; rank < ranks.size(); rank++) {
    through +=
        rank != ranks.rank() &&
        (op_.attendance.isDone(rank) || op_.attendance.repeatsNothing(rank) ||
         !op_.owesContributions(rank) || op_.scatterRun.anyTurnedAway(rank) ||
         (op_.attendance.hasEntered(rank) && !op_.received(rank).none()));
  }
  return 2 * through > ranks.size();
}

bool StageEnds::wantsResults() const {
  const OpBounds& bounds = op_.bounds;
  const double owed =
      static_cast<double>(op_.owned.slots()) * op_.othersEntered();
  if (!op_.followsRule() || !bounds.cuts || op_.owned.sum().closed() ||
      owed == 0 || !op_.setup.options->has(Loop::kResultsFirst)) {
    return false;
  }
  const StageProgress& progress = op_.scatterRun.progress();
  const TimePoint start = op_.clock.startedAt();
  const TimePoint q = op_.attendance.halfThroughAt(Stage::kScatter);
  const double missing =
      1 - static_cast<double>(progress.came() + progress.lost()) / owed;
  return std::max(start, progress.lastArrival()) +
             wholeNanoseconds(bounds.stop.usual * missing) >
         bounds.stop.resultsFirstAt(
             start, q == kNever ? start : q, op_.attendance.lastEntry());
}

void StageEnds::report(OpReport* report) const {
  const OpBounds& bounds = op_.bounds;
  switch (bounds.rule) {
    case OpBounds::Rule::kExact:
      break;
    case OpBounds::Rule::kByHand:
      report->boundScatter = bounds.scatter;
      if (!op_.needsEveryResult()) {
        report->boundExchange = bounds.exchange;
        report->boundBroadcast = bounds.broadcast;
      }
      break;
    case OpBounds::Rule::kPaper:
      report->boundScatter = bounds.paperScatter.bound;
      if (!op_.needsEveryResult()) {
        report->boundExchange =
            op_.ranks.grouped() ? bounds.paperExchange.bound : Duration{0};
        report->boundBroadcast =
            std::max(Duration{0},
                     bounds.paperResults.bound - report->boundScatter -
                         report->boundExchange);
      }
      break;
    case OpBounds::Rule::kLearned:
      if (bounds.cuts) {
        reportLearned(report);
      }
      break;
  }
}

void StageEnds::reportLearned(OpReport* report) const {
  const auto length = [&](TimePoint start, TimePoint end) {
    return end == kNever ? Duration{0} : std::min(end - start, mostWait());
  };
  const TimePoint start = op_.clock.startedAt();
  report->boundScatter = length(start, networkEnd());
  if (op_.needsEveryResult()) {
    return;
  }
  if (op_.ranks.grouped()) {
    const TimePoint sum = op_.scatterRun.closedAt;
    report->boundExchange =
        length(sum, op_.bounds.exchangeStop.networkEnd(sum, sum, sum));
  }
  const Duration all = length(
      start,
      op_.bounds.resultsStop.networkEnd(
          start, op_.attendance.halfThroughAt(Stage::kBroadcast), start));
  report->boundBroadcast =
      std::max(Duration{0}, all - report->boundScatter - report->boundExchange);
}

}  // namespace ubt
