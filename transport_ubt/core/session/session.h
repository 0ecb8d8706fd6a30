// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/learn/learning.h"
#include "transport_ubt/core/link/multicast.h"
#include "transport_ubt/core/link/peer_link.h"
#include "transport_ubt/core/op/op.h"
#include "transport_ubt/core/pacing/credit.h"
#include "transport_ubt/core/pacing/link_rate.h"
#include "transport_ubt/core/pacing/receive_window.h"
#include "transport_ubt/core/pacing/timer_lateness.h"
#include "transport_ubt/core/session/admission.h"
#include "transport_ubt/core/session/departure.h"
#include "transport_ubt/core/session/op_table.h"
#include "transport_ubt/core/session/send_turns.h"
#include "transport_ubt/core/session/silence_watch.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

class Session;

// What sessions on one socket share. Owned by the endpoint.
struct SharedState {
  Arena arena;
  ReceiveWindow window;
  Counters counters;
  TimerLateness lateness;
  LinkRate link;
  Reduction reduction;
  int activeSenders = 0;  // peers from which some session awaits data
  std::vector<Session*> sessions;
};

// One Gloo context as the protocol sees it: its peers, its ops. Sans-IO and
// not thread-safe; every call takes the time. The bytes it reads off the wire
// are already authenticated, and still not trusted. No verb below throws: an
// exception in the middle of a change, such as std::bad_alloc, breaks the
// session, and no other one (breakOff()).
class Session : private OpHost {
 public:
  struct Setup {
    int rank = 0;
    int size = 1;
    uint64_t epoch = 0;
    size_t slotBytesMax = 0;            // the same on all ranks
    std::vector<PeerKeys> keys;         // by rank; the own one unused
    GroupSeed groupSeed{};              // fresh; of the own multicast
    std::vector<uint64_t> windowBytes;  // by rank: its window, at most
    // The groups of hierarchical ops, the same on all ranks; without them, or
    // if they are of unlike sizes, those run as all others do.
    std::optional<RankGroups> groups;
    Options options;
    // Told of a rank that has long been silent though something is needed of it
    // (SilenceWatch), once in each silence. May be empty. REQUIRES that it
    // calls nothing of this session's endpoint.
    std::function<void(int rank)> silent;
  };

  // `shared` must outlive this. REQUIRES size > 1, keys and windowBytes of
  // `size` entries, slotBytesMax a positive multiple of ShardLayout::kSlotStep.
  Session(const Setup& setup, SharedState* shared);
  ~Session() override;

  uint64_t epoch() const { return setup_.epoch; }
  // What the headers of its datagrams say of the epoch.
  uint16_t context() const { return PacketHeader::contextOf(setup_.epoch); }
  int rank() const { return setup_.rank; }
  int size() const { return setup_.size; }
  const Options& options() const { return setup_.options; }
  size_t slotBytesMax() const { return setup_.slotBytesMax; }
  // Whether headers can name all elements and slots of such an op.
  bool takes(const OpShape& shape) const;
  // Whether an op of a hierarchical shape runs in more groups than one.
  bool hasGroups() const { return ranksOf(true).grouped(); }

  // Callers ------------------------------------------------------------------

  // Begins an allreduce over `bucket`, in place, under a tag of shape.space; if
  // the lead is used up, once it is not (Lead); if the arena has no room to
  // keep the own shard, once it has; and after results that are owed
  // (Op::owesResults), for a moment. The op reads and writes the bucket until
  // leave(). The wait and the call end `timeout` from now, or the options',
  // which is the most (zero: the options'); a call that ends without its result
  // fails the session, here and, as they are told, at the other ranks. So does
  // a call under a tag whose use count is no longer known (TagCounts). REQUIRES
  // failure().empty(), takes(shape).
  OpId enter(TimePoint now,
             uint32_t tag,
             const OpShape& shape,
             std::byte* bucket,
             Duration timeout = Duration{0});
  // How long a call lasts at most that enter() is given this `timeout`.
  Duration timeoutOf(Duration timeout) const {
    const Duration most = setup_.options.timeout;
    return timeout > Duration{0} ? std::min(timeout, most) : most;
  }
  bool finished(const OpId& id) const { return broken_ || isFinished(id); }
  // Why the op has no result; empty if it has. REQUIRES finished(id).
  const std::string& failure(const OpId& id) const;
  // Ends the call: the session no longer uses the bucket, which holds the
  // result unless failure(id) says why not, or the session is broken().
  // REQUIRES finished(id).
  OpReport leave(TimePoint now, const OpId& id);

  // The session cannot go on, because of a bug or for lack of memory: all its
  // calls are finished and fail, and it only tells its peers that it leaves.
  // Never throws. No-op on a broken session.
  void breakOff(const char* why) noexcept;
  bool broken() const { return broken_; }

  // The mesh says that a rank is gone. Every op that still needs it fails,
  // and no further op can begin.
  // The first news stand: what follows them is their consequence. Of the own
  // rank: it has closed the connections itself, and every op fails; a rank that
  // an op waits for is to blame, if one does.
  void peerClosed(int peer, const std::string& why);
  // Why no op can begin any more; empty if one can. What has begun ends
  // by its bound if the job was halted (Halt), and fails if a rank is gone.
  const std::string& failure() const { return departure_.why(); }
  // A caller has been told why it gets no result: so are the other ranks, whose
  // calls fail as well. REQUIRES a failure.
  void refused();

  // Whether some peer may still need something of this session. Nobody does
  // once it was told that this rank leaves.
  bool lingering() const {
    return !departure_.hasLeft() && admission_.lead().any();
  }
  // Which peers that are: those that have not finished an op which returned
  // here.
  std::vector<int> neededBy() const;
  // Tells all peers that this context goes away.
  void sendLeave();

  // The four verbs -----------------------------------------------------------

  // A datagram whose context is this session's. Returns what becomes of it.
  Counter packetIn(TimePoint now,
                   const PacketHeader& header,
                   const std::byte* datagram,
                   size_t bytes);
  // The next datagram to send, or false. To the own rank: to the group.
  bool packetOut(TimePoint now, OutPacket* out);
  // The next one of the burst to one peer that the last of packetOut() began,
  // or false: then it is another session's turn.
  bool burstOut(TimePoint now, OutPacket* out);
  TimePoint nextDeadline() const;
  void deadlinePassed(TimePoint now);

  // Ops known here, for tests of memory.
  size_t opsHeld() const { return ops_.size(); }

 private:
  using Call = Admission::Call;

  // What the verbs do. They may throw in the middle of a change.
  OpId begins(TimePoint now,
              uint32_t tag,
              const OpShape& shape,
              std::byte* bucket,
              Duration timeout);
  OpReport ends(TimePoint now, const OpId& id);
  bool isFinished(const OpId& id) const;
  void closePeer(int peer, const std::string& why);
  void tellRefusal();
  void sayLeaveToAll();
  Counter takeIn(TimePoint now,
                 PacketHeader header,
                 const std::byte* datagram,
                 size_t bytes);
  bool nextOut(TimePoint now, OutPacket* out);
  bool nextOfBurst(TimePoint now, OutPacket* out);
  void passDeadlines(TimePoint now);

  // Runs a verb; what it throws breaks the session. A broken one runs none.
  template <typename Verb>
  void contained(const Verb& verb);
  template <typename Verb>
  void guarded(const Verb& verb);
  // Lets go of buckets and of the arena.
  void dropOps();

  // No op can begin any more, calls that lack something fail, and the others
  // are told that this rank leaves because of the culprit.
  // `tellAfter`: not at once.
  void fail(const std::string& why, Duration tellAfter = Duration{0});
  // The same, because of that rank, unless another one is to blame already.
  void failBecauseOf(int rank, const std::string& why);
  // The rank that holds up the lead has not moved for a whole timeout.
  void giveUp(const Call& call);
  // A peer will never get results that this rank had no room to keep for it.
  void lacksKept(int peer);
  // It is not known how often a tag was used: the session fails.
  OpId refuseTag(uint32_t tag, TagSpace space, const Call& call);

  // OpHost
  void control(int peer, const ControlRecord& record, bool urgent) override;
  Duration retryAfter(int peer) const override;
  TimePoint lastHeard(int peer) const override;
  bool isSilent(int peer) const override {
    return peers_[peer].heard() &&
           silence_.isSilent(peer, peers_[peer].heardAt);
  }
  std::string silence(int peer) const override;
  bool makeRoom(int asker, size_t more) override;
  bool hearsGroup(int peer) const override { return multicast_.hears(peer); }

  size_t shareBytes() const;
  bool evictForRoom(int asker, size_t wanted);
  bool evictForNumber(int asker);
  void evict(const OpId& id);
  void expireUnentered(TimePoint now);
  TimePoint expiryOf(const Op& op) const {
    return op.begunAt() + 2 * setup_.options.timeout;
  }

  bool mayBegin(const OpId& id, const Call& call) const;
  bool tryBegin(const OpId& id, Call* call);
  ArenaBuffer reserveKept(const OpShape& shape);
  // Whether others wait for results that this rank has still to send, for whose
  // sake it begins no op.
  bool owesResults() const;
  // When a call that waits may begin its op, as far as that is a matter of
  // time, or of results that have gone out.
  TimePoint mayBeginAt() const;
  void begin(const OpId& id, const Call& call, ArenaBuffer room);
  void admit();
  int lagging() const;
  OpBounds boundsFor(TimePoint now, const OpShape& shape, Duration limit);
  void learnFrom(const OpSample& op, const OpReport& report);
  bool awaits(int peer) const;
  void connectionClosed(int peer, const std::string& why);
  void closedAll(const std::string& why);
  int longSilent() const;
  bool hasWord(int peer) const {
    return !peers_[peer].closed() || peers_[peer].controlDue() != kNever;
  }
  void watchSilence();
  void lookForSilence(TimePoint now);
  void halt(const std::string& why);
  Form contributionForm() const;
  Op* start(TimePoint now,
            const OpId& id,
            const OpShape& shape,
            int announcer,
            ArenaBuffer room);
  Op* startFromPeer(TimePoint now,
                    const OpId& id,
                    const OpShape& shape,
                    int peer,
                    Counter* whyNot);
  OpRanks ranksOf(bool hierarchical) const {
    return {setup_.rank,
            setup_.size,
            hierarchical && setup_.groups && setup_.groups->even()
                ? &*setup_.groups
                : nullptr};
  }
  bool isOver(const OpId& id) const;
  void forgetIfDone(const OpId& id);
  void updateActivity();
  void peerLeft(int peer, uint32_t because);
  void sayLeave(int peer);
  void answerLeave(int peer);

  Counter newDataIn(TimePoint now,
                    const PacketHeader& header,
                    const PeerLink::Payload& payload,
                    size_t bytes,
                    ReceiveCredit* credit);
  Counter dataIn(TimePoint now,
                 const PacketHeader& header,
                 const std::byte* payload,
                 size_t bytes);
  Counter controlIn(TimePoint now,
                    const PacketHeader& header,
                    const PeerLink::Payload& payload);
  void recordIn(TimePoint now, int peer, const ControlRecord& record);
  void considerCredit(int peer);
  void writeCredit(int peer, WriteCursor* out);
  uint64_t shareSlots(int peer) const;

  // Multicast
  Counter groupIn(TimePoint now,
                  PacketHeader* header,
                  const std::byte* datagram,
                  size_t bytes);
  Counter probeIn(TimePoint now,
                  const PacketHeader& header,
                  const PeerLink::Payload& payload);
  void answerGroup(int owner);
  void writeHears(int owner, WriteCursor* out);
  uint64_t groupShareSlots() const;
  bool groupsTurn(const Op& op) const;
  bool hasGroupData() const;
  static PacketHeader headerOf(const Op& op, const DataSend& send);
  bool groupOut(TimePoint now, OutPacket* out);
  bool groupDataOut(TimePoint now, OutPacket* out);
  void groupDeadline(TimePoint now);

  bool turnOut(TimePoint now, OutPacket* out);
  size_t trainBytes() const;
  bool mayBurst() const;
  bool peerOut(TimePoint now, int peer, OutPacket* out);
  bool dataOut(int peer, OutPacket* out);
  bool hasData(int peer) const;

  const Setup setup_;
  SharedState* const shared_;
  std::vector<std::byte> opened_;  // one datagram, decrypted
  Deadlines controlDues_;          // of peers_
  // When to tell a peer (again) that it gives too little credit.
  Deadlines blocked_;
  std::vector<PeerLink> peers_;
  SilenceWatch silence_;
  Multicast multicast_;
  OpTable ops_;
  Learning learning_;
  Admission admission_;
  Departure departure_;
  bool active_ = false;
  SendTurns turns_;
  TimePoint lastNow_{};
  bool broken_ = false;
  std::string outOfMemory_;  // what to say then, when no text can be made
};

}  // namespace ubt
