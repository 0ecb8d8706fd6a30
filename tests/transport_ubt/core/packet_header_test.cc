// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/packet_header.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

#include "transport_ubt/core/packet_auth.h"

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
  header.destination = 0;
  header.contributors = 3;
  header.epoch = 0x1122334455667788;
  header.number = 4;
  return header;
}

const std::vector<uint8_t> kExampleBytes = {
    0x01, 0x01, 0x41, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x03, 0x00, 0x00, 0x00, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
    0x22, 0x11, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
constexpr uint64_t kExampleTag = 0xf223570758760dec;

TEST(PacketHeader, EncodesTheDocumentedExample) {
  std::byte bytes[PacketHeader::kBytes];
  example().encode(bytes);
  for (size_t i = 0; i < kExampleBytes.size(); i++) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), kExampleBytes[i]) << i;
  }
  AuthKey key;
  std::iota(key.begin(), key.end(), 0);
  EXPECT_EQ(packetTag(key, bytes, nullptr, 0), kExampleTag);
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
  in.slot = *rc::gen::arbitrary<uint32_t>();
  in.source = *rc::gen::arbitrary<uint16_t>();
  in.destination = *rc::gen::arbitrary<uint16_t>();
  in.elements = *rc::gen::arbitrary<uint32_t>();
  in.contributors = *rc::gen::arbitrary<uint16_t>();
  in.hierarchical = in.type == PacketType::kData && *rc::gen::arbitrary<bool>();
  in.partial = in.hierarchical && *rc::gen::arbitrary<bool>();
  in.epoch = *rc::gen::arbitrary<uint64_t>();
  in.number = *rc::gen::arbitrary<uint64_t>() >> 1;
  if (in.type == PacketType::kControl) {
    in.number |= PacketHeader::kControlNumber;
  }
  in.tag = *rc::gen::arbitrary<uint64_t>();
  std::byte bytes[PacketHeader::kBytes];
  in.encode(bytes);
  PacketHeader out;
  RC_ASSERT(PacketHeader::decode(bytes, sizeof(bytes), &out));
  std::byte again[PacketHeader::kBytes];
  out.encode(again);
  RC_ASSERT(std::equal(bytes, bytes + sizeof(bytes), again));
  RC_ASSERT(out.hierarchical == in.hierarchical);
  RC_ASSERT(out.partial == (in.partial && in.stage == Stage::kBroadcast));
}

TEST(PacketHeader, RefusesWhatItDoesNotKnow) {
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
  // Version, type, element type, control's number in data; more contributors
  // than there can be, a partial result of an op that is not hierarchical.
  for (const Change& change :
       {Change{0, 2}, {1, 0}, {1, 3}, {3, 4}, {39, 0x80}, {22, 2}, {22, 1}}) {
    std::byte bad[PacketHeader::kBytes];
    std::copy(good, good + sizeof(good), bad);
    bad[change.offset] = static_cast<std::byte>(change.value);
    EXPECT_FALSE(PacketHeader::decode(bad, sizeof(bad), &out)) << change.offset;
  }
}

TEST(PacketAuth, CoversHeaderAndPayloadAndKey) {
  std::byte header[PacketHeader::kBytes];
  example().encode(header);
  std::byte payload[100] = {};
  AuthKey key{};
  const uint64_t tag = packetTag(key, header, payload, sizeof(payload));
  for (size_t i = 0; i < PacketHeader::kTagOffset; i++) {
    header[i] ^= std::byte{1};
    EXPECT_NE(packetTag(key, header, payload, sizeof(payload)), tag) << i;
    header[i] ^= std::byte{1};
  }
  for (std::byte& byte : payload) {
    byte ^= std::byte{0x40};
    EXPECT_NE(packetTag(key, header, payload, sizeof(payload)), tag);
    byte ^= std::byte{0x40};
  }
  EXPECT_NE(packetTag(key, header, payload, sizeof(payload) - 1), tag);
  EXPECT_NE(packetTag(key, header, nullptr, 0), tag);
  key[0] = 1;
  EXPECT_NE(packetTag(key, header, payload, sizeof(payload)), tag);
}

}  // namespace
}  // namespace ubt
