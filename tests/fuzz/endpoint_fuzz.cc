// SPDX-License-Identifier: Apache-2.0
//
// A hostile peer that holds the right keys: whatever it sends must not crash,
// hang, or make the endpoint hold more than its limits. In every mode of
// authentication, and in the wrong one.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/fuzz/heap.h"
#include "tests/sim/plain_reduction.h"
#include "transport_ubt/core/cursor.h"
#include "transport_ubt/core/endpoint.h"
#include "transport_ubt/core/group_key.h"

namespace {

constexpr int kRanks = 3;
constexpr size_t kArenaBytes = 64 << 10;
constexpr size_t kElements = 2000;
constexpr size_t kOpsMax = 300;
// All together, of which the arena is a part.
constexpr size_t kHeapBytesMax = 8 << 20;

// A packet from the fuzzer's bytes: the header's fixed parts are made right,
// so that the input decides over the rest.
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
  header.context = 1;
  if (header.type == ubt::PacketType::kData) {
    header.sealed = auth == ubt::AuthMode::kAead;  // of no effect otherwise
  }
  header.source = 1 + header.source % (kRanks - 1);
  const ubt::PeerKeys keys =
      header.group ? ubt::groupKeys(ubt::GroupSeed{}) : ubt::PeerKeys{};
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

// A peer's group key, all zero, as packetFrom() likes to have it.
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
  record.type = ubt::ControlType::kGroupKey;
  record.encode(&cursor);
  bytes.resize(ubt::PacketHeader::kBytes + cursor.used());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The mode and whether ranks form groups, then a row of packets, each behind
  // a length of two bytes.
  if (size == 0) {
    return 0;
  }
  const auto auth = static_cast<ubt::AuthMode>(data[0] % 3);
  const bool grouped = data[0] / 3 % 2 == 1;
  data++;
  size--;
  const size_t heapBefore = heapBytes();
  ubt::Endpoint::Limits limits;
  limits.arenaBytes = kArenaBytes;
  ubt::Endpoint endpoint(limits, ubt::sim::plainReduction());
  ubt::Session::Setup setup;
  setup.size = kRanks;
  setup.epoch = 1;
  setup.slotBytesMax = 256;
  setup.keys.resize(kRanks);
  setup.windowBytes.assign(kRanks, 1 << 20);
  setup.groups = ubt::RankGroups::equal(kRanks, grouped ? kRanks : 1);
  setup.options.auth = auth;
  setup.options.multicast = true;
  setup.options.warmupOps = 0;
  setup.options.timeout = std::chrono::seconds(1);
  setup.options.boundScatter = setup.options.boundBroadcast =
      std::chrono::milliseconds(1);
  ubt::Session* const session = endpoint.open(setup);

  std::vector<float> bucket(kElements, 1);
  ubt::OpShape shape;
  shape.elements = kElements;
  shape.fingerprint =
      setup.options.fingerprint() | (grouped ? ubt::OpShape::kHierarchical : 0);
  ubt::TimePoint now{std::chrono::seconds(1)};
  const ubt::OpId id = session->enter(
      now, 0, shape, reinterpret_cast<std::byte*>(bucket.data()));

  for (uint16_t rank = 1; rank < kRanks; rank++) {
    const auto key = groupKeyOf(auth, rank);
    const auto packet = packetFrom(auth, key.data(), key.size());
    endpoint.packetIn(now, packet.data(), packet.size());
  }
  ubt::OutPacket out;
  while (size >= 2) {
    const size_t length = std::min<size_t>(data[0] | data[1] << 8, size - 2);
    const auto packet = packetFrom(auth, data + 2, length);
    endpoint.packetIn(now, packet.data(), packet.size());
    data += 2 + length;
    size -= 2 + length;
    now += std::chrono::microseconds(100);
    endpoint.deadlinePassed(now);
    for (int i = 0; i < 100 && endpoint.packetOut(now, &out); i++) {
    }
    if (endpoint.shared().arena.heldBytes() > kArenaBytes ||
        session->opsHeld() > kOpsMax ||
        heapBytes() - heapBefore > kHeapBytesMax) {
      std::abort();
    }
  }
  // The caller returns by its timeout all the same.
  endpoint.deadlinePassed(now + std::chrono::seconds(2));
  if (!session->finished(id)) {
    std::abort();
  }
  session->leave(now, id);
  return 0;
}
