// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/endpoint.h"

#include <algorithm>
#include <new>

namespace ubt {
namespace {

constexpr int kContextBits = 16;

uint64_t firstKey(uint16_t context) {
  return uint64_t{context} << (64 - kContextBits);
}

uint64_t keyOf(uint64_t epoch) {
  return firstKey(PacketHeader::contextOf(epoch)) | epoch >> kContextBits;
}

// Whether a datagram may be another session's of the same context number.
bool isStrange(Counter fate) {
  return fate == Counter::kBadTag || fate == Counter::kNoGroupKey ||
         fate == Counter::kOwnEcho || fate == Counter::kWrongRank;
}

}  // namespace

Endpoint::Endpoint(const Limits& limits, const Reduction& reduction)
    : shared_{Arena(limits.arenaBytes, limits.arenaBudget),
              ReceiveWindow(limits.windowBytesMin,
                            limits.windowBytesMax,
                            limits.windowAdapts),
              {},
              TimerLateness(),
              LinkRate(limits.trainsAdapt),
              reduction,
              0} {}

Session* Endpoint::open(const Session::Setup& setup) {
  auto& session = sessions_[keyOf(setup.epoch)];
  session = std::make_unique<Session>(setup, &shared_);
  return session.get();
}

void Endpoint::close(Session* session) {
  sessions_.erase(keyOf(session->epoch()));
}

void Endpoint::packetIn(TimePoint now,
                        const std::byte* datagram,
                        size_t bytes) {
  PacketHeader header;
  if (!PacketHeader::decode(datagram, bytes, &header)) {
    shared_.counters.add(Counter::kMalformed);
    return;
  }
  Counter fate = Counter::kUnknownEpoch;
  try {
    const uint64_t key = firstKey(header.context);
    for (auto session = sessions_.lower_bound(key);
         session != sessions_.end() &&
         session->second->context() == header.context;
         ++session) {
      const Counter next =
          session->second->packetIn(now, header, datagram, bytes);
      if (!isStrange(next)) {
        fate = next;
        break;
      }
      fate = fate == Counter::kUnknownEpoch ? next : fate;
    }
  } catch (const std::bad_alloc&) {
    // The machine has less than the arena's limit promises: a peer's bytes
    // must not end this process for it.
    fate = Counter::kArenaFull;
  }
  shared_.counters.add(fate);
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
