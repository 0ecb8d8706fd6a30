// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/hello.h"

#include <netinet/in.h>

#include <algorithm>

#include "transport_ubt/core/op/shard_layout.h"

namespace ubt {
namespace {

constexpr uint32_t kMagic = 0x37746275;  // "ubt7", little-endian

// minBytes and the grouping share 64 bits.
constexpr int kMinBytesBits = 41;
constexpr int kCountBits = 21;
constexpr uint64_t kMinBytesMost = (uint64_t{1} << kMinBytesBits) - 1;
constexpr uint32_t kCountMost = (uint32_t{1} << kCountBits) - 1;

constexpr uint32_t kSlotStep = ShardLayout::kSlotStep;
static_assert(Hello::kSlotBytesMin % kSlotStep == 0 &&
                  Hello::kSlotBytesMost % kSlotStep == 0,
              "slots of either size divide into steps");

std::string among(const std::string& field,
                  uint64_t value,
                  uint64_t low,
                  uint64_t high) {
  return field + " " + std::to_string(value) +
         " (allowed: " + std::to_string(low) + " to " + std::to_string(high) +
         ")";
}

}  // namespace

void Hello::want(uint64_t bytesMin, const GroupWish& wish) {
  minBytes = std::min(bytesMin, kMinBytesMost);
  groups = wish;
  groups.grouping.count = std::min(wish.grouping.count, kCountMost);
  groups.host = static_cast<uint32_t>(wish.host ^ wish.host >> 32);
}

void Hello::encode(WriteCursor* out) const {
  out->put(kMagic);
  out->put(port);
  out->put(static_cast<uint16_t>(slotBytesMax));
  out->put(windowBytes);
  const uint64_t grouping = uint64_t{static_cast<uint32_t>(groups.grouping.by)}
                                << kCountBits |
                            groups.grouping.count;
  out->put(minBytes | grouping << kMinBytesBits);
  out->put(static_cast<uint32_t>(groups.host));
  for (const uint8_t byte : publicKey) {
    out->put(byte);
  }
}

bool Hello::decode(ReadCursor* in, Hello* out) {
  const auto magic = in->get<uint32_t>();
  out->port = in->get<uint16_t>();
  out->slotBytesMax = in->get<uint16_t>();
  out->windowBytes = in->get<uint32_t>();
  const auto both = in->get<uint64_t>();
  out->minBytes = both & kMinBytesMost;
  const uint64_t by = both >> (kMinBytesBits + kCountBits);
  out->groups.grouping.by = static_cast<Grouping::By>(by);
  out->groups.grouping.count =
      static_cast<uint32_t>(both >> kMinBytesBits) & kCountMost;
  out->groups.host = in->get<uint32_t>();
  for (uint8_t& byte : out->publicKey) {
    byte = in->get<uint8_t>();
  }
  return !in->failed() && magic == kMagic;
}

std::string Hello::outOfBounds() const {
  if (port == 0) {
    return among("UDP port", port, 1, UINT16_MAX);
  }
  if (slotBytesMax < kSlotBytesMin || slotBytesMax > kSlotBytesMost) {
    return among(
        "slot size in bytes", slotBytesMax, kSlotBytesMin, kSlotBytesMost);
  }
  if (slotBytesMax % kSlotStep != 0) {
    return "slot size in bytes " + std::to_string(slotBytesMax) +
           " (allowed: multiples of " + std::to_string(kSlotStep) + ")";
  }
  if (windowBytes < kWindowBytesMin || windowBytes > kWindowBytesMost) {
    return among("receive window in bytes (GLOO_UBT_WINDOW_BYTES)",
                 windowBytes,
                 kWindowBytesMin,
                 kWindowBytesMost);
  }
  if (minBytes > kMinBytesMost) {
    return among("GLOO_UBT_MIN_BYTES", minBytes, 0, kMinBytesMost);
  }
  const auto by = static_cast<uint32_t>(groups.grouping.by);
  if (by > static_cast<uint32_t>(Grouping::By::kCount)) {
    return "kind of GLOO_UBT_GROUPS " + std::to_string(by) +
           " (allowed: auto, host or a number)";
  }
  if (groups.grouping.by == Grouping::By::kCount &&
      (groups.grouping.count == 0 || groups.grouping.count > kCountMost)) {
    return among("GLOO_UBT_GROUPS", groups.grouping.count, 1, kCountMost);
  }
  if (publicKey == decltype(publicKey){}) {
    return "public key of zeros (allowed: any other)";
  }
  return "";
}

std::string outOfBounds(const SocketAddress& address) {
  bool nowhere = false;
  if (address.family() == AF_INET) {
    const auto* const in = reinterpret_cast<const sockaddr_in*>(address.data());
    const uint32_t ip = ntohl(in->sin_addr.s_addr);
    nowhere = ip == INADDR_ANY || ip == INADDR_BROADCAST || IN_MULTICAST(ip);
  } else {
    const auto* const in =
        reinterpret_cast<const sockaddr_in6*>(address.data());
    nowhere = IN6_IS_ADDR_UNSPECIFIED(&in->sin6_addr) ||
              IN6_IS_ADDR_MULTICAST(&in->sin6_addr);
  }
  return nowhere ? "address " + address.str() + " (allowed: one host's)" : "";
}

}  // namespace ubt
