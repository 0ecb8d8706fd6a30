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
#include "transport_ubt/core/wire/group_key.h"

namespace ubt {

// One rank's part in its context's multicast group. As an owner: keys, numbers
// and credit of what it says to all at once, and who hears it. As a receiver:
// the same of each owner that it hears. Whether a rank hears an owner is a
// matter of the two: the owner probes, whoever hears answers, and who owes
// answers for long is taken for deaf. Not thread-safe.
class Multicast {
 public:
  struct Setup {
    bool on = false;
    int rank = 0;
    int size = 1;
    uint64_t epoch = 0;
    AuthMode auth = AuthMode::kHeader;
    GroupSeed seed{};              // of the own group keys
    std::vector<GroupMask> masks;  // by rank: what hides that rank's seed
    size_t datagramBytesMax = 0;
    std::vector<std::byte>* opened = nullptr;  // as PeerLink's
  };

  // Fewer are served as well one by one.
  static constexpr int kHearersMin = 2;
  // What all owners' multicast together may have in flight to one receiver, at
  // most: a quarter of its window, and no more than this. Owners send it at
  // once, and not, as what they send one by one, each to another: a queue on
  // the way may get it all, behind contributions. Bytes.
  static constexpr uint64_t kWindowBytesMax = 128 << 10;
  // But this many slots of each owner may, if that is no more than half: with
  // fewer, what one rank loses makes its owner wait for a probe, and all others
  // with it.
  static constexpr uint64_t kShareSlots = 4;
  // A receiver answers within this.
  static constexpr Duration kAnswerWithin = std::chrono::milliseconds(5);

  explicit Multicast(const Setup& setup);

  bool on() const { return setup_.on; }

  // As an owner --------------------------------------------------------------

  bool hears(int rank) const { return peers_[rank].hears; }
  // Looks for those that do not hear, from now on, while the context is in use.
  void seek(TimePoint now);
  // A rank heard, and takes numbers below `limit`.
  void heardBy(int rank, uint64_t limit);
  // The rank is gone.
  void close(int rank);
  // Whether every rank that hears may be sent one number more. REQUIRES that
  // some rank hears.
  bool available() const;
  // Somebody's credit is lacking, though there is data: asks for it `after`,
  // from now.
  void blocked(TimePoint now, Duration after);
  // Completes a data packet, as PeerLink's. REQUIRES available().
  void dataOut(TimePoint now,
               const PacketHeader& header,
               const std::byte* payload,
               size_t bytes,
               OutPacket* out);
  // A probe, if one is due.
  bool probeOut(TimePoint now, Duration late, OutPacket* out);

  TimePoint nextDeadline() const;
  // `active`: the context is in use. What follows from it.
  struct Passed {
    std::vector<int> deaf;    // those that hear no more
    std::vector<int> sought;  // those that should be told the group's key
  };
  Passed deadlinePassed(TimePoint now, bool active);

  // What goes out from now on says that this rank begins no op any more.
  void halt() { out_.halted = true; }

  // As a receiver ------------------------------------------------------------

  // A rank tells the seed of its keys, hidden. Only its first word counts.
  void keyIn(int owner, const GroupSeed& hidden);
  // What all owners' multicast may have in flight to here, of a whole window
  // of so many bytes: nothing as long as nobody was heard.
  uint64_t windowBytes(uint64_t whole) const {
    const uint64_t shares =
        kShareSlots * (setup_.size - 1) * setup_.datagramBytesMax;
    return heard_ ? std::max(std::min(kWindowBytesMax, whole / 4),
                             std::min(shares, whole / 2))
                  : 0;
  }
  // What an owner's multicast is opened with; null: its key is not known.
  PeerLink* from(int owner) { return peers_[owner].in.get(); }
  // Whether the owner should hear that it is heard.
  void answer(int owner) {
    peers_[owner].answerDue = true;
    heard_ = true;
  }
  // Writes that, if so, and lets it be `share` ahead.
  bool answerOut(int owner, uint64_t share, ControlRecord* out);

 private:
  struct Peer {
    // As an owner.
    bool closed = false;
    bool hears = false;
    bool awaited = false;  // its answer
    int unanswered = 0;    // probes since its last answer
    uint64_t limit = 0;
    // As a receiver.
    std::unique_ptr<PeerLink> in;
    bool answerDue = false;
  };

  PeerLink::Setup linkSetup(int self, int peer, const GroupSeed& seed) const;
  bool seeking() const;
  void sent(TimePoint now, bool probe);

  const Setup setup_;
  PeerLink out_;
  std::vector<Peer> peers_;     // by rank
  bool heard_ = false;          // some owner
  bool probe_ = false;          // is due
  TimePoint checkAt_ = kNever;  // whether those that hear have answered
  TimePoint seekAt_ = kNever;   // for those that do not
  TimePoint sought_{};          // last
  Duration seekEvery_;
};

}  // namespace ubt
