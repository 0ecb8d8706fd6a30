// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/packet_header.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

#include "transport_ubt/core/wire/packet_crypto.h"

namespace ubt {
namespace {

// The worked example of docs/wire_format.md.
PacketHeader example() {
  PacketHeader header;
  header.type = PacketType::kData;
  header.stage = Stage::kBroadcast;
  header.op = {7, 0, TagSpace::kClass};
  header.slot = 2;
  header.source = 1;
  header.contributors = 3;
  header.context = 0x7788;
  header.number = 4;
  return header;
}

const std::vector<uint8_t> kExampleBytes = {
    0xa0, 0x41, 0x01, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x04, 0x00, 0x00, 0x88, 0x77};
constexpr uint64_t kExampleTag = 0x7a774b9d50d98ac6;

TEST(PacketHeader, EncodesTheDocumentedExample) {
  std::byte bytes[PacketHeader::kBytes];
  example().encode(bytes);
  for (size_t i = 0; i < kExampleBytes.size(); i++) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), kExampleBytes[i]) << i;
  }
  AuthKey key;
  std::iota(key.begin(), key.end(), 0);
  EXPECT_EQ(packetTag(key, {}, bytes, 4, nullptr, 0), kExampleTag);
}

RC_GTEST_PROP(PacketHeader, SurvivesTheWire, ()) {
  PacketHeader in;
  in.type = *rc::gen::element(PacketType::kData, PacketType::kControl);
  in.stage = *rc::gen::element(Stage::kScatter, Stage::kBroadcast);
  in.repair = *rc::gen::arbitrary<bool>();
  in.sealed = *rc::gen::arbitrary<bool>();
  in.elementType = static_cast<ElementType>(*rc::gen::inRange(0, 4));
  in.op = {*rc::gen::arbitrary<uint32_t>(),
           *rc::gen::arbitrary<uint32_t>(),
           *rc::gen::element(TagSpace::kOptions, TagSpace::kClass)};
  in.slot = *rc::gen::inRange<uint32_t>(0, PacketHeader::kSlotsMax);
  in.source = *rc::gen::arbitrary<uint16_t>();
  in.multicast = *rc::gen::arbitrary<bool>();
  in.elements = *rc::gen::arbitrary<uint32_t>();
  in.contributors = *rc::gen::arbitrary<uint16_t>();
  in.hierarchical = in.type == PacketType::kData && *rc::gen::arbitrary<bool>();
  in.partial = in.hierarchical && *rc::gen::arbitrary<bool>();
  in.context = *rc::gen::arbitrary<uint16_t>();
  in.number = *rc::gen::arbitrary<uint64_t>() >> 1;
  if (in.type == PacketType::kControl) {
    in.number |= kControlNumber;
  }
  in.tag = *rc::gen::arbitrary<uint64_t>();
  std::byte bytes[PacketHeader::kBytes];
  in.encode(bytes);
  PacketHeader out;
  RC_ASSERT(PacketHeader::decode(bytes, sizeof(bytes), &out));
  std::byte again[PacketHeader::kBytes];
  out.encode(again);
  RC_ASSERT(std::equal(bytes, bytes + sizeof(bytes), again));
  RC_ASSERT(out.type == in.type);
  RC_ASSERT(out.multicast == in.multicast);
  RC_ASSERT(out.slot == in.slot);
  RC_ASSERT(out.context == in.context);
  RC_ASSERT(out.hierarchical == in.hierarchical);
  RC_ASSERT(out.partial == (in.partial && in.stage == Stage::kBroadcast));
}

TEST(PacketHeader, RefusesUnknownFormats) {
  std::byte good[PacketHeader::kBytes];
  example().encode(good);
  PacketHeader out;
  ASSERT_TRUE(PacketHeader::decode(good, sizeof(good), &out));
  for (size_t bytes = 0; bytes < sizeof(good); bytes++) {
    EXPECT_FALSE(PacketHeader::decode(good, bytes, &out)) << bytes;
  }
  struct Change {
    size_t offset;
    int value;
  };
  // Versions; hierarchical control, too many contributors, a partial result of
  // an op that is not hierarchical, a partial contribution.
  for (const Change& change :
       {Change{0, 0x80}, {0, 0x60}, {0, 0xc0}, {14, 1}, {1, 0x61}, {1, 0xe0}}) {
    std::byte bad[PacketHeader::kBytes];
    std::copy(good, good + sizeof(good), bad);
    bad[change.offset] = static_cast<std::byte>(change.value);
    EXPECT_FALSE(PacketHeader::decode(bad, sizeof(bad), &out)) << change.value;
  }
  good[0] |= std::byte{0x10};  // control
  ASSERT_TRUE(PacketHeader::decode(good, sizeof(good), &out));
  good[1] |= std::byte{0x80};
  EXPECT_FALSE(PacketHeader::decode(good, sizeof(good), &out));
}

RC_GTEST_PROP(PacketNumber, IsKnownByItsLowestBits, ()) {
  const PacketNumber next = *rc::gen::arbitrary<uint64_t>() >> 2;
  const auto half = int64_t{1} << (kNumberBitsOnWire - 1);
  const auto away = *rc::gen::inRange<int64_t>(1 - half, half);
  if (away < 0 && next < static_cast<PacketNumber>(-away)) {
    return;  // there is no such number
  }
  const PacketNumber number = next + static_cast<PacketNumber>(away);
  const PacketNumber lowest = number & ((1u << kNumberBitsOnWire) - 1);
  RC_ASSERT(nearestNumber(lowest, next) == number);
  RC_ASSERT(nearestNumber(kControlNumber | number, next) == number);
}

TEST(PacketNumber, NeverGoesBelowZero) {
  EXPECT_EQ(nearestNumber(0xffffff, 0), 0xffffffu);
  EXPECT_EQ(nearestNumber(0, 0xffffff), 0x1000000u);
  EXPECT_EQ(nearestNumber(0xffffff, 0x1000000), 0xffffffu);
}

TEST(PacketAuth, CoversHeaderAndPayloadAndKey) {
  std::byte header[PacketHeader::kBytes];
  example().encode(header);
  std::byte payload[100] = {};
  AuthKey key{};
  PayloadKey payloadKey{};
  payloadKey.fill(3);
  const uint64_t tag =
      packetTag(key, payloadKey, header, 4, payload, sizeof(payload));
  for (size_t i = 0; i < PacketHeader::kTagOffset; i++) {
    header[i] ^= std::byte{1};
    EXPECT_NE(packetTag(key, payloadKey, header, 4, payload, sizeof(payload)),
              tag)
        << i;
    header[i] ^= std::byte{1};
  }
  for (std::byte& byte : payload) {
    byte ^= std::byte{0x40};
    EXPECT_NE(packetTag(key, payloadKey, header, 4, payload, sizeof(payload)),
              tag);
    byte ^= std::byte{0x40};
  }
  EXPECT_NE(packetTag(key, payloadKey, header, 4, payload, sizeof(payload) - 1),
            tag);
  EXPECT_NE(packetTag(key, payloadKey, header, 4, nullptr, 0), tag);
  const PacketNumber others[] = {5, 0x1000004, kControlNumber | 4};
  for (const PacketNumber number : others) {
    EXPECT_NE(
        packetTag(key, payloadKey, header, number, payload, sizeof(payload)),
        tag);
  }
  PayloadKey otherKey = payloadKey;
  otherKey[0] ^= 1;
  EXPECT_NE(packetTag(key, otherKey, header, 4, payload, sizeof(payload)), tag);
  EXPECT_EQ(packetTag(key, otherKey, header, 4, nullptr, 0),
            packetTag(key, payloadKey, header, 4, nullptr, 0));
  key[0] = 1;
  EXPECT_NE(packetTag(key, payloadKey, header, 4, payload, sizeof(payload)),
            tag);
}

// Otherwise a payload of zeros would have the same tag as any other.
TEST(PacketAuth, NoSealKeyMakesAPayloadKeyOfZeros) {
  std::byte header[PacketHeader::kBytes];
  example().encode(header);
  const std::byte zeros[100] = {};
  std::byte other[100] = {};
  other[17] = std::byte{1};
  const PayloadKey key = payloadKeyOf(SealKey{});
  EXPECT_NE(key, PayloadKey{});
  EXPECT_NE(packetTag({}, key, header, 4, zeros, sizeof(zeros)),
            packetTag({}, key, header, 4, other, sizeof(other)));
  SealKey seal{};
  seal[0] = 1;
  EXPECT_NE(payloadKeyOf(seal), key);
  EXPECT_NE(payloadKeyOf(seal), seal);
}

}  // namespace
}  // namespace ubt
