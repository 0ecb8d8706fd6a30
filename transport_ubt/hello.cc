// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/hello.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

constexpr uint32_t kMagic = 0x34746275;  // "ubt4", little-endian

}  // namespace

void Hello::encode(::ubt::WriteCursor* out) const {
  out->put(kMagic);
  out->put(port);
  out->put(slotBytesMax);
  out->put(windowBytes);
  out->put(minBytes);
  out->put(static_cast<uint8_t>(groups.grouping.by));
  out->put(groups.grouping.count);
  out->put(groups.host);
  for (const uint8_t byte : publicKey) {
    out->put(byte);
  }
}

bool Hello::decode(::ubt::ReadCursor* in, Hello* out) {
  const auto magic = in->get<uint32_t>();
  out->port = in->get<uint16_t>();
  out->slotBytesMax = in->get<uint32_t>();
  out->windowBytes = in->get<uint32_t>();
  out->minBytes = in->get<uint64_t>();
  const auto by = in->get<uint8_t>();
  out->groups.grouping.by = static_cast<Grouping::By>(by);
  out->groups.grouping.count = in->get<uint32_t>();
  out->groups.host = in->get<uint64_t>();
  for (uint8_t& byte : out->publicKey) {
    byte = in->get<uint8_t>();
  }
  return !in->failed() && magic == kMagic && out->port != 0 &&
         out->slotBytesMax > 0 && out->slotBytesMax < 65536 &&
         out->slotBytesMax % 64 == 0 && out->windowBytes > 0 &&
         by <= static_cast<uint8_t>(Grouping::By::kCount);
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
