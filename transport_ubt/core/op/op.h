// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/base/retries.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/op/attendance.h"
#include "transport_ubt/core/op/broadcast_stage.h"
#include "transport_ubt/core/op/bucket.h"
#include "transport_ubt/core/op/op_call.h"
#include "transport_ubt/core/op/op_clock.h"
#include "transport_ubt/core/op/op_failure.h"
#include "transport_ubt/core/op/op_host.h"
#include "transport_ubt/core/op/op_parts.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/core/op/op_trace.h"
#include "transport_ubt/core/op/outbox.h"
#include "transport_ubt/core/op/owned_shard.h"
#include "transport_ubt/core/op/replica_proof.h"
#include "transport_ubt/core/op/reported_losses.h"
#include "transport_ubt/core/op/stage_run.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// The records that an op repeats to a rank until the rank answers, or that it
// sends at a limited rate. Requests for slots are in StageRun.
struct Notices {
  explicit Notices(int ranks)
      : announcement(ranks),
        doneQuery(ranks),
        closed(ranks),
        progressToAll(1) {}

  Retries announcement;  // this rank has entered
  Retries doneQuery;     // is the op done there? After the caller has left.
  Retries closed;        // the scatter stage is over: its data comes too late
  // The op's progress, to all ranks. Without room to keep the own shard, the
  // caller waits until no rank lacks it.
  Retries progressToAll;
};

// One allreduce at one rank: owner of one shard, contributor to the others',
// receiver of their results. The session's OpTable owns it, from the first
// record or call until the caller has returned and all ranks are done. Not
// thread-safe.
//
// Where ranks form groups, this happens in its own group, and the owners of the
// same shard exchange their groups' sums (OpRanks). Sums travel as results do.
class Op {
 public:
  struct Setup {
    OpId id;
    OpShape shape;
    int announcer = 0;  // the rank that brought this shape first
    TimePoint begunAt{};
    const Options* options = nullptr;  // outlive the op, as do the rest
    const Reduction* reduction = nullptr;
    Arena* arena = nullptr;
    OpHost* host = nullptr;
  };

  // `room`: the op's share of the arena until its caller enters; empty: its
  // caller begins it.
  Op(const Setup& setup,
     const OpParts& parts,
     const OpBounds& bounds,
     ArenaBuffer room);

  // The most memory of an op without data: a peer can make this rank hold it
  // with one announcement.
  static size_t bytesFor(const OpParts& parts);

  const OpId& id() const { return setup_.id; }
  const OpShape& shape() const { return setup_.shape; }
  const OpParts& parts() const { return parts_; }

  // From peers. REQUIRES peer a rank other than the own.
  void announced(TimePoint now, int peer, const OpShape& shape);
  // A rank, maybe the own, brings another shape: the op fails here.
  void disagree(TimePoint now, int rank, const OpShape& shape);
  void announceSeen(int peer) {
    attendance_.announcementSeen(peer);
    notices_.announcement.stop(peer);
  }
  Counter data(TimePoint now,
               const PacketHeader& header,
               const std::byte* payload,
               size_t payloadBytes);
  // These: the records of the same names (docs/wire_format.md). False: the
  // peer needs results that this rank had no room to keep.
  bool repairAsked(
      TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots);
  void progress(TimePoint now, int peer, uint32_t slot);
  void shardClosed(TimePoint now, int peer, uint32_t cut);
  void halfEnded(TimePoint now, int peer, Stage stage);
  void noMore(TimePoint now, int peer, Stage stage);
  void over(TimePoint now, int peer);
  void done(TimePoint now, int peer, uint32_t cut, uint64_t hash);
  // The peer has gone: it no longer sends or receives.
  void peerGone(int peer, const std::string& why);

  // The local caller enters. The op reads and writes `bucket`, which holds the
  // caller's contribution, until leave(). `form`: of the contribution; a
  // warm-up op is exact and uses plain ones. `bounds`: as they are known now.
  // `room`: OwnedShard::keptBytes() of the arena, to keep the own shard after
  // leave(). Without room, a call that needs every result ends only when no
  // rank lacks the own shard.
  void enter(TimePoint now,
             std::byte* bucket,
             Form form,
             const OpBounds& bounds,
             ArenaBuffer room);
  bool entered() const { return call_.entered(); }
  TimePoint begunAt() const { return clock_.begunAt(); }
  // The only rank that has begun the op; -1: several have, or this rank has
  // entered.
  int soleAnnouncer() const {
    return call_.entered() || attendance_.entered() > 1 || hasResults()
               ? -1
               : setup_.announcer;
  }
  // Bytes that it holds of the arena while no caller here has entered it.
  size_t heldBytes() const { return heldBytes_ + room_.size(); }
  // Whether the own shard is closed, so that peers may have its results.
  bool hasResults() const {
    return owned_.slots() > 0 && owned_.sum().closed();
  }
  // The ranks that the call waits for, and which one to blame.
  OpFailure::Blame missingRanks() const;
  // Nothing more will arrive for it: an unfinished call fails.
  void giveUp(const std::string& why);
  bool finished() const { return call_.finished(); }
  // Why the call cannot yield a result.
  const OpFailure& failure() const { return call_.failure(); }
  // Ends the call; the bucket holds the result (unless it failed).
  // REQUIRES finished().
  OpReport leave(TimePoint now);
  bool returned() const { return call_.returned(); }

  // The first rank that is not done; -1: all are.
  int firstNotDone() const { return attendance_.firstNotDone(); }
  bool isDone(int rank) const { return attendance_.isDone(rank); }
  bool doneEverywhere() const { return firstNotDone() < 0; }
  // Drops results that arrived before the caller and can be asked for again.
  // Returns the number of slots.
  uint32_t dropEarly();
  // Gives back the caller's room for the own shard. False: there is none.
  bool giveRoomBack() { return !call_.finished() && owned_.giveRoomBack(); }

  // The slots that it has to send.
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  // Slots that this rank still awaits from a peer, or from all peers.
  uint64_t slotsAwaited(int peer) const {
    return (owned_.sum().closed() ? 0 : scatterRun_.progress().owed(peer)) +
           (owned_.exchanged() ? 0 : exchangeRun_.progress().owed(peer)) +
           (call_.finished() ? 0 : broadcastRun_.progress().owed(peer));
  }
  uint64_t slotsAwaited() const {
    return (owned_.sum().closed() ? 0 : scatterRun_.progress().owed()) +
           (owned_.exchanged() ? 0 : exchangeRun_.progress().owed()) +
           (call_.finished() ? 0 : broadcastRun_.progress().owed());
  }
  // Those that a peer may be about to send: its contributions, and once the own
  // shard is closed the others.
  uint64_t slotsComing(int peer) const;
  // Whether the own shard will not be complete in time at the present pace, so
  // that results, which cannot be left out, should come before contributions.
  bool wantsResults() const;
  // The record that goes to a peer with its credit; false: none.
  bool progressRecord(int peer, ControlRecord* out) const;
  // Slots of the own shard for which the arena had no room when the caller
  // left.
  uint32_t notRetained() const { return owned_.notRetained(); }

  TimePoint nextDeadline() const;
  void deadlinePassed(TimePoint now);

  // The network lost slots of this stage on their way to a peer. They leave
  // again if the op repairs that stage. Otherwise the peer hears which they
  // are: it knows only their packet numbers.
  void lostByPeer(
      TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots);
  // The peer reports slots that were in lost packets on their way to this rank.
  // They may only have been overtaken, so they count as lost a little later.
  // Any numbers are allowed.
  void lostHere(
      TimePoint now, int peer, Stage stage, uint32_t slot, uint32_t slots);

  // What the op has to teach so far. It counts late data completely only once
  // the op is done everywhere.
  OpSample sample() const;
  bool warmup() const { return bounds_.warmup; }

  // The record that tells a peer that the call has returned.
  ControlRecord doneRecord(ControlType type) const;
  // Why replicas differ. The text is empty if all hashes that ranks have told
  // are equal. The rank to blame is another one, though this one may be wrong.
  OpFailure::Blame whyDifferent() const;

 private:
  Form resultForm(Shard shard) const;
  Counter scatterData(TimePoint now,
                      const PacketHeader& header,
                      const std::byte* payload);
  Counter broadcastData(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload);
  Counter sumData(TimePoint now,
                  const PacketHeader& header,
                  const std::byte* payload);
  void slotsClosed(TimePoint now);
  void awaitSums(TimePoint now);
  void noteExchange(TimePoint now);
  void expireExchange(TimePoint now);
  // The stage in which a rank sends results (a member) or sums (a co-owner).
  StageRun& runOf(int rank) {
    return ranks_.isCoOwner(rank) ? exchangeRun_ : broadcastRun_;
  }
  // When the last of the own results was ready.
  TimePoint ownClosedAt() const {
    return exchangeRun_.closedAt == TimePoint{} ? scatterRun_.closedAt
                                                : exchangeRun_.closedAt;
  }
  bool isAllHere() const { return owned_.complete() && broadcast_.complete(); }
  uint64_t resultsHash() const;
  const BitSet& received(int rank) const;
  bool owesContributions(int rank) const;
  void reportExchange(OpReport* report) const;

  void rankEntered(TimePoint now, int rank);
  bool repairsScatter() const;
  bool needsEveryResult() const;
  void noteProgress(TimePoint now);
  void needsNothing(int peer);
  void tellProgress(TimePoint now);
  bool goesOnWithout(int rank, Stage stage) const;
  void countLost(TimePoint now, const ReportedLosses::Slots& lost);
  void closeScatter(TimePoint now);
  bool excuses(TimePoint now, TimePoint end);
  void noteEnd(TimePoint now, int peer, Stage stage);
  void tellOwners(TimePoint now, const ControlRecord& record, bool urgent);
  void noteContributions(TimePoint now);
  void scheduleNotice(Retries* retries, TimePoint now, int peer);
  void schedule(Retries* retries, TimePoint now, int peer);
  void restart(Retries* retries, TimePoint now, int peer);
  // Requests the slots that `have` lacks.
  void requestMissing(TimePoint now, int peer, Stage stage, const BitSet& have);
  // Which records are repeated until a rank answers.
  bool announces() const { return call_.entered() && !call_.returned(); }
  bool asksForContributions() const {
    return !owned_.sum().closed() && (repairsScatter() || scatterOverdue_);
  }
  bool asksForResults() const { return call_.waits() && needsEveryResult(); }
  // Only once the own group's sum is closed.
  bool asksForSums() const {
    return owned_.sum().closed() && !owned_.exchanged() && needsEveryResult();
  }
  // Repeats announcements, requests and queries that no rank has answered.
  void repeatDueRecords(TimePoint now);
  // The longest time that the call may take: from its entry on or, if it is
  // bounded by hand and does not need every result, from the clock's start.
  Duration limit() const;
  Duration mostWait() const {
    return mostOfStage(bounds_.limit, ranks_.grouped());
  }
  TimePoint callEnd() const { return clock_.enteredAt() + bounds_.limit; }
  bool mayEndScatter() const;
  // The op may leave data out, and its clock runs.
  bool mayCut() const { return !bounds_.warmup && clock_.runs(); }
  // The learned rules end its stages.
  bool followsRule() const {
    return mayCut() && !bounds_.byHand && !bounds_.paper;
  }
  // It asks senders whether more will come. The paper's loops do not.
  bool queries() const { return mayCut() && !bounds_.paper; }
  int othersEntered() const {
    return membersEntered_ - (call_.entered() ? 1 : 0);
  }
  int sendersPending() const;
  TimePoint overAt(const StageRun& run, TimePoint least) const;
  TimePoint scatterEnd() const;
  TimePoint networkEnd() const;
  TimePoint absentEnd(int absent) const;
  TimePoint exchangeEnd() const;
  TimePoint resultsEnd() const;
  void stopsPassed(TimePoint now);
  StageRun::Cause causeOf(int rank) const;
  bool isCut(const StageRun& run, int rank) const;
  void noteCut();
  bool queriesContributions() const;
  bool queriesSums() const;
  bool queriesResults() const;
  void startQueries(TimePoint now);
  bool mostIsLost() const;
  void askAgain(TimePoint now);
  void ask(TimePoint now, StageRun* run, Stage stage, bool repairs);
  bool request(TimePoint now, int peer, Stage stage);
  void sayNoMore(TimePoint now, int peer, Stage stage);
  void sayOver(TimePoint now, int peer);
  void moreAsked(TimePoint now, int peer, Stage stage);
  void reportBounds(OpReport* report) const;
  ControlRecord closedRecord() const;
  Duration completedAfter(int rank) const;
  void sampleStops(OpSample* sample) const;
  void sampleEnds(OpSample* sample) const;
  void finishByBound(TimePoint now);
  TimePoint resultsStart() const {
    return std::max(clock_.startedAt(), clock_.enteredAt());
  }
  void expireScatter(TimePoint now);
  void expire(TimePoint now);
  void failAtTimeout(TimePoint now);
  void settleScatter();
  void settleResults();
  uint64_t notStored(const BitSet& turnedAway,
                     const BitSet& stored,
                     Shard shard) const;
  OpFailure::Blame silentRanks(TimePoint now) const;

  const Setup setup_;
  const OpParts parts_;
  const OpRanks& ranks_ = parts_.ranks;
  const ShardLayout& layout_ = parts_.layout;
  ArenaBuffer room_;
  size_t heldBytes_ = 0;  // of the arena, in the stages below
  OpBounds bounds_;
  OwnedShard owned_;
  BroadcastStage broadcast_;
  Bucket bucket_;
  Attendance attendance_;
  OpClock clock_;
  Outbox outbox_;
  StageRun scatterRun_;    // contributions to the own shard
  StageRun exchangeRun_;   // other groups' sums of the own shard
  StageRun broadcastRun_;  // results of other shards
  ReportedLosses reported_;
  Notices notices_;
  ReplicaProof replicas_;
  uint64_t hash_ = 0;            // of all results; 0: not told
  bool scatterOverdue_ = false;  // most of it was lost, and is asked for again
  bool scatterSettled_ = false;
  int membersEntered_ = 0;
  // Contributions left out because the stage ended: pairs of a rank and a slot
  // that were on their way, here and at other owners, and absent ranks.
  uint32_t lateCut_ = 0;
  uint64_t lateCutByOthers_ = 0;
  int absentCut_ = 0;
  // Results of slots that were on their way when this call, and others', ended.
  uint32_t resultsCut_ = 0;
  uint64_t resultsCutByOthers_ = 0;
  TimePoint newsAt_{};  // of a rank that is through, or a sender that ended
  TimePoint resultsAt_ = kNever;  // all were here

  OpCall call_;
  std::unique_ptr<OpTrace> trace_;  // null unless Options::trace
};

}  // namespace ubt
