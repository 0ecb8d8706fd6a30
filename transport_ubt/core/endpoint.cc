// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/endpoint.h"

#include <algorithm>
#include <new>

namespace ubt {

Endpoint::Endpoint(const Limits& limits, const Reduction& reduction)
    : shared_{Arena(limits.arenaBytes, limits.arenaBudget),
              ReceiveWindow(limits.windowBytesMin,
                            limits.windowBytesMax,
                            limits.windowAdapts),
              {},
              {},
              {},
              reduction,
              0} {}

Session* Endpoint::open(const Session::Setup& setup) {
  auto& session = sessions_[setup.epoch];
  session = std::make_unique<Session>(setup, &shared_);
  return session.get();
}

void Endpoint::close(Session* session) {
  sessions_.erase(session->epoch());
}

void Endpoint::packetIn(TimePoint now,
                        const std::byte* datagram,
                        size_t bytes) {
  PacketHeader header;
  if (!PacketHeader::decode(datagram, bytes, &header)) {
    shared_.counters.add(Counter::kMalformed);
    return;
  }
  const auto session = sessions_.find(header.epoch);
  if (session == sessions_.end()) {
    shared_.counters.add(Counter::kUnknownEpoch);
    return;
  }
  try {
    session->second->packetIn(now, header, datagram, bytes);
  } catch (const std::bad_alloc&) {
    // The machine has less than the arena's limit promises: a peer's bytes
    // must not end this process for it.
    shared_.counters.add(Counter::kArenaFull);
  }
}

Session* Endpoint::packetOut(TimePoint now, OutPacket* out) {
  // A burst that has begun stays whole; then the next session's turn comes.
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
