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
struct DataSend : OwnedShard::Value {
  Stage stage = Stage::kScatter;
  uint32_t slot = 0;
  bool lastPercentile = false;
  bool repair = false;
};

// The slots that an op has to send:
// - to each member, its shard of the caller's bucket
// - to each member, results of the own shard; by multicast where it is heard
// - to each co-owner, the own group's sum of the shard
// - slots that a rank asks for again
class Outbox {
 public:
  // The sources of slots. They all outlive this.
  struct Sources {
    const ShardLayout* layout = nullptr;
    const OpRanks* ranks = nullptr;
    const Attendance* attendance = nullptr;
    const OwnedShard* owned = nullptr;
    const BroadcastStage* results = nullptr;
    Bucket* bucket = nullptr;
    // Whether a rank's last contributions carry marks, as its results do.
    bool marksContributions = false;
  };

  explicit Outbox(const Sources& from);

  // Without the bits of the queues (SendQueue).
  static constexpr size_t bytesPerRank() { return sizeof(Peer); }

  // The hearers are fixed when the op begins here, so that all of them get the
  // same results. A single hearer needs no multicast.
  template <typename Hears>
  void joinMulticast(const Hears& hears);
  // The rank does not hear multicast any longer: it gets the remaining results
  // directly.
  void leaveMulticast(int rank);

  // A member has all results of the own shard below `slot`; a co-owner, all
  // sums.
  void noteProgress(int rank, uint32_t slot);
  // Whether a rank may still lack a slot of the own shard.
  bool isNeeded(int rank) const;
  OwnedShard::Needed needed() const;

  // The rank asks for slots of its shard again, from `slot` to `end`.
  // REQUIRES isMember(rank).
  void repeatContributions(int rank, uint32_t slot, uint32_t end);
  // The rank asks for slots of the own shard again. There may have been no room
  // to keep a slot. A first request for it may have crossed the slot on its
  // way. False: such a request came kLackGrace ago or longer. REQUIRES a member
  // or a co-owner.
  static constexpr Duration kLackGrace = std::chrono::milliseconds(50);
  bool repeatResults(TimePoint now, int rank, uint32_t slot, uint32_t end);

  // The rank wants no further contributions, no further results, or neither.
  void stopContributions(int rank) { peers_[rank].queue.stopScatter(); }
  void stopResults(int rank) { peers_[rank].queue.stopBroadcast(); }
  void stop(int rank);

  bool hasContribution(int rank) const;
  bool hasData(int rank) const;
  // Whether results for a rank have not left yet.
  bool owesResults(int rank) const;
  // The next slot for a rank, or false. Contributions go before results, unless
  // the rank wants `resultsFirst`: a slot closes only with contributions of all
  // ranks.
  bool next(int rank, bool resultsFirst, DataSend* out);
  // Whether multicast has a slot, and the next one. Multicast carries only new
  // results.
  bool hasMulticast() const;
  bool nextMulticast(DataSend* out);

 private:
  struct Peer {
    explicit Peer(const SendQueue& sends) : queue(sends) {}
    SendQueue queue;
    bool byMulticast = false;     // hears it, and gets new results that way
    TimePoint lackedAt = kNever;  // when it first asked for a slot not kept
    uint32_t progress = 0;
  };

  const std::vector<uint32_t>& orderFor(int rank) const;
  bool isKept(int rank, uint32_t slot) const;
  bool fill(int rank, DataSend* out) const;
  bool nextResult(int rank, DataSend* out);
  bool nextResultAgain(int rank, DataSend* out);
  bool nextContribution(int rank, DataSend* out);

  const Sources from_;
  std::vector<Peer> peers_;
  int hearers_ = 0;             // of multicast
  uint32_t multicastNext_ = 0;  // index into the order of closing
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
