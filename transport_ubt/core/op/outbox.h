// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/op/attendance.h"
#include "transport_ubt/core/op/broadcast_stage.h"
#include "transport_ubt/core/op/bucket.h"
#include "transport_ubt/core/op/op_ranks.h"
#include "transport_ubt/core/op/owned_shard.h"
#include "transport_ubt/core/op/send_queue.h"
#include "transport_ubt/core/op/shard_layout.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// One slot on its way out. `payload` is valid until the next call into the op.
struct DataSend {
  Stage stage = Stage::kScatter;
  uint32_t slot = 0;
  uint16_t contributors = 0;
  Form form = Form::kPlain;
  bool lastPercentile = false;
  bool repair = false;
  bool partial = false;
  const std::byte* payload = nullptr;
  size_t payloadBytes = 0;
};

// What an op has to send: to each member its shard of the caller's bucket, to
// members results of the own shard, to co-owners the group's sum of it, and
// what they ask for again. New results go to those ranks by multicast that hear
// it.
class Outbox {
 public:
  // What it takes slots from. All of it outlives this.
  struct Sources {
    const ShardLayout* layout = nullptr;
    const OpRanks* ranks = nullptr;
    const Attendance* attendance = nullptr;
    const OwnedShard* owned = nullptr;
    const BroadcastStage* results = nullptr;
    Bucket* bucket = nullptr;
  };

  explicit Outbox(const Sources& from);

  // Queues' bits apart (SendQueue).
  static constexpr size_t bytesPerRank() { return sizeof(Peer); }

  // Who hears multicast is settled when the op begins here: so all of them are
  // sent the same. One hearer alone needs no multicast.
  template <typename Hears>
  void joinMulticast(const Hears& hears);
  // The rank hears no more: what it has not been sent it gets by itself.
  void leaveMulticast(int rank);

  // A rank has all slots of the own shard below that one; a co-owner, of the
  // group's sum.
  void noteProgress(int rank, uint32_t slot);
  // Whether a rank still lacks a slot of those.
  bool isNeeded(int rank) const;
  OwnedShard::Needed needed() const;

  // The rank asks for slots of its shard again, from `slot` to `end`.
  // REQUIRES isMember(rank).
  void repeatContributions(int rank, uint32_t slot, uint32_t end);
  // The rank asks for slots of the own shard again. False: some were not kept,
  // for lack of room, and it has asked before, `retryAfter` ago or longer. (A
  // first request may be older than the slot's arrival there.) REQUIRES a
  // member or a co-owner.
  bool repeatResults(TimePoint now,
                     int rank,
                     uint32_t slot,
                     uint32_t end,
                     Duration retryAfter);

  // The rank wants no more contributions, no more results, or nothing at all.
  void stopContributions(int rank) { peers_[rank].queue.stopScatter(); }
  void stopResults(int rank) { peers_[rank].queue.stopBroadcast(); }
  void stop(int rank);

  bool hasContribution(int rank) const;
  bool hasData(int rank) const;
  // Whether results have still to leave for a rank.
  bool owesResults(int rank) const;
  // The next slot for a rank, or false. Contributions go before results: a
  // stage that is interrupted by the next one takes longer than it needs, and
  // so does its bound; and owners could not tell a rank that does something
  // else first from one that has stopped.
  bool next(int rank, DataSend* out);
  // The same for multicast, which carries new results only.
  bool hasMulticast() const;
  bool nextMulticast(DataSend* out);

 private:
  struct Peer {
    explicit Peer(const SendQueue& sends) : queue(sends) {}
    SendQueue queue;
    bool byMulticast = false;     // gets new results so
    TimePoint lackedAt = kNever;  // when it first asked for a slot not kept
    uint32_t progress = 0;
  };

  bool takesSlots(int rank) const {
    return from_.ranks->isMember(rank) || from_.ranks->isCoOwner(rank);
  }
  const std::vector<uint32_t>& orderFor(int rank) const;
  bool isKept(int rank, uint32_t slot) const;
  bool fill(int rank, DataSend* out) const;
  bool nextResult(int rank, DataSend* out);
  bool nextResultAgain(int rank, DataSend* out);
  bool nextContribution(int rank, DataSend* out);

  const Sources from_;
  std::vector<Peer> peers_;
  int hearers_ = 0;             // of multicast
  uint32_t multicastNext_ = 0;  // of the order of closing, for all of them
};

template <typename Hears>
void Outbox::joinMulticast(const Hears& hears) {
  const int own = from_.ranks->rank();
  for (int rank = 0; rank < from_.ranks->size(); rank++) {
    peers_[rank].byMulticast = hears(rank);
    hearers_ += peers_[rank].byMulticast;
  }
  leaveMulticast(own);
}

}  // namespace ubt
