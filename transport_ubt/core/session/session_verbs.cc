// SPDX-License-Identifier: Apache-2.0
//
// The verbs of a session. They catch all exceptions of the code below them.

#include <exception>
#include <new>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {

template <typename Verb>
void Session::guarded(TimePoint now, const Verb& verb) {
  try {
    verb();
  } catch (const std::bad_alloc&) {
    breakOff(now, outOfMemory_.c_str());
  } catch (const std::exception& error) {
    breakOff(now, error.what());
  }
}

template <typename Verb>
void Session::contained(TimePoint now, const Verb& verb) {
  if (state_.broken) {
    dropOps();
  } else {
    guarded(now, verb);
  }
}

// Ops stay until the next verb, because a datagram of packetOut() may point
// into one.
void Session::breakOff(TimePoint now, const char* why) noexcept {
  if (state_.broken) {
    return;
  }
  state_.broken = true;
  departure_.blame(state_.setup.rank);
  departure_.failWithout(why, &outOfMemory_);
  try {
    sayLeaveToAll(now);
  } catch (const std::exception&) {
    // Peers that still send get a leave as an answer.
  }
}

// Ops may be half changed. Only their destructors run.
void Session::dropOps() {
  state_.dropOps();
  admission_.clear();
}

OpId Session::enter(TimePoint now,
                    uint32_t tag,
                    const OpShape& shape,
                    std::byte* bucket,
                    Duration timeout) {
  UBT_REQUIRE(!departure_.hasFailed() && takes(shape));
  OpId id{tag, UINT32_MAX, shape.space};
  contained(now, [&] { id = begins(now, tag, shape, bucket, timeout); });
  return id;
}

OpReport Session::leave(TimePoint now, const OpId& id) {
  UBT_REQUIRE(finished(id));
  OpReport report;
  contained(now, [&] { report = ends(now, id); });
  if (state_.broken) {
    dropOps();
  }
  return report;
}

void Session::peerClosed(TimePoint now, int peer, const std::string& why) {
  contained(now, [&] { connectionClosed(now, peer, why); });
}

void Session::announceFailure(TimePoint now) {
  contained(now, [&] { tellRefusal(now); });
}

void Session::sendLeave(TimePoint now) {
  contained(now, [&] { sayLeaveToAll(now); });
}

Counter Session::packetIn(TimePoint now,
                          const PacketHeader& header,
                          const std::byte* datagram,
                          size_t bytes,
                          bool congested) {
  // The fate of a datagram that breaks the session.
  Counter fate = header.type == PacketType::kControl ? Counter::kClosedPeer
                                                     : Counter::kLateData;
  if (state_.broken) {
    dropOps();
  }
  guarded(now, [&] { fate = takeIn(now, header, datagram, bytes, congested); });
  return fate;
}

bool Session::packetOut(TimePoint now, OutPacket* out) {
  bool any = false;
  guarded(now, [&] { any = out_.next(now, out); });
  return any;
}

bool Session::burstOut(TimePoint now, OutPacket* out) {
  bool any = false;
  guarded(now, [&] { any = out_.nextOfBurst(now, out); });
  return any;
}

void Session::deadlinePassed(TimePoint now) {
  contained(now, [&] { passDeadlines(now); });
}

}  // namespace ubt
