// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/session/endpoint.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

constexpr int kContextBits = 16;

uint64_t firstKey(uint16_t context) {
  return uint64_t{context} << (64 - kContextBits);
}

// Whether the datagram may belong to another session with the same header
// value.
bool isStrange(Counter fate) {
  return fate == Counter::kUnknownEpoch || fate == Counter::kBadTag ||
         fate == Counter::kNoMulticastKey || fate == Counter::kOwnEcho ||
         fate == Counter::kWrongRank;
}

}  // namespace

Endpoint::Endpoint(const Limits& limits, const Reduction& reduction)
    : shared_(limits, reduction) {}

Endpoint::Key Endpoint::keyOf(uint64_t epoch, int rank) {
  return {firstKey(PacketHeader::contextOf(epoch)) | epoch >> kContextBits,
          rank};
}

Session* Endpoint::open(const Session::Setup& setup) {
  const Key key = keyOf(setup.epoch, setup.rank);
  UBT_REQUIRE(sessions_.count(key) == 0);
  return sessions_.emplace(key, std::make_unique<Session>(setup, &shared_))
      .first->second.get();
}

void Endpoint::close(Session* session) {
  sessions_.erase(keyOf(session->epoch(), session->rank()));
}

void Endpoint::packetIn(TimePoint now,
                        const std::byte* datagram,
                        size_t bytes,
                        bool congested) {
  PacketHeader header;
  if (!PacketHeader::decode(datagram, bytes, &header)) {
    shared_.counters.add(Counter::kMalformed);
    return;
  }
  Counter fate = Counter::kUnknownEpoch;
  for (auto session = sessions_.lower_bound({firstKey(header.context), 0});
       session != sessions_.end() &&
       session->second->context() == header.context;
       ++session) {
    const Counter next =
        session->second->packetIn(now, header, datagram, bytes, congested);
    if (isStrange(fate)) {
      fate = next;
    }
    // Multicast may be for several ranks here.
    if (!isStrange(next) && !header.multicast) {
      break;
    }
  }
  shared_.counters.add(fate);
}

void Endpoint::overflowed(uint64_t datagrams) {
  shared_.counters.add(Counter::kOverflowed, datagrams);
  shared_.window.overflowed();
}

Session* Endpoint::packetOut(TimePoint now, OutPacket* out) {
  // A burst stays whole. After it the next session has its turn.
  const auto sending = sessions_.find(turn_);
  if (sending != sessions_.end() && sending->second->burstOut(now, out)) {
    return sending->second.get();
  }
  auto session = sessions_.upper_bound(turn_);
  for (size_t i = 0; i < sessions_.size(); i++, ++session) {
    if (session == sessions_.end()) {
      session = sessions_.begin();
    }
    if (session->second->packetOut(now, out)) {
      turn_ = session->first;
      return session->second.get();
    }
  }
  return nullptr;
}

TimePoint Endpoint::nextDeadline() const {
  TimePoint next = kNever;
  for (const auto& [epoch, session] : sessions_) {
    next = std::min(next, session->nextDeadline());
  }
  return next;
}

void Endpoint::deadlinePassed(TimePoint now) {
  for (auto& [epoch, session] : sessions_) {
    session->deadlinePassed(now);
  }
}

}  // namespace ubt
