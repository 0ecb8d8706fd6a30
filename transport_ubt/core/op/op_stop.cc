// SPDX-License-Identifier: Apache-2.0
//
// When the stages of an op stop waiting (StopRule).

#include "transport_ubt/core/op/op.h"

#include <algorithm>

namespace ubt {

// Senders that have entered and may send more. If contributions are asked for
// again, lost ones may come, too.
int Op::sendersPending() const {
  const StageProgress& progress = scatterRun_.progress();
  const auto over = static_cast<int>(repairsScatter() ? progress.complete()
                                                      : progress.ended());
  return othersEntered() - over;
}

// When missing slots count as lost, if all senders of a stage have ended.
TimePoint Op::overAt(const StageRun& run, TimePoint least) const {
  const StageProgress& progress = run.progress();
  if (progress.owed() == 0) {
    return least;  // the senders have said which are lost
  }
  return std::max(progress.lastArrival(), least) +
         setup_.host->lossAfter(progress.lastArrival(), progress.lastSender());
}

// The shard closes once nothing more can come, or what may come may be left
// out.
TimePoint Op::scatterEnd() const {
  if (owned_.sum().closed() || bounds_.warmup || !clock_.runs()) {
    return kNever;
  }
  if (bounds_.byHand) {
    return clock_.startedAt() + bounds_.scatter + clock_.excused();
  }
  if (bounds_.paper) {
    // The own contribution belongs to the stage, too.
    const TimePoint end = bounds_.paperScatter.end(
        clock_.startedAt(),
        call_.entered() ? scatterRun_.progress().allEndedAt() : kNever);
    return end == kNever ? end : end + clock_.excused();
  }
  if (scatterOverdue_) {
    return mayEndScatter() ? TimePoint{} : kNever;
  }
  const int absent = ranks_.members() - membersEntered_;
  const bool pending = sendersPending() > 0;
  if (absent == 0 && !pending) {
    return overAt(scatterRun_, TimePoint{});
  }
  if (!bounds_.cuts) {
    return kNever;
  }
  TimePoint end{};
  if (pending) {
    end = std::min(networkEnd(), clock_.startedAt() + mostWait());
  }
  if (absent > 0) {
    end = std::max(end, absentEnd(absent));
    if (pending && setup_.options->has(Loop::kMajority) &&
        !owned_.sum().holdsMajority()) {
      // Else ranks that enter late could leave less than a majority.
      end = std::max(end, clock_.startedAt() + mostWait());
    }
  }
  return end == kNever ? end : end + clock_.excused();
}

// Until when contributions of ranks that have entered are waited for.
TimePoint Op::networkEnd() const {
  return bounds_.stop.networkEnd(clock_.startedAt(),
                                 attendance_.halfThroughAt(Stage::kScatter),
                                 attendance_.lastEntry());
}

// kNever: the budget does not pay for them.
TimePoint Op::absentEnd(int absent) const {
  return absent <= bounds_.absentMost * ranks_.members()
             ? bounds_.stop.absentEnd(
                   clock_.startedAt(),
                   attendance_.halfThroughAt(Stage::kScatter))
             : kNever;
}

// Sums of other groups. An op that needs every result waits for all of them.
TimePoint Op::exchangeEnd() const {
  if (owned_.exchanged() || !owned_.sum().closed() || needsEveryResult() ||
      !clock_.runs()) {
    return kNever;
  }
  if (bounds_.byHand) {
    return clock_.startedAt() + bounds_.scatter + bounds_.exchange +
           clock_.excused();
  }
  if (bounds_.paper) {
    return bounds_.paperExchange.end(scatterRun_.closedAt,
                                     exchangeRun_.progress().allEndedAt());
  }
  const TimePoint ended = exchangeRun_.progress().allEnded()
                              ? overAt(exchangeRun_, scatterRun_.closedAt)
                              : kNever;
  const StopRule& rule = bounds_.exchangeStop;
  return bounds_.cuts && rule.usual > Duration{0}
             ? std::min(ended,
                        rule.networkEnd(scatterRun_.closedAt,
                                        scatterRun_.closedAt,
                                        scatterRun_.closedAt))
             : ended;
}

// Results, if the op does not need every one.
TimePoint Op::resultsEnd() const {
  if (!call_.waits() || needsEveryResult() || !clock_.runs()) {
    return kNever;
  }
  if (bounds_.byHand) {
    return std::max(clock_.startedAt() + limit(),
                    clock_.enteredAt() + bounds_.broadcast);
  }
  if (bounds_.paper) {
    return bounds_.paperResults.end(
        resultsStart(),
        owned_.complete() ? broadcastRun_.progress().allEndedAt() : kNever);
  }
  const TimePoint ended =
      owned_.complete() && broadcastRun_.progress().allEnded()
          ? overAt(broadcastRun_, ownClosedAt())
          : kNever;
  return bounds_.cuts
             ? std::min(ended,
                        bounds_.resultsStop.networkEnd(
                            clock_.startedAt(),
                            attendance_.halfThroughAt(Stage::kBroadcast),
                            clock_.startedAt()))
             : ended;
}

Duration Op::limit() const {
  return bounds_.byHand && !needsEveryResult()
             ? std::min(bounds_.limit,
                        bounds_.scatter + bounds_.exchange + bounds_.broadcast)
             : bounds_.limit;
}

void Op::stopsPassed(TimePoint now) {
  const TimePoint end = scatterEnd();
  if (now >= end && !excuses(now, end)) {
    if (mostIsLost()) {
      askAgain(now);
    } else {
      expireScatter(now);
    }
  }
  if (now >= exchangeEnd()) {
    expireExchange(now);
  }
  if (now >= resultsEnd()) {
    if (!owned_.sum().closed()) {
      expireScatter(now);
    }
    finishByBound(now);
  }
}

// Whether the scatter stage gets more time, because this host was stopped. Its
// end may have been known only since the last news.
bool Op::excuses(TimePoint now, TimePoint end) {
  const bool waits = bounds_.byHand || sendersPending() > 0 ||
                     membersEntered_ < ranks_.members();
  return waits && !scatterOverdue_ && setup_.options->has(Loop::kPause) &&
         clock_.excuse(
             now,
             end,
             std::max({scatterRun_.progress().lastArrival(),
                       attendance_.lastEntry(),
                       newsAt_}),
             bounds_.byHand ? bounds_.scatter : now - clock_.startedAt());
}

// The call does not wait any longer for results and other groups' sums.
void Op::finishByBound(TimePoint now) {
  expireExchange(now);
  if (!call_.finished()) {
    broadcastRun_.closedAt = now;
    call_.finish(EndedBy::kBound);
  }
}

// Nothing more comes, and some slot lacks a majority, although other ranks are
// not through either: most was lost.
bool Op::mostIsLost() const {
  return setup_.options->has(Loop::kMajority) && followsRule() &&
         !scatterOverdue_ && sendersPending() == 0 &&
         membersEntered_ == ranks_.members() && !mayEndScatter();
}

// Asks for contributions again, whatever the policy.
void Op::askAgain(TimePoint now) {
  scatterOverdue_ = true;
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (rank != ranks_.rank() && owesContributions(rank)) {
      restart(&scatterRun_.repairs, now, rank);
    }
  }
}

// Senders whose last slots carry marks need no query, unless all marks are
// lost.
bool Op::queriesContributions() const {
  return queries() && !owned_.sum().closed() && !asksForContributions() &&
         sendersPending() > 0;
}

bool Op::queriesSums() const {
  return queries() && owned_.sum().closed() && !owned_.exchanged() &&
         !needsEveryResult();
}

bool Op::queriesResults() const {
  return queries() && call_.waits() && !needsEveryResult();
}

// The first query comes after the usual time.
void Op::startQueries(TimePoint now) {
  if (!queries()) {
    return;
  }
  const Duration scatter =
      bounds_.byHand ? bounds_.scatter / 2 : bounds_.stop.usual;
  const Duration results =
      bounds_.byHand ? limit() / 2 : bounds_.resultsStop.usual;
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (rank == ranks_.rank()) {
      continue;
    }
    if (ranks_.isCoOwner(rank) && !needsEveryResult() &&
        exchangeRun_.repairs.at(rank) == kNever) {
      schedule(&exchangeRun_.repairs,
               now + scatter + bounds_.exchangeStop.usual,
               rank);
    }
    if (!ranks_.isMember(rank)) {
      continue;
    }
    if (scatterRun_.repairs.at(rank) == kNever) {
      schedule(&scatterRun_.repairs, now + scatter, rank);
    }
    if (call_.waits() && !needsEveryResult() &&
        broadcastRun_.repairs.at(rank) == kNever) {
      schedule(&broadcastRun_.repairs, now + results, rank);
    }
  }
}

// Asks each rank that owes slots whether more will come. A rank that has ended
// is asked for the missing slots. Packet numbers show most losses earlier.
void Op::ask(TimePoint now, StageRun* run, Stage stage, bool repairs) {
  run->repairs.forDue(now, [&](int rank) {
    if (run->progress().hasEnded(rank)) {
      if (!repairs || !request(now, rank, stage)) {
        run->repairs.stop(rank);
        return;
      }
    } else if (run->progress().owed(rank) > 0 &&
               (stage == Stage::kBroadcast || attendance_.hasEntered(rank))) {
      ControlRecord record =
          ControlRecord::about(ControlType::kRepair, setup_.id);
      record.stage = stage;
      setup_.host->control(now, rank, record, true);
    }
    schedule(&run->repairs, now, rank);
  });
}

// Requests the slots that are missing from a rank. False: there are none, or
// the rank repeats nothing.
bool Op::request(TimePoint now, int rank, Stage stage) {
  if (stage == Stage::kBroadcast) {
    requestMissing(now, rank, stage, received(rank));
    return !received(rank).all();
  }
  if (!owesContributions(rank) || attendance_.repeatsNothing(rank)) {
    return false;
  }
  requestMissing(
      now, rank, stage, owned_.sum().contributed(ranks_.shardOf(rank)));
  return true;
}

// Results follow once the own shard is closed. Slots of a sender that has ended
// are lost, or come as repairs.
uint64_t Op::slotsComing(int peer) const {
  if (!owned_.sum().closed()) {
    const StageProgress& progress = scatterRun_.progress();
    return attendance_.hasEntered(peer) && !progress.hasEnded(peer)
               ? progress.owed(peer)
               : 0;
  }
  return (owned_.exchanged() ? 0 : exchangeRun_.progress().owed(peer)) +
         (call_.finished() ? 0 : broadcastRun_.progress().owed(peer));
}

// Results come first if the missing contributions will be late even if nothing
// else comes from now on. Results cannot be left out, and contributions can.
bool Op::wantsResults() const {
  const double owed = static_cast<double>(owned_.slots()) * othersEntered();
  if (!followsRule() || !bounds_.cuts || owned_.sum().closed() || owed == 0 ||
      !setup_.options->has(Loop::kResultsFirst)) {
    return false;
  }
  const StageProgress& progress = scatterRun_.progress();
  const TimePoint start = clock_.startedAt();
  const TimePoint q = attendance_.halfThroughAt(Stage::kScatter);
  const double missing =
      1 - static_cast<double>(progress.came() + progress.lost()) / owed;
  return std::max(start, progress.lastArrival()) +
             wholeNanoseconds(bounds_.stop.usual * missing) >
         bounds_.stop.resultsFirstAt(
             start, q == kNever ? start : q, attendance_.lastEntry());
}

// Why the missing contributions of a member are missing.
StageRun::Cause Op::causeOf(int rank) const {
  return !attendance_.hasEntered(rank) ? StageRun::Cause::kAbsent
         : isCut(scatterRun_, rank)    ? StageRun::Cause::kCut
                                       : StageRun::Cause::kLost;
}

// Whether missing slots of a rank may still have been on their way.
bool Op::isCut(const StageRun& run, int rank) const {
  return !bounds_.warmup && !run.progress().hasEnded(rank);
}

// What this owner leaves out because the stage ends.
void Op::noteCut() {
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (!ranks_.isMember(rank)) {
      continue;
    }
    const bool own = rank == ranks_.rank();
    if (own ? !call_.entered() : !attendance_.hasEntered(rank)) {
      absentCut_++;
    } else if (!own && causeOf(rank) == StageRun::Cause::kCut) {
      lateCut_ += scatterRun_.progress().owed(rank);
    }
  }
}

// The owner has closed its shard, and needs no further contributions. `cut`:
// those that it left out while they were on their way.
void Op::shardClosed(TimePoint now, int peer, uint32_t cut) {
  if (!ranks_.takesSlots(peer)) {
    return;
  }
  outbox_.stopContributions(peer);
  halfEnded(now, peer, Stage::kScatter);
  if (attendance_.reportClosed(peer)) {
    lateCutByOthers_ += std::min(
        cut, static_cast<uint32_t>(ranks_.members()) * layout_.slots(Shard(0)));
  }
}

// The call has returned.
ControlRecord Op::doneRecord(ControlType type) const {
  ControlRecord record = ControlRecord::about(type, setup_.id);
  record.slots = resultsCut_;
  record.number = call_.failed() ? 0 : hash_;
  return record;
}

ControlRecord Op::closedRecord() const {
  ControlRecord record = ControlRecord::about(ControlType::kClosed, setup_.id);
  record.slots = lateCut_;
  return record;
}

// Data of the peer has arrived, or nothing more of it is on its way. Once half
// of the senders are complete, other owners hear it. An owner whose own link is
// congested learns the usual time from them.
void Op::noteEnd(TimePoint now, int peer, Stage stage) {
  const bool scatter = stage == Stage::kScatter;
  StageRun* const run = scatter ? &scatterRun_ : &broadcastRun_;
  if (!run->progress().hasEnded(peer)) {
    return;
  }
  attendance_.passThrough(now, peer, stage);
  if (run->toldHalf || !followsRule() || !setup_.options->has(Loop::kHalf) ||
      run->progress().halfEndedAt() == kNever ||
      (scatter ? owned_.sum().closed() : needsEveryResult())) {
    return;
  }
  run->toldHalf = true;
  ControlRecord record = ControlRecord::about(ControlType::kHalf, setup_.id);
  record.stage = stage;
  tellOwners(now, record, false);
}

// The peer says that half of the stage's senders are complete there.
void Op::halfEnded(TimePoint now, int peer, Stage stage) {
  if (!ranks_.takesSlots(peer)) {
    return;
  }
  attendance_.passThrough(now, peer, stage);
  newsAt_ = now;
  if (trace_ != nullptr && stage == Stage::kScatter &&
      trace_->through[peer] == kNever) {
    trace_->through[peer] = now;
  }
}

void Op::tellOwners(TimePoint now, const ControlRecord& record, bool urgent) {
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (rank != ranks_.rank() && ranks_.takesSlots(rank)) {
      setup_.host->control(now, rank, record, urgent);
    }
  }
}

// When a member's contributions were complete here, since the start of the
// clock; negative: it is unknown when they would have been.
Duration Op::completedAfter(int rank) const {
  const StageProgress& progress = scatterRun_.progress();
  if (progress.hasEnded(rank)) {
    return std::max(progress.lastArrival(rank) - clock_.startedAt(),
                    Duration{1});
  }
  // An absent rank would have taken as long as the others.
  const TimePoint end = progress.projectedEnd(rank);
  if (end != kNever) {
    return std::max(end - clock_.startedAt(), Duration{1});
  }
  return attendance_.hasEntered(rank) &&
                 attendance_.halfThroughAt(Stage::kScatter) != kNever
             ? std::max(attendance_.enteredAt(rank) - clock_.startedAt(),
                        Duration{0}) +
                   std::max(attendance_.halfThroughAt(Stage::kScatter) -
                                clock_.startedAt(),
                            Duration{1})
             : Duration{-1};
}

// The report's bounds: the longest that stages would have waited for data that
// was on its way.
void Op::reportBounds(OpReport* report) const {
  if (bounds_.warmup || (!bounds_.byHand && !bounds_.cuts)) {
    return;
  }
  if (bounds_.byHand) {
    report->boundScatter = bounds_.scatter;
    if (!needsEveryResult()) {
      report->boundExchange = bounds_.exchange;
      report->boundBroadcast = bounds_.broadcast;
    }
    return;
  }
  if (bounds_.paper) {
    report->boundScatter = bounds_.paperScatter.bound;
    if (!needsEveryResult()) {
      report->boundExchange =
          ranks_.grouped() ? bounds_.paperExchange.bound : Duration{0};
      report->boundBroadcast =
          std::max(Duration{0},
                   bounds_.paperResults.bound - report->boundScatter -
                       report->boundExchange);
    }
    return;
  }
  const auto length = [&](TimePoint start, TimePoint end) {
    return end == kNever ? Duration{0} : std::min(end - start, mostWait());
  };
  const TimePoint start = clock_.startedAt();
  report->boundScatter = length(start, networkEnd());
  if (needsEveryResult()) {
    return;
  }
  if (ranks_.grouped()) {
    const TimePoint sum = scatterRun_.closedAt;
    report->boundExchange =
        length(sum, bounds_.exchangeStop.networkEnd(sum, sum, sum));
  }
  const Duration all =
      length(start,
             bounds_.resultsStop.networkEnd(
                 start, attendance_.halfThroughAt(Stage::kBroadcast), start));
  report->boundBroadcast =
      std::max(Duration{0}, all - report->boundScatter - report->boundExchange);
}

void Op::sampleStops(OpSample* sample) const {
  if (!clock_.runs()) {
    return;
  }
  const TimePoint start = clock_.startedAt();
  sample->senders.resize(ranks_.size());
  // The own contribution is here when the caller enters.
  if (call_.entered()) {
    sample->senders[ranks_.rank()].took =
        std::max(clock_.enteredAt() - start, Duration{1});
  }
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (rank != ranks_.rank() && ranks_.isMember(rank) && owned_.slots() > 0) {
      sample->senders[rank] = {completedAfter(rank),
                               !scatterRun_.progress().hasEnded(rank)};
    }
  }
  sample->exchangeTook = exchangeRun_.took;
  if (resultsAt_ != kNever) {
    sample->resultsTook = std::max(resultsAt_ - start, Duration{1});
  } else if (call_.endedBy() == EndedBy::kBound &&
             broadcastRun_.progress().came() > 0) {
    sample->resultsCut = true;
    sample->resultsTook =
        std::max(broadcastRun_.progress().projected(start), Duration{1});
  }
  // Only these owners report to this rank; each has a slot of each member.
  const double owners = ranks_.ownersHeard();
  const double slots = std::max<double>(1, layout_.slots(Shard(0)));
  sample->cutLate =
      (lateCut_ + lateCutByOthers_) / (owners * ranks_.members() * slots);
  sample->cutResults =
      (resultsCut_ + resultsCutByOthers_) / (owners * ranks_.size() * slots);
  sample->cutAbsent = static_cast<double>(absentCut_) / ranks_.members();
  sampleEnds(sample);
}

// The lengths of the stages, and the slots that were missing at their ends.
void Op::sampleEnds(OpSample* sample) const {
  const auto end =
      [](const StageRun& run, TimePoint from, TimePoint until, Duration bound) {
        return OpSample::End{std::max(until - from, Duration{1}),
                             bound,
                             run.progress().came(),
                             run.progress().owed()};
      };
  if (owned_.slots() > 0 && owned_.sum().closed()) {
    sample->scatterEnd =
        end(scatterRun_,
            clock_.startedAt(),
            scatterRun_.closedAt,
            bounds_.byHand ? bounds_.scatter : bounds_.paperScatter.bound);
  }
  if (ranks_.grouped() && owned_.exchanged()) {
    sample->exchangeEnd =
        end(exchangeRun_,
            scatterRun_.closedAt,
            exchangeRun_.closedAt,
            bounds_.byHand ? bounds_.exchange : bounds_.paperExchange.bound);
  }
  const TimePoint until = resultsAt_ != kNever ? resultsAt_
                          : call_.endedBy() == EndedBy::kBound
                              ? broadcastRun_.closedAt
                              : kNever;
  if (call_.finished() && until != kNever) {
    sample->resultsEnd =
        end(broadcastRun_,
            resultsStart(),
            until,
            bounds_.byHand ? limit() : bounds_.paperResults.bound);
  }
}

}  // namespace ubt
