// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/link/peer_link.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/packet_crypto.h"

namespace ubt {

// One rank's part in its context's multicast. As an owner it keeps the keys,
// numbers and credit of its multicast, and which ranks hear it. As a receiver
// it keeps the same for each owner that it hears. Each pair of ranks finds out
// for itself: an owner sends probes, and a rank that hears them answers. A rank
// that leaves several probes unanswered is deaf. Not thread-safe.
class Multicast {
 public:
  struct Setup {
    bool on = false;
    int rank = 0;
    int size = 1;
    uint64_t epoch = 0;
    AuthMode auth = AuthMode::kHeader;
    MulticastSeed seed{};              // seed of this rank's multicast keys
    std::vector<MulticastMask> masks;  // by rank: the mask of that rank's seed
    size_t datagramBytesMax = 0;
    std::vector<std::byte>* opened = nullptr;  // see PeerLink::Setup
  };

  // With fewer hearers, unicast is as good.
  static constexpr int kHearersMin = 2;
  // Bytes that the multicast of all owners together may have in flight to one
  // receiver: a quarter of its window, but at most this. All owners multicast
  // at the same time, while their unicast goes to a different receiver each. So
  // one queue on the way may get all of it, behind contributions.
  static constexpr uint64_t kWindowBytesMax = 128 << 10;
  // Each owner may have this many slots in flight nevertheless, up to half of
  // the window together. With fewer, a loss at one rank makes its owner wait
  // for a probe, and all other ranks wait with it.
  static constexpr uint64_t kShareSlots = 4;
  // A receiver answers within this.
  static constexpr Duration kAnswerWithin = std::chrono::milliseconds(5);

  explicit Multicast(const Setup& setup);

  bool on() const { return setup_.on; }

  // As an owner --------------------------------------------------------------

  bool hears(int rank) const { return peers_[rank].hears; }
  // From now on, and while the context is in use, looks for ranks that do not
  // hear.
  void seek(TimePoint now);
  // The rank has heard this owner and takes numbers below `limit`.
  void heardBy(int rank, uint64_t limit);
  // The rank is gone.
  void close(int rank);
  // Whether each rank that hears has credit for one more number. REQUIRES that
  // some rank hears.
  bool available() const;
  // There is data, but some rank's credit is missing. Asks for it after
  // `after`, if that is longer than kAnswerWithin; if such a rank was asked
  // before, than kCheckAfter.
  void blocked(TimePoint now, Duration after);
  // Completes a data packet, like PeerLink::dataOut(). REQUIRES available().
  void dataOut(TimePoint now,
               const PacketHeader& header,
               const std::byte* payload,
               size_t bytes,
               OutPacket* out);
  // Writes a probe and returns true, if one is due.
  bool probeOut(TimePoint now, OutPacket* out);

  TimePoint nextDeadline() const;
  // The ranks that a deadline concerns. `active` tells whether the context is
  // in use.
  struct Passed {
    std::vector<int> deaf;    // ranks that no longer hear
    std::vector<int> sought;  // ranks that need this owner's multicast key
  };
  Passed deadlinePassed(TimePoint now, bool active);

  // As a receiver ------------------------------------------------------------

  // An owner tells the seed of its keys, masked. Only its first message counts.
  void keyIn(int owner, const MulticastSeed& hidden);
  // Bytes that the multicast of all owners may have in flight to this rank, out
  // of a window of `whole` bytes. Zero until an owner has been heard.
  uint64_t windowBytes(uint64_t whole) const {
    const uint64_t shares =
        kShareSlots * (setup_.size - 1) * setup_.datagramBytesMax;
    return heard_ ? std::max(std::min(kWindowBytesMax, whole / 4),
                             std::min(shares, whole / 2))
                  : 0;
  }
  // The link that opens an owner's multicast; null if its key is unknown.
  PeerLink* from(int owner) { return peers_[owner].in.get(); }
  // The owner should be told that it is heard.
  void answer(int owner) {
    peers_[owner].answerDue = true;
    heard_ = true;
  }
  // Writes that answer and returns true, if it is due. Lets the owner use
  // `share` numbers beyond the highest one seen.
  bool answerOut(int owner, uint64_t share, ControlRecord* out);

 private:
  struct Peer {
    // As an owner.
    bool closed = false;
    bool hears = false;
    bool awaited = false;  // its answer is awaited
    int unanswered = 0;    // probes since its last answer
    uint64_t limit = 0;
    // As a receiver.
    std::unique_ptr<PeerLink> in;
    bool answerDue = false;
  };

  PeerLink::Setup linkSetup(int self,
                            int peer,
                            const MulticastSeed& seed) const;
  bool seeking() const;
  void sent(TimePoint now, bool probe);

  const Setup setup_;
  PeerLink out_;
  std::vector<Peer> peers_;     // by rank
  bool heard_ = false;          // some owner was heard
  bool probe_ = false;          // a probe is due
  TimePoint checkAt_ = kNever;  // when to check that hearers answered
  TimePoint seekAt_ = kNever;   // when to probe those that do not hear
  TimePoint sought_{};          // when that was done last
  Duration seekEvery_;
};

}  // namespace ubt
