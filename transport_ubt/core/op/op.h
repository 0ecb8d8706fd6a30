// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/op/notices.h"
#include "transport_ubt/core/op/op_blame.h"
#include "transport_ubt/core/op/op_failure.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/core/op/op_sampling.h"
#include "transport_ubt/core/op/op_state.h"
#include "transport_ubt/core/op/op_trace.h"
#include "transport_ubt/core/op/outbox.h"
#include "transport_ubt/core/op/replica_proof.h"
#include "transport_ubt/core/op/reported_losses.h"
#include "transport_ubt/core/op/slot_requests.h"
#include "transport_ubt/core/op/stage_ends.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// One allreduce at one rank: owner of one shard, contributor to the others',
// receiver of their results. The session's OpTable owns it, from the first
// record or call until the caller has returned and all ranks are done. Not
// thread-safe.
//
// Where ranks form groups, this happens in its own group, and the owners of the
// same shard exchange their groups' sums (OpRanks). Sums travel as results do.
class Op {
 public:
  using Setup = OpState::Setup;

  // `room`: the op's share of the arena until its caller enters; empty: its
  // caller begins it.
  Op(const Setup& setup,
     const OpParts& parts,
     const OpBounds& bounds,
     ArenaBuffer room);

  // The most memory of an op without data: a peer can make this rank hold it
  // with one announcement.
  static size_t bytesFor(const OpParts& parts);

  const OpId& id() const { return state_.setup.id; }
  const OpShape& shape() const { return state_.setup.shape; }
  const OpParts& parts() const { return state_.parts; }

  // From peers. REQUIRES peer a rank other than the own.
  void announced(TimePoint now, int peer, const OpShape& shape);
  // A rank brings another shape: the op fails here. If it is the own rank, the
  // others learn that shape.
  void disagree(TimePoint now, int rank, const OpShape& shape);
  void announceSeen(int peer) {
    state_.attendance.announcementSeen(peer);
    notices_.announcementSeen(peer);
  }
  Counter data(TimePoint now,
               const PacketHeader& header,
               const std::byte* payload,
               size_t payloadBytes);
  // The functions below take the records of the same names
  // (docs/wire_format.md). repairAsked() is false if the peer needs results
  // that this rank had no room to keep.
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
  // warm-up op is exact and uses plain ones. `bounds`: as of entry.
  // `room`: OwnedShard::keptBytes() of the arena, to keep the own shard after
  // leave(). Without room, a call that needs every result ends only when no
  // rank lacks the own shard.
  void enter(TimePoint now,
             std::byte* bucket,
             Form form,
             const OpBounds& bounds,
             ArenaBuffer room);
  bool entered() const { return state_.call.entered(); }
  TimePoint begunAt() const { return state_.clock.begunAt(); }
  // The only rank that has begun the op; -1: several have, or this rank has
  // entered.
  int soleAnnouncer() const {
    return state_.call.entered() || state_.attendance.entered() > 1 ||
                   hasResults()
               ? -1
               : state_.setup.announcer;
  }
  // Bytes that it holds of the arena while no caller here has entered it.
  size_t heldBytes() const { return state_.heldBytes + room_.size(); }
  // Whether the own shard is closed, so that peers may have its results.
  bool hasResults() const {
    return state_.owned.slots() > 0 && state_.owned.sum().closed();
  }
  // The ranks that the call waits for, and which one to blame.
  OpFailure::Blame missingRanks() const { return ubt::missingRanks(state_); }
  // Nothing more will arrive for it: an unfinished call fails.
  void giveUp(const std::string& why);
  bool finished() const { return state_.call.finished(); }
  // Why the call cannot yield a result.
  const OpFailure& failure() const { return state_.call.failure(); }
  // Ends the call; the bucket holds the result (unless it failed).
  // REQUIRES finished().
  OpReport leave(TimePoint now);
  bool returned() const { return state_.call.returned(); }

  // The first rank that is not done; -1: all are.
  int firstNotDone() const { return state_.attendance.firstNotDone(); }
  bool isDone(int rank) const { return state_.attendance.isDone(rank); }
  bool doneEverywhere() const { return firstNotDone() < 0; }
  // Drops results that arrived before the caller and can be asked for again.
  // Returns the number of slots.
  uint32_t dropEarly();
  // Gives back the caller's room for the own shard. False: there is none.
  bool giveRoomBack() {
    return !state_.call.finished() && state_.owned.giveRoomBack();
  }

  // The slots that it has to send.
  Outbox& outbox() { return state_.outbox; }
  const Outbox& outbox() const { return state_.outbox; }
  // Slots that this rank still awaits from a peer, or from all peers.
  uint64_t slotsAwaited(int peer) const {
    return (state_.owned.sum().closed()
                ? 0
                : state_.scatterRun.progress().owed(peer)) +
           (state_.owned.exchanged()
                ? 0
                : state_.exchangeRun.progress().owed(peer)) +
           (state_.call.finished() ? 0
                                   : state_.broadcastRun.progress().owed(peer));
  }
  uint64_t slotsAwaited() const {
    return (state_.owned.sum().closed() ? 0
                                        : state_.scatterRun.progress().owed()) +
           (state_.owned.exchanged() ? 0
                                     : state_.exchangeRun.progress().owed()) +
           (state_.call.finished() ? 0 : state_.broadcastRun.progress().owed());
  }
  // Slots that a peer may send next: its contributions, or, once the own shard
  // is closed, sums and results.
  uint64_t slotsComing(int peer) const;
  // Whether the own shard will not be complete in time at the present pace, so
  // that results, which cannot be left out, should come before contributions.
  bool wantsResults() const { return ends_.wantsResults(); }
  // The record that goes to a peer with its credit; false: none.
  bool progressRecord(int peer, ControlRecord* out) const {
    return notices_.progressRecord(peer, out);
  }
  // Slots of the own shard that found no room in the arena when the caller
  // left.
  uint32_t notRetained() const { return state_.owned.notRetained(); }

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

  // See sampleOf().
  OpSample sample() const { return sampleOf(state_); }
  bool isExact() const { return state_.bounds.exact(); }

  // The record that tells a peer that the call has returned.
  ControlRecord doneRecord(ControlType type) const {
    return notices_.doneRecord(type);
  }
  // Why replicas differ. The text is empty if all hashes that ranks have told
  // are equal. The rank to blame is another one, though this one may be wrong.
  OpFailure::Blame whyDifferent() const {
    return blameForResults(state_, replicas_);
  }

 private:
  // Slots that arrive.
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
  void noteExchange(TimePoint now);

  // The result, and its report.
  void noteProgress(TimePoint now);
  Form resultForm(Shard shard) const;
  uint64_t resultsHash() const;
  void reportExchange(OpReport* report) const;

  // News of other ranks.
  void rankEntered(TimePoint now, int rank);
  void needsNothing(int peer);
  void noteEnd(TimePoint now, int peer, Stage stage);
  void tellHalf(TimePoint now, Stage stage);
  void noteContributions(TimePoint now);
  bool goesOnWithout(int rank, Stage stage) const;
  void countLost(TimePoint now, const ReportedLosses::Slots& lost);
  void moreAsked(TimePoint now, int peer, Stage stage);

  // When to warn of a long wait; kNever: not, or no longer.
  TimePoint warnAt() const {
    return state_.call.waits() && !warned_
               ? state_.clock.enteredAt() + state_.longWait()
               : kNever;
  }
  void warnOfWait();

  // The ends of stages, and of the call.
  void stopsPassed(TimePoint now);
  void noteCut();
  void noteTimes(TimePoint now);
  std::vector<Duration> lateBy(TimePoint now) const;
  void closeScatter(TimePoint now);
  void expireScatter(TimePoint now);
  void expireExchange(TimePoint now);
  void expire(TimePoint now);
  void finishByBound(TimePoint now);
  void settleScatter();
  void settleResults();
  uint64_t notStored(const BitSet& turnedAway,
                     const BitSet& stored,
                     Shard shard) const;

  ArenaBuffer room_;
  OpState state_;
  StageEnds ends_{state_};
  SlotRequests requests_{&state_};
  ReportedLosses reported_;
  Notices notices_{state_};
  ReplicaProof replicas_;
  bool scatterSettled_ = false;
  bool warned_ = false;             // of a long wait
  std::unique_ptr<OpTrace> trace_;  // null unless Options::trace
};

}  // namespace ubt
