// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport_ubt/core/base/arena.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/learn/learning.h"
#include "transport_ubt/core/link/peer_link.h"
#include "transport_ubt/core/op/op.h"
#include "transport_ubt/core/session/admission.h"
#include "transport_ubt/core/session/credit_questions.h"
#include "transport_ubt/core/session/departure.h"
#include "transport_ubt/core/session/given_credit.h"
#include "transport_ubt/core/session/lost_numbers.h"
#include "transport_ubt/core/session/op_room.h"
#include "transport_ubt/core/session/session_state.h"
#include "transport_ubt/core/session/silence_watch.h"
#include "transport_ubt/core/session/transmitter.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// One Gloo context in the protocol: its peers and its ops. Owned by its
// Endpoint, from open() to close(). It does no I/O and is not thread-safe;
// calls pass the time. Bytes from the wire are authenticated first, but not
// trusted. No verb below throws. An exception in the middle of a change, such
// as std::bad_alloc, breaks this session and no other (breakOff()).
class Session : private OpHost {
 public:
  // See SessionState::Setup.
  using Setup = SessionState::Setup;

  // `shared` must outlive this. REQUIRES size > 1, keys and windowBytes of
  // `size` entries, slotBytesMax a positive multiple of ShardLayout::kSlotStep.
  Session(const Setup& setup, SharedState* shared);
  ~Session() override = default;

  uint64_t epoch() const { return state_.setup.epoch; }
  // The part of the epoch that stands in headers.
  uint16_t context() const {
    return PacketHeader::contextOf(state_.setup.epoch);
  }
  int rank() const { return state_.setup.rank; }
  int size() const { return state_.setup.size; }
  const Options& options() const { return state_.setup.options; }
  size_t slotBytesMax() const { return state_.setup.slotBytesMax; }
  // Whether headers can name all elements and slots of an op of this shape.
  bool takes(const OpShape& shape) const;
  // Whether an op of a hierarchical shape runs in more groups than one.
  bool hasGroups() const {
    return OpRanks(state_.parts.rank, state_.parts.size, state_.parts.groups)
        .grouped();
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
    const Duration most = state_.setup.options.timeout;
    return timeout > Duration{0} ? std::min(timeout, most) : most;
  }
  bool finished(const OpId& id) const {
    return state_.broken || isFinished(id);
  }
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
  bool broken() const { return state_.broken; }

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

  // The verbs -----------------------------------------------------------------

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
  size_t opsHeld() const { return state_.ops.size(); }

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
  void connectionClosed(TimePoint now, int peer, const std::string& why);
  void tellRefusal(TimePoint now);
  void sayLeaveToAll(TimePoint now);
  Counter takeIn(TimePoint now,
                 PacketHeader header,
                 const std::byte* datagram,
                 size_t bytes,
                 bool congested);
  void passDeadlines(TimePoint now);
  void multicastDeadline(TimePoint now);

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
  // A call has waited to begin for long: tells the user.
  void warnOfWait(const Call& call);
  std::string whyNoLead(const Call& call) const;
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
               bool urgent) override {
    state_.control(now, peer, record, urgent);
  }
  Duration retryAfter(TimePoint now, int peer) const override {
    return state_.retryAfter(now, peer);
  }
  Duration lossAfter(TimePoint now, int peer) const override {
    return state_.lossAfter(now, peer);
  }
  Duration lossAfterTrip(TimePoint now, int peer) const override {
    return lossAfter(now, peer) - state_.peers[peer].roundTrip();
  }
  TimePoint lastHeard(int peer) const override {
    return state_.peers[peer].heardAt;
  }
  bool isSilent(int peer) const override {
    return state_.peers[peer].heard() &&
           silence_.isSilent(peer, state_.peers[peer].heardAt);
  }
  std::string silence(int peer) const override;
  bool makeRoom(int asker, size_t more) override {
    return room_.make(asker, more);
  }
  bool hearsMulticast(int peer) const override {
    return state_.multicast.hears(peer);
  }
  void warn(const std::string& text) override {
    if (state_.setup.warn != nullptr) {
      state_.setup.warn(text);
    }
  }

  // Calls and ops.
  bool tryBegin(TimePoint now, const OpId& id, Call* call);
  ArenaBuffer reserveKept(const OpShape& shape);
  // When a waiting call may begin, if only time holds it up. In the past: at
  // once.
  TimePoint mayBeginAt() const;
  void begin(TimePoint now, const OpId& id, const Call& call, ArenaBuffer room);
  void admit(TimePoint now);
  int lagging() const;
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
  bool isOver(const OpId& id) const;
  void forgetIfDone(TimePoint now, const OpId& id);
  void learnFrom(TimePoint now, const OpSample& op, const OpReport& report);
  void halt(TimePoint now, const std::string& why);

  // Peers.
  bool awaits(int peer) const;
  void watchSilence(TimePoint now);
  void lookForSilence(TimePoint now);
  int longSilent() const;
  void closePeer(TimePoint now, int peer, const std::string& why);
  void closedAll(TimePoint now, const std::string& why);
  void peerLeft(TimePoint now, int peer, uint32_t because);
  void sayLeave(TimePoint now, int peer);
  void answerLeave(TimePoint now, int peer);

  // Datagrams that arrive.
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
  Counter multicastIn(TimePoint now,
                      PacketHeader* header,
                      const std::byte* datagram,
                      size_t bytes,
                      bool congested);
  Counter probeIn(TimePoint now,
                  const PacketHeader& header,
                  const PeerLink::Payload& payload);

  SessionState state_;
  OpRoom room_{&state_};
  GivenCredit credit_{&state_};
  CreditQuestions questions_{&state_};
  LostNumbers losses_{&state_};
  Transmitter out_{&state_, &credit_, &questions_};
  SilenceWatch silence_;
  Learning learning_;
  Admission admission_;
  Departure departure_;
  std::string outOfMemory_;  // the error for that case, made in advance
};

}  // namespace ubt
