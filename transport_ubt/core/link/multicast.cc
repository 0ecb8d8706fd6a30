// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/link/multicast.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

// A rank that hears has answered by then. If not, it gets a probe.
constexpr Duration kCheckAfter = std::chrono::milliseconds(20);
// Minimum pause before missing credit is requested. A rank that has left a
// request unanswered has the time of kCheckAfter.
constexpr Duration kBlockedMin = std::chrono::milliseconds(5);
// A rank that has left this many probes unanswered is deaf.
constexpr int kUnansweredMax = 3;
// Pauses between probes for ranks that do not hear. They double.
constexpr Duration kSeekFirst = std::chrono::milliseconds(10);
constexpr Duration kSeekLast = std::chrono::seconds(1);
// An honest owner's numbers never come near the bit that marks control.
constexpr uint64_t kNumbersMax = kControlNumber >> 1;

}  // namespace

PeerLink::Setup Multicast::linkSetup(int self,
                                     int peer,
                                     const MulticastSeed& seed) const {
  PeerLink::Setup link;
  link.self = self;
  link.peer = peer;
  link.multicast = true;
  link.epoch = setup_.epoch;
  link.keys = multicastKeys(seed);
  link.auth = setup_.auth;
  link.datagramBytesMax = setup_.datagramBytesMax;
  link.opened = setup_.opened;
  // The hearers' limits bound the sender (available()). The link's limit does
  // not.
  link.sendCredit = kNumbersMax;
  link.receiveCredit = 0;
  return link;
}

Multicast::Multicast(const Setup& setup)
    : setup_(setup),
      out_(linkSetup(setup.rank, setup.rank, setup.seed)),
      peers_(setup.size),
      seekEvery_(kSeekFirst / 2) {
  peers_[setup.rank].closed = true;  // a rank need not hear itself
}

bool Multicast::seeking() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return !peer.closed && !peer.hears;
  });
}

void Multicast::seek(TimePoint now) {
  if (on() && seekAt_ == kNever && seeking()) {
    seekAt_ = std::max(now, sought_ + seekEvery_);
  }
}

void Multicast::heardBy(int rank, uint64_t limit) {
  Peer& peer = peers_[rank];
  if (!on() || peer.closed) {
    return;
  }
  peer.awaited = false;
  peer.limit = std::max(peer.limit, limit);
  // An answer without credit is not enough: all other ranks would have to wait
  // for this rank's credit.
  if (peer.limit > out_.send.next()) {
    peer.hears = true;
    peer.unanswered = 0;
  }
}

void Multicast::close(int rank) {
  peers_[rank].closed = true;
  peers_[rank].hears = false;
  peers_[rank].in.reset();
}

bool Multicast::available() const {
  UBT_REQUIRE(std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return peer.hears;
  }));
  return std::all_of(peers_.begin(), peers_.end(), [this](const Peer& peer) {
    return !peer.hears || peer.limit > out_.send.next();
  });
}

void Multicast::blocked(TimePoint now, Duration after) {
  const bool asked =
      std::any_of(peers_.begin(), peers_.end(), [this](const Peer& peer) {
        return peer.hears && peer.limit <= out_.send.next() &&
               peer.unanswered > 0;
      });
  checkAt_ = std::min(checkAt_,
                      now + std::max(after, asked ? kCheckAfter : kBlockedMin));
}

void Multicast::sent(TimePoint now, bool probe) {
  for (Peer& peer : peers_) {
    peer.awaited = peer.hears;
    peer.unanswered += probe;
  }
  checkAt_ = std::min(checkAt_, now + kCheckAfter);
}

void Multicast::dataOut(TimePoint now,
                        const PacketHeader& header,
                        const std::byte* payload,
                        size_t bytes,
                        OutPacket* out) {
  UBT_REQUIRE(available());
  out_.dataOut(header, payload, bytes, out);
  sent(now, false);
}

// A probe is a control packet to all ranks. It holds the owner's clocks and
// says which numbers it has used.
bool Multicast::probeOut(TimePoint now, OutPacket* out) {
  if (!probe_) {
    return false;
  }
  probe_ = false;
  out_.creditBy(now);
  out_.controlOut(
      now,
      [this](WriteCursor* cursor) {
        ControlRecord record;
        record.type = ControlType::kBlocked;
        record.number = out_.send.next();
        record.encode(cursor);
      },
      out);
  sent(now, true);
  return true;
}

TimePoint Multicast::nextDeadline() const {
  return std::min(checkAt_, seekAt_);
}

Multicast::Passed Multicast::deadlinePassed(TimePoint now, bool active) {
  Passed passed;
  if (now >= checkAt_) {
    checkAt_ = kNever;
    for (int rank = 0; rank < setup_.size; rank++) {
      Peer& peer = peers_[rank];
      const bool owes = peer.awaited || peer.limit <= out_.send.next();
      if (!peer.hears || !owes) {
        continue;
      }
      if (peer.unanswered >= kUnansweredMax) {
        peer.hears = false;
        passed.deaf.push_back(rank);
      } else {
        probe_ = true;
      }
    }
    if (!passed.deaf.empty()) {
      seekAt_ = std::min(seekAt_, now + seekEvery_);
    }
  }
  if (now >= seekAt_) {
    seekAt_ = kNever;
    if (active && seeking()) {
      for (int rank = 0; rank < setup_.size; rank++) {
        if (!peers_[rank].closed && !peers_[rank].hears) {
          passed.sought.push_back(rank);
        }
      }
      probe_ = true;
      seekEvery_ = std::min(2 * seekEvery_, kSeekLast);
      sought_ = now;
      seekAt_ = now + seekEvery_;
    }
  }
  return passed;
}

void Multicast::keyIn(int owner, const MulticastSeed& hidden) {
  Peer& peer = peers_[owner];
  if (on() && !peer.closed && peer.in == nullptr) {
    peer.in = std::make_unique<PeerLink>(
        linkSetup(setup_.rank, owner, masked(hidden, setup_.masks[owner])));
  }
}

bool Multicast::answerOut(int owner, uint64_t share, ControlRecord* out) {
  Peer& peer = peers_[owner];
  if (!peer.answerDue || peer.in == nullptr) {
    return false;
  }
  peer.answerDue = false;
  peer.in->receive.grant(share);
  out->type = ControlType::kHears;
  out->number = std::min(peer.in->receive.limit(), kNumbersMax);
  return true;
}

}  // namespace ubt
