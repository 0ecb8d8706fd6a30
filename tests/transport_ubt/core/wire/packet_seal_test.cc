// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {
namespace {

using Bytes = std::vector<std::byte>;

constexpr PacketNumber kNumber = 4;

// The worked example of docs/wire_format.md.
const std::vector<uint8_t> kExampleBytes = {
    0xa4, 0x41, 0x01, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x04, 0x00, 0x00, 0x88, 0x77,
    0xcd, 0xfa, 0x28, 0xde, 0x4c, 0x14, 0x10, 0x55, 0xd4, 0xc9, 0xd6, 0x57,
    0x8f, 0xee, 0xee, 0x1f, 0x16, 0x86, 0x12, 0x44, 0x17, 0x0a, 0x5c, 0xf9,
    0x55, 0x33, 0xb4, 0x34, 0x5d, 0x8f, 0xfb, 0x42};

PacketHeader exampleHeader() {
  PacketHeader header;
  header.type = PacketType::kData;
  header.stage = Stage::kBroadcast;
  header.sealed = true;
  header.op = {7, 0, TagSpace::kClass};
  header.slot = 2;
  header.source = 1;
  header.contributors = 3;
  header.context = 0x7788;
  header.number = kNumber;
  return header;
}

SealKey exampleKey() {
  SealKey key;
  std::iota(key.begin(), key.end(), 0);
  return key;
}

Bytes bytesOf(const std::vector<float>& values) {
  const auto* const first = reinterpret_cast<const std::byte*>(values.data());
  return Bytes(first, first + values.size() * sizeof(float));
}

Bytes sealed(const PacketHeader& header, const Bytes& payload) {
  Bytes datagram(PacketHeader::kBytes + payload.size() + kSealBytes);
  header.encode(datagram.data());
  sealPacket(exampleKey(),
             datagram.data(),
             header.number,
             payload.data(),
             payload.size(),
             datagram.data() + PacketHeader::kBytes);
  return datagram;
}

bool open(const SealKey& key, const Bytes& datagram, Bytes* payload) {
  payload->assign(datagram.size(), std::byte{0});
  return openPacket(
      key, datagram.data(), datagram.size(), kNumber, payload->data());
}

TEST(PacketSeal, IsTheDocumentedExample) {
  const Bytes datagram = sealed(exampleHeader(), bytesOf({1, 2, 3, 4}));
  ASSERT_EQ(datagram.size(), kExampleBytes.size());
  for (size_t i = 0; i < datagram.size(); i++) {
    EXPECT_EQ(std::to_integer<int>(datagram[i]), kExampleBytes[i]) << i;
  }
  PacketHeader header;
  ASSERT_TRUE(PacketHeader::decode(datagram.data(), datagram.size(), &header));
  EXPECT_TRUE(header.sealed);
}

TEST(PacketSeal, OpensToTheSealedBytes) {
  for (const size_t bytes : {0, 1, 15, 16, 17, 63, 64, 65, 1440, 31808}) {
    Bytes payload(bytes);
    for (size_t i = 0; i < bytes; i++) {
      payload[i] = static_cast<std::byte>(i * 7);
    }
    Bytes out;
    ASSERT_TRUE(open(exampleKey(), sealed(exampleHeader(), payload), &out));
    out.resize(bytes);
    EXPECT_EQ(out, payload);
  }
}

TEST(PacketSeal, MayReplaceThePayloadInItsPlace) {
  const Bytes payload = bytesOf({1, 2, 3, 4});
  Bytes datagram(PacketHeader::kBytes + payload.size() + kSealBytes);
  exampleHeader().encode(datagram.data());
  std::byte* const place = datagram.data() + PacketHeader::kBytes;
  std::copy(payload.begin(), payload.end(), place);
  sealPacket(
      exampleKey(), datagram.data(), kNumber, place, payload.size(), place);
  EXPECT_EQ(datagram, sealed(exampleHeader(), payload));
}

TEST(PacketSeal, NoticesAnyChange) {
  const Bytes good = sealed(exampleHeader(), bytesOf({1, 2, 3, 4}));
  Bytes out;
  ASSERT_TRUE(open(exampleKey(), good, &out));
  for (size_t i = 0; i < good.size(); i++) {
    for (int bit = 0; bit < 8; bit++) {
      Bytes bad = good;
      bad[i] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(open(exampleKey(), bad, &out)) << i << " bit " << bit;
    }
  }
  for (size_t bytes = 0; bytes < good.size(); bytes++) {
    EXPECT_FALSE(
        openPacket(exampleKey(), good.data(), bytes, kNumber, out.data()))
        << bytes;
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(open(exampleKey(), longer, &out));
  for (const PacketNumber number : {PacketNumber{5}, kControlNumber | 4}) {
    EXPECT_FALSE(
        openPacket(exampleKey(), good.data(), good.size(), number, out.data()));
  }
  for (size_t i = 0; i < sizeof(SealKey); i++) {
    SealKey key = exampleKey();
    key[i] ^= 1;
    EXPECT_FALSE(open(key, good, &out)) << i;
  }
}

// The nonce is the number: data and control have separate numbers that never
// coincide.
TEST(PacketSeal, EachNumberHasItsOwnKeystream) {
  std::set<Bytes> seen;
  for (const uint64_t control : {uint64_t{0}, kControlNumber}) {
    for (uint64_t number = 0; number < 100; number++) {
      PacketHeader header = exampleHeader();
      header.number = control | number;
      const Bytes datagram = sealed(header, Bytes(32));
      seen.insert(Bytes(datagram.begin() + PacketHeader::kBytes,
                        datagram.begin() + PacketHeader::kBytes + 32));
    }
  }
  EXPECT_EQ(seen.size(), 200u);
}

}  // namespace
}  // namespace ubt
