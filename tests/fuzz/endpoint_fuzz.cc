// SPDX-License-Identifier: Apache-2.0
//
// A hostile peer that holds the right keys. None of its packets may crash or
// hang the endpoint, or make it hold more than its limits. Covers every mode of
// authentication, and packets in the wrong mode. Meanwhile time passes in steps
// of any size, callers enter and return, connections close, contexts end, and
// allocations fail.

#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/failing_heap.h"
#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/core/wire/cursor.h"
#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace {

constexpr int kRanks = 3;
constexpr size_t kArenaBytes = 64 << 10;
constexpr size_t kElements = 2000;
constexpr size_t kOpsMax = 300;
// All memory, including the arena.
constexpr size_t kHeapBytesMax = 8 << 20;
// Headers do not tell these sessions apart.
constexpr int kSessions = 2;
constexpr size_t kCallsMax = 8;
constexpr auto kTimeout = std::chrono::seconds(1);

// The keys of each peer in a session, the same in both directions.
ubt::PeerKeys keysOf(int session) {
  const auto byte = static_cast<uint8_t>(session);
  ubt::PeerKeys keys;
  keys.send.fill(byte);
  keys.receive.fill(byte);
  keys.sendSeal.fill(byte);
  keys.receiveSeal.fill(byte);
  return keys;
}

// Makes a packet from the fuzzer's bytes. The fixed parts of the header are
// set, so that the input decides all the rest, such as the session.
std::vector<std::byte> packetFrom(ubt::AuthMode auth,
                                  const uint8_t* data,
                                  size_t size) {
  std::vector<std::byte> packet(ubt::PacketHeader::kBytes);
  std::memcpy(packet.data(), data, std::min(size, ubt::PacketHeader::kBytes));
  ubt::PacketHeader header;
  packet[0] &= std::byte{0x1f};
  packet[0] |= std::byte{ubt::PacketHeader::kVersion << 5};
  if (!ubt::PacketHeader::decode(packet.data(), packet.size(), &header)) {
    return packet;
  }
  const bool second = (header.context & 1) != 0;
  header.context = 1;
  if (header.type == ubt::PacketType::kData) {
    header.sealed = auth == ubt::AuthMode::kAead;  // without effect otherwise
  }
  header.source = 1 + header.source % (kRanks - 1);
  const ubt::PeerKeys keys = header.multicast
                                 ? ubt::multicastKeys(ubt::MulticastSeed{})
                                 : keysOf(second ? 1 : 0);
  header.number &= ubt::kControlNumber | 0xffff;
  if (size > ubt::PacketHeader::kBytes) {
    const auto* const payload =
        reinterpret_cast<const std::byte*>(data) + ubt::PacketHeader::kBytes;
    packet.insert(
        packet.end(), payload, payload + size - ubt::PacketHeader::kBytes);
  }
  const size_t payloadBytes = packet.size() - ubt::PacketHeader::kBytes;
  if (header.sealed) {
    packet.resize(packet.size() + ubt::kSealBytes);
    header.encode(packet.data());
    std::byte* const payload = packet.data() + ubt::PacketHeader::kBytes;
    ubt::sealPacket(keys.sendSeal,
                    packet.data(),
                    header.number,
                    payload,
                    payloadBytes,
                    payload);
    return packet;
  }
  header.encode(packet.data());
  const bool whole =
      header.type == ubt::PacketType::kControl || auth == ubt::AuthMode::kFull;
  header.tag = ubt::packetTag(keys.send,
                              ubt::payloadKeyOf(keys.sendSeal),
                              packet.data(),
                              header.number,
                              packet.data() + ubt::PacketHeader::kBytes,
                              whole ? payloadBytes : 0);
  header.encode(packet.data());
  return packet;
}

// A peer's group key, all zeros, as an input of packetFrom().
std::vector<uint8_t> groupKeyOf(ubt::AuthMode auth, uint16_t rank) {
  ubt::PacketHeader header;
  header.source = rank - 1;
  header.number = ubt::kControlNumber;
  header.sealed = auth == ubt::AuthMode::kAead;
  std::vector<uint8_t> bytes(ubt::PacketHeader::kBytes +
                             ubt::ControlClocks::kBytes +
                             ubt::ControlRecord::kBytesMax);
  auto* const start = reinterpret_cast<std::byte*>(bytes.data());
  header.encode(start);
  ubt::WriteCursor cursor(start + ubt::PacketHeader::kBytes,
                          bytes.size() - ubt::PacketHeader::kBytes);
  ubt::ControlClocks().encode(&cursor);
  ubt::ControlRecord record;
  record.type = ubt::ControlType::kMulticastKey;
  record.encode(&cursor);
  bytes.resize(ubt::PacketHeader::kBytes + cursor.used());
  return bytes;
}

// The endpoint under attack, and its callers.
class Victim {
 public:
  Victim(ubt::AuthMode auth, bool grouped, bool several)
      : auth_(auth),
        grouped_(grouped),
        endpoint_(limits(), ubt::sim::plainReduction()) {
    for (int i = 0; i < (several ? kSessions : 1); i++) {
      sessions_.push_back(endpoint_.open(setup(i)));
      enter(i, 0);
    }
    for (uint16_t rank = 1; rank < kRanks; rank++) {
      const auto key = groupKeyOf(auth, rank);
      packet(key.data(), key.size());
    }
  }

  void packet(const uint8_t* data, size_t size) {
    const auto packet = packetFrom(auth_, data, size);
    {
      const ubt::FailingHeap::Scope scope;
      endpoint_.packetIn(now_, packet.data(), packet.size());
    }
    pass(std::chrono::microseconds(100));
  }

  // Another event happens. `what` selects it; `how` is its object or amount.
  void happens(uint8_t what, uint8_t how) {
    const size_t which = how % sessions_.size();
    ubt::Session* const session = sessions_[which];
    switch (what % 7) {
      case 0:
        pass(std::chrono::milliseconds(1) * (1 << how % 16));
        return;
      case 1:
        if (session != nullptr) {
          const std::string why = "it closed";
          const ubt::FailingHeap::Scope scope;
          session->peerClosed(now_, 1 + how / 2 % (kRanks - 1), why);
        }
        break;
      case 2:
        if (session != nullptr && !session->failure().empty()) {
          const ubt::FailingHeap::Scope scope;
          session->announceFailure(now_);
        }
        break;
      case 3:
        leaveAll(which);
        break;
      case 4:
        enter(which, how / 2 % 4);
        break;
      case 5:
        close(which);
        break;
      case 6:  // only the session that meets it breaks
        ubt::FailingHeap::failAfter(how);
        starved_++;
        break;
    }
    pass(std::chrono::microseconds(1));
  }

  // Every call must end by its timeout, whatever packets came.
  void end() {
    pass(2 * kTimeout);
    for (size_t i = 0; i < sessions_.size(); i++) {
      leaveAll(i);
    }
    if (!calls_.empty()) {
      std::abort();
    }
  }

  // Whether it is within its limits, and each failed allocation broke at most
  // one session.
  bool withinLimits() const {
    size_t broken = 0;
    for (const ubt::Session* session : sessions_) {
      broken += session != nullptr && session->broken() ? 1 : 0;
      if (session != nullptr && session->opsHeld() > kOpsMax) {
        return false;
      }
    }
    return broken <= starved_ &&
           endpoint_.shared().arena.heldBytes() <= kArenaBytes;
  }

 private:
  struct Call {
    size_t session = 0;
    uint32_t tag = 0;
    ubt::OpId id;
    std::vector<float> bucket;
  };

  static ubt::Endpoint::Limits limits() {
    ubt::Endpoint::Limits limits;
    limits.arenaBytes = kArenaBytes;
    return limits;
  }

  ubt::Session::Setup setup(int number) const {
    ubt::Session::Setup setup;
    setup.size = kRanks;
    setup.epoch = 1 + (static_cast<uint64_t>(number) << 16);
    setup.slotBytesMax = 256;
    setup.keys.assign(kRanks, keysOf(number));
    setup.windowBytes.assign(kRanks, 1 << 20);
    setup.groups = ubt::RankGroups::equal(kRanks, grouped_ ? kRanks : 1);
    setup.options.auth = auth_;
    setup.options.multicast = true;
    setup.options.warmupOps = 0;
    setup.options.timeout = kTimeout;
    setup.options.boundScatter = setup.options.boundBroadcast =
        std::chrono::milliseconds(1);
    return setup;
  }

  // Whether the tag is in use. A context must not have two calls with one tag.
  bool isInside(size_t which, uint32_t tag) const {
    for (const Call& call : calls_) {
      if (call.session == which && call.tag == tag) {
        return true;
      }
    }
    return false;
  }

  void enter(size_t which, uint32_t tag) {
    ubt::Session* const session = sessions_[which];
    if (session == nullptr || !session->failure().empty() ||
        calls_.size() >= kCallsMax || isInside(which, tag)) {
      return;
    }
    ubt::OpShape shape;
    shape.elements = kElements;
    shape.fingerprint = session->options().fingerprint() |
                        (grouped_ ? ubt::OpShape::kHierarchical : 0);
    Call& call = calls_.emplace_back();
    call.session = which;
    call.tag = tag;
    call.bucket.assign(kElements, 1);
    const ubt::FailingHeap::Scope scope;
    call.id = session->enter(
        now_, tag, shape, reinterpret_cast<std::byte*>(call.bucket.data()));
  }

  // Calls that have ended return, maybe long after their end.
  void leaveAll(size_t which) {
    ubt::Session* const session = sessions_[which];
    for (auto call = calls_.begin(); call != calls_.end();) {
      if (call->session == which && session->finished(call->id)) {
        const ubt::FailingHeap::Scope scope;
        session->leave(now_, call->id);
        call = calls_.erase(call);
      } else {
        ++call;
      }
    }
  }

  // Ends a context once its callers have returned.
  void close(size_t which) {
    for (const Call& call : calls_) {
      if (call.session == which) {
        return;
      }
    }
    if (sessions_[which] != nullptr) {
      sessions_[which]->sendLeave(now_);
      pass(std::chrono::microseconds(1));
      endpoint_.close(sessions_[which]);
      sessions_[which] = nullptr;
    }
  }

  void pass(ubt::Duration time) {
    constexpr int kPacketsMax = 100;
    const ubt::FailingHeap::Scope scope;
    now_ += time;
    endpoint_.deadlinePassed(now_);
    for (int i = 0; i < kPacketsMax && endpoint_.packetOut(now_, &out_); i++) {
    }
  }

  const ubt::AuthMode auth_;
  const bool grouped_;
  ubt::TimePoint now_{std::chrono::seconds(1)};
  std::list<Call> calls_;  // must outlive endpoint_, which uses their buckets
  ubt::Endpoint endpoint_;
  std::vector<ubt::Session*> sessions_;  // null if closed
  ubt::OutPacket out_;
  size_t starved_ = 0;  // allocations that were made to fail
};

}  // namespace

// The first byte gives the mode, whether ranks form groups, and whether there
// are several contexts. Then come packets, each after a length of two bytes.
// These two bytes may stand for another event instead.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint8_t kLengthMask = 0x07;
  if (size == 0) {
    return 0;
  }
  ubt::FailingHeap::heal();
  const size_t heapBefore = ubt::FailingHeap::heldBytes();
  const auto victim =
      std::make_unique<Victim>(static_cast<ubt::AuthMode>(data[0] % 3),
                               data[0] / 3 % 2 == 1,
                               data[0] / 6 % 2 == 1);
  data++;
  size--;
  while (size >= 2) {
    const uint8_t low = data[0];
    const uint8_t high = data[1];
    data += 2;
    size -= 2;
    if ((high & kLengthMask) == kLengthMask) {
      victim->happens(low, high / (kLengthMask + 1));
    } else {
      const size_t length =
          std::min<size_t>(low | (high & kLengthMask) << 8, size);
      victim->packet(data, length);
      data += length;
      size -= length;
    }
    if (!victim->withinLimits() ||
        ubt::FailingHeap::heldBytes() - heapBefore > kHeapBytesMax) {
      std::abort();
    }
  }
  victim->end();
  return 0;
}
