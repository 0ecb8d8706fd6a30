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
#include "transport_ubt/core/pacing/delivery_window.h"
#include "transport_ubt/core/pacing/incast.h"
#include "transport_ubt/core/pacing/link_rate.h"
#include "transport_ubt/core/pacing/notice_delay.h"
#include "transport_ubt/core/pacing/timer_lateness.h"
#include "transport_ubt/core/session/admission.h"
#include "transport_ubt/core/session/credit_grants.h"
#include "transport_ubt/core/session/departure.h"
#include "transport_ubt/core/session/op_table.h"
#include "transport_ubt/core/session/send_turns.h"
#include "transport_ubt/core/session/silence_watch.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

class Session;

// The state that all sessions on one socket share. Owned by the endpoint.
struct SharedState {
  Arena arena;
  DeliveryWindow window;
  Counters counters;
  TimerLateness lateness;
  NoticeDelay noticeDelay;
  LinkRate link;
  Reduction reduction;
  int activeSenders = 0;  // peers that owe data to some session
  std::vector<Session*> sessions;
};

// One Gloo context in the protocol: its peers and its ops. Owned by its
// Endpoint, from open() to close(). It does no I/O and is not thread-safe;
// calls pass the time. Bytes from the wire are authenticated first, but not
// trusted. No verb below throws. An exception in the middle of a change, such
// as std::bad_alloc, breaks this session and no other (breakOff()).
class Session : private OpHost {
 public:
  struct Setup {
    int rank = 0;
    int size = 1;
    uint64_t epoch = 0;
    size_t slotBytesMax = 0;            // the same on all ranks
    std::vector<PeerKeys> keys;         // by rank; the own entry is unused
    MulticastSeed multicastSeed{};      // of the own multicast; fresh
    std::vector<uint64_t> windowBytes;  // by rank: the largest window
    // The groups of hierarchical ops, the same on all ranks. Without groups, or
    // with groups of unequal sizes, hierarchical ops run as plain ones.
    std::optional<RankGroups> groups;
    Options options;
    // Called once for each long silence of a rank that is needed
    // (SilenceWatch). May be empty. REQUIRES that it calls nothing of this
    // session's endpoint.
    std::function<void(int rank)> silent;
  };

  // `shared` must outlive this. REQUIRES size > 1, keys and windowBytes of
  // `size` entries, slotBytesMax a positive multiple of ShardLayout::kSlotStep.
  Session(const Setup& setup, SharedState* shared);
  ~Session() override;

  uint64_t epoch() const { return setup_.epoch; }
  // The part of the epoch that stands in headers.
  uint16_t context() const { return PacketHeader::contextOf(setup_.epoch); }
  int rank() const { return setup_.rank; }
  int size() const { return setup_.size; }
  const Options& options() const { return setup_.options; }
  size_t slotBytesMax() const { return setup_.slotBytesMax; }
  // Whether headers can name all elements and slots of an op of this shape.
  bool takes(const OpShape& shape) const;
  // Whether an op of a hierarchical shape runs in more groups than one.
  bool hasGroups() const {
    return OpRanks(parts_.rank, parts_.size, parts_.groups).grouped();
  }

  // Callers ------------------------------------------------------------------

  // Begins an allreduce over `bucket`, in place, under a tag of shape.space.
  // The call may wait first (Admission). The op reads and writes the bucket
  // until leave(). The call ends after `timeout`, including the wait. At
  // most Options::timeout; zero means that one. A call that ends
  // without its result fails the session here and at the other ranks. So does a
  // call under a tag whose use count is no longer known (TagCounts). REQUIRES
  // failure().empty(), takes(shape).
  OpId enter(TimePoint now,
             uint32_t tag,
             const OpShape& shape,
             std::byte* bucket,
             Duration timeout = Duration{0});
  // The timeout of a call that passes `timeout` to enter().
  Duration timeoutOf(Duration timeout) const {
    const Duration most = setup_.options.timeout;
    return timeout > Duration{0} ? std::min(timeout, most) : most;
  }
  bool finished(const OpId& id) const { return broken_ || isFinished(id); }
  // Why the op has no result; empty: it has one. REQUIRES finished(id).
  const std::string& failure(const OpId& id) const;
  // Ends the call. The session no longer uses the bucket, which holds the
  // result unless the op failed or the session is broken(). REQUIRES
  // finished(id).
  OpReport leave(TimePoint now, const OpId& id);

  // The session cannot go on, because of a bug or for lack of memory. All its
  // calls fail, and it only tells its peers that it leaves. Never throws. No-op
  // on a broken session.
  void breakOff(TimePoint now, const char* why) noexcept;
  bool broken() const { return broken_; }

  // Gloo's connection to a rank has closed. Every op that still needs the rank
  // fails, and no further op can begin. The first such news counts; later ones
  // are its consequence. For the own rank: it closed the connections itself,
  // and every op fails. If an op waits for a rank, that rank is to blame.
  void peerClosed(TimePoint now, int peer, const std::string& why);
  // Why no further op can begin; empty: one can. Ops that have begun end by
  // their bound if the job was halted (Halt), and fail if a rank has gone.
  const std::string& failure() const { return departure_.why(); }
  // A caller has been told why its call failed. Tells the other ranks, whose
  // calls fail as well. REQUIRES a failure.
  void announceFailure(TimePoint now);

  // Whether some peer may still need something of this session. A peer that was
  // told that this rank leaves does not.
  bool lingering() const {
    return !departure_.hasLeft() && admission_.lead().any();
  }
  // Those peers: they have not finished an op that has returned here.
  std::vector<int> neededBy() const;
  // Tells all peers that this context goes away.
  void sendLeave(TimePoint now);

  // The four verbs -----------------------------------------------------------

  // A datagram of this session's context. Returns its fate.
  Counter packetIn(TimePoint now,
                   const PacketHeader& header,
                   const std::byte* datagram,
                   size_t bytes,
                   bool congested);
  // The next datagram to send, or false. To the own rank: by multicast.
  bool packetOut(TimePoint now, OutPacket* out);
  // The next datagram of the burst that packetOut() began, or false: then it is
  // another session's turn.
  bool burstOut(TimePoint now, OutPacket* out);
  TimePoint nextDeadline() const;
  void deadlinePassed(TimePoint now);

  // The number of ops known here; for tests of memory.
  size_t opsHeld() const { return ops_.size(); }

 private:
  using Call = Admission::Call;

  // The verbs themselves. They may throw in the middle of a change.
  OpId begins(TimePoint now,
              uint32_t tag,
              const OpShape& shape,
              std::byte* bucket,
              Duration timeout);
  OpReport ends(TimePoint now, const OpId& id);
  bool isFinished(const OpId& id) const;
  void closePeer(TimePoint now, int peer, const std::string& why);
  void tellRefusal(TimePoint now);
  void sayLeaveToAll(TimePoint now);
  Counter takeIn(TimePoint now,
                 PacketHeader header,
                 const std::byte* datagram,
                 size_t bytes,
                 bool congested);
  bool nextOut(TimePoint now, OutPacket* out);
  bool nextOfBurst(TimePoint now, OutPacket* out);
  void passDeadlines(TimePoint now);

  // Run a verb. An exception breaks the session. contained() runs none in a
  // broken session.
  template <typename Verb>
  void contained(TimePoint now, const Verb& verb);
  template <typename Verb>
  void guarded(TimePoint now, const Verb& verb);
  // Gives up all ops, with their buckets and memory.
  void dropOps();

  // The session fails: no further op can begin, calls that still wait fail, and
  // the other ranks are told, after `tellAfter`.
  void fail(TimePoint now,
            const std::string& why,
            Duration tellAfter = Duration{0});
  // The same, and blames that rank unless another one is to blame already.
  void failBecauseOf(TimePoint now, int rank, const std::string& why);
  // A call has waited to begin for its whole timeout.
  void giveUp(TimePoint now, const Call& call);
  // A peer needs results that this rank had no room to keep.
  void resultsUnavailable(TimePoint now, int peer);
  // The tag's use count is no longer known: the session fails.
  OpId refuseTag(TimePoint now, uint32_t tag, TagSpace space, const Call& call);

  // OpHost
  void control(TimePoint now,
               int peer,
               const ControlRecord& record,
               bool urgent) override;
  Duration retryAfter(TimePoint now, int peer) const override;
  Duration lossAfter(TimePoint now, int peer) const override;
  Duration lossAfterTrip(TimePoint now, int peer) const override {
    return lossAfter(now, peer) - peers_[peer].roundTrip();
  }
  TimePoint lastHeard(int peer) const override;
  bool isSilent(int peer) const override {
    return peers_[peer].heard() &&
           silence_.isSilent(peer, peers_[peer].heardAt);
  }
  std::string silence(int peer) const override;
  bool makeRoom(int asker, size_t more) override;
  bool hearsMulticast(int peer) const override {
    return multicast_.hears(peer);
  }

  size_t shareBytes() const;
  bool evictForRoom(int asker, size_t wanted);
  bool evictForNumber(int asker);
  void evict(const OpId& id);
  void expireUnentered(TimePoint now);
  TimePoint expiryOf(const Op& op) const {
    return op.begunAt() + 2 * setup_.options.timeout;
  }

  bool tryBegin(TimePoint now, const OpId& id, Call* call);
  ArenaBuffer reserveKept(const OpShape& shape);
  // When a waiting call may begin, if only time holds it up. In the past: at
  // once.
  TimePoint mayBeginAt() const;
  void begin(TimePoint now, const OpId& id, const Call& call, ArenaBuffer room);
  void admit(TimePoint now);
  int lagging() const;
  void learnFrom(TimePoint now, const OpSample& op, const OpReport& report);
  bool awaits(int peer) const;
  void connectionClosed(TimePoint now, int peer, const std::string& why);
  void closedAll(TimePoint now, const std::string& why);
  int longSilent() const;
  bool hasLeaveToSend(int peer) const {
    return !peers_[peer].closed() || peers_[peer].controlDue() != kNever;
  }
  void watchSilence(TimePoint now);
  void lookForSilence(TimePoint now);
  void halt(TimePoint now, const std::string& why);
  Form contributionForm() const;
  Op* start(TimePoint now,
            const OpId& id,
            const OpShape& shape,
            const OpParts& parts,
            int announcer,
            ArenaBuffer room);
  Op* startFromPeer(TimePoint now,
                    const OpId& id,
                    const OpShape& shape,
                    const OpParts& parts,
                    int peer,
                    Counter* whyNot);
  OpParts partsOf(const OpShape& shape) const { return {shape, parts_}; }
  bool isOver(const OpId& id) const;
  void forgetIfDone(TimePoint now, const OpId& id);
  void updateActivity();
  void setActive(bool active);
  void peerLeft(TimePoint now, int peer, uint32_t because);
  void sayLeave(TimePoint now, int peer);
  void answerLeave(TimePoint now, int peer);

  Counter newDataIn(TimePoint now,
                    const PacketHeader& header,
                    const PeerLink::Payload& payload,
                    size_t bytes,
                    bool congested,
                    ReceiveCredit* credit);
  Counter dataIn(TimePoint now,
                 const PacketHeader& header,
                 const std::byte* payload,
                 size_t bytes);
  Counter controlIn(TimePoint now,
                    const PacketHeader& header,
                    const PeerLink::Payload& payload);
  void recordIn(TimePoint now, int peer, const ControlRecord& record);
  void doneIn(TimePoint now, int peer, const ControlRecord& record, Op* op);
  void sampleRound(TimePoint now, int peer);
  void numberIn(TimePoint now, int peer, uint64_t number, size_t bytes);
  void numbersUsed(TimePoint now, int peer, uint64_t next);
  void findLosses(TimePoint now, int peer);
  void lostIn(TimePoint now, int peer, const ControlRecord& record);
  void considerCredit(TimePoint now, int peer);
  // Eighths of a round trip, or more if hosts may be late.
  Duration longerThanTrip(TimePoint now, int peer, int eighths) const;
  void writeCredit(int peer, WriteCursor* out);
  CreditGrants::Load loadOf(int peer) const;
  uint64_t heldBeside(int peer) const;
  uint64_t shareOf(int peer, const CreditGrants::Load& load) const;
  Incast::Sender senderOf(TimePoint now, int peer) const;
  void passTurns(TimePoint now);
  uint64_t incastIn(int peer, uint64_t credit);
  uint64_t incastOut() const;

  // Multicast
  Counter multicastIn(TimePoint now,
                      PacketHeader* header,
                      const std::byte* datagram,
                      size_t bytes,
                      bool congested);
  Counter probeIn(TimePoint now,
                  const PacketHeader& header,
                  const PeerLink::Payload& payload);
  void answerMulticast(TimePoint now, int owner);
  void writeHears(int owner, WriteCursor* out);
  uint64_t multicastShareSlots() const;
  bool multicastsTurn(const Op& op) const;
  bool hasMulticastData() const;
  static PacketHeader headerOf(const Op& op, const DataSend& send);
  bool multicastOut(TimePoint now, OutPacket* out);
  bool multicastDataOut(TimePoint now, OutPacket* out);
  void multicastDeadline(TimePoint now);

  const Op* goesFirst() const;
  bool turnOut(TimePoint now, const Op* first, OutPacket* out);
  size_t trainBytes() const;
  bool mayBurst() const;
  bool peerOut(TimePoint now, int peer, const Op* first, OutPacket* out);
  bool dataOut(int peer, OutPacket* out);
  bool hasData(int peer) const;

  const Setup setup_;
  const OpParts::Context parts_;
  SharedState* const shared_;
  std::vector<std::byte> opened_;  // one datagram, decrypted
  Deadlines controlDues_;          // of peers_
  // By peer: when to tell it (again) that it gives too little credit.
  Deadlines blocked_;
  // Of the latest datagram of data; before one has come, of the largest.
  size_t lossBytes_;
  Deadlines losses_;  // by peer: when a missing number counts as lost
  std::vector<PeerLink> peers_;
  SilenceWatch silence_;
  Multicast multicast_;
  const CreditGrants grants_;
  std::optional<Incast> incast_;  // with the paper's loops
  OpTable ops_;
  Learning learning_;
  Admission admission_;
  Departure departure_;
  bool active_ = false;
  SendTurns turns_;
  bool broken_ = false;
  std::string outOfMemory_;  // the error for that case, made in advance
};

}  // namespace ubt
