// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/path_probe.h"

#include <sodium.h>

#include <array>
#include <cstring>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/cursor.h"

namespace ubt {
namespace {

// 0xff, then "ubtpath". No packet header has the version 0xff.
constexpr uint64_t kMagic = 0x68746170746275ff;

using Tag = std::array<uint8_t, 16>;
constexpr size_t kTagOffset = PathProbe::kBytesMin - sizeof(Tag);

Tag tagOf(const AuthKey& key, const std::byte* datagram, size_t bytes) {
  std::byte covered[kTagOffset + sizeof(uint32_t)];
  std::memcpy(covered, datagram, kTagOffset);
  WriteCursor(covered + kTagOffset, sizeof(uint32_t))
      .put(static_cast<uint32_t>(bytes));
  Tag tag{};
  crypto_generichash(tag.data(),
                     tag.size(),
                     reinterpret_cast<const uint8_t*>(covered),
                     sizeof(covered),
                     key.data(),
                     key.size());
  return tag;
}

}  // namespace

std::vector<std::byte> PathProbe::encode(const AuthKey& key,
                                         size_t bytes) const {
  UBT_REQUIRE(bytes >= kBytesMin);
  std::vector<std::byte> datagram(bytes);
  WriteCursor cursor(datagram.data(), kTagOffset);
  cursor.put(kMagic);
  cursor.put(epoch);
  cursor.put(source);
  cursor.put(destination);
  cursor.put(slotBytes);
  cursor.put(static_cast<uint32_t>(form));
  const Tag tag = tagOf(key, datagram.data(), bytes);
  std::memcpy(datagram.data() + kTagOffset, tag.data(), tag.size());
  return datagram;
}

bool PathProbe::decode(const std::byte* datagram,
                       size_t bytes,
                       PathProbe* out) {
  ReadCursor cursor(datagram, bytes);
  if (bytes < kBytesMin || cursor.get<uint64_t>() != kMagic) {
    return false;
  }
  out->epoch = cursor.get<uint64_t>();
  out->source = cursor.get<uint32_t>();
  out->destination = cursor.get<uint32_t>();
  out->slotBytes = cursor.get<uint32_t>();
  const auto form = cursor.get<uint32_t>();
  out->form = static_cast<Form>(form);
  return form <= static_cast<uint32_t>(Form::kTrainEnd);
}

bool PathProbe::isAuthentic(const AuthKey& key,
                            const std::byte* datagram,
                            size_t bytes) {
  const Tag tag = tagOf(key, datagram, bytes);
  return sodium_memcmp(tag.data(), datagram + kTagOffset, tag.size()) == 0;
}

}  // namespace ubt
