// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/hello.h"

#include <algorithm>

#include "transport_ubt/core/shard_layout.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

constexpr uint32_t kMagic = 0x35746275;  // "ubt5", little-endian

// 64 bits hold what minBytes and the grouping may be.
constexpr int kMinBytesBits = 41;
constexpr int kCountBits = 21;
constexpr uint64_t kMinBytesMost = (uint64_t{1} << kMinBytesBits) - 1;
constexpr uint32_t kCountMost = (uint32_t{1} << kCountBits) - 1;

}  // namespace

void Hello::want(uint64_t bytesMin, const GroupWish& wish) {
  minBytes = std::min(bytesMin, kMinBytesMost);
  groups = wish;
  groups.grouping.count = std::min(wish.grouping.count, kCountMost);
  groups.host = static_cast<uint32_t>(wish.host ^ wish.host >> 32);
}

void Hello::encode(::ubt::WriteCursor* out) const {
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

bool Hello::decode(::ubt::ReadCursor* in, Hello* out) {
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
  return !in->failed() && magic == kMagic && out->port != 0 &&
         out->slotBytesMax > 0 &&
         out->slotBytesMax % ::ubt::ShardLayout::kSlotStep == 0 &&
         out->windowBytes > 0 &&
         by <= static_cast<uint64_t>(Grouping::By::kCount);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
