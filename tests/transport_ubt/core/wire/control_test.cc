// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/control.h"

#include <gtest/gtest.h>

namespace ubt {
namespace {

constexpr size_t kRoom = 64;

ControlRecord full(ControlType type) {
  ControlRecord record;
  record.type = type;
  record.op = {0x01020304, 5};
  record.shape.elements = uint64_t{1} << 40;
  record.shape.type = ElementType::kBfloat16;
  record.shape.fingerprint = 77;
  record.number = uint64_t{1} << 50;
  record.stage = Stage::kBroadcast;
  record.slot = 9;
  record.slots = 11;
  record.multicastKey.fill(12);
  return record;
}

TEST(ControlRecord, EveryTypeSurvivesTheWireAndItsTruncationsDoNot) {
  for (int type = 1; type <= 17; type++) {
    ControlRecord in = full(static_cast<ControlType>(type));
    in.op.space = type % 2 == 0 ? TagSpace::kOptions : TagSpace::kClass;
    std::byte bytes[kRoom];
    WriteCursor writer(bytes, sizeof(bytes));
    in.encode(&writer);
    ASSERT_FALSE(writer.failed());
    EXPECT_LE(writer.used(), ControlRecord::kBytesMax);
    ReadCursor reader(bytes, writer.used());
    ControlRecord out;
    ASSERT_TRUE(ControlRecord::decode(&reader, &out)) << type;
    EXPECT_EQ(reader.left(), 0u);
    std::byte again[kRoom];
    WriteCursor rewriter(again, sizeof(again));
    out.encode(&rewriter);
    ASSERT_EQ(rewriter.used(), writer.used());
    EXPECT_TRUE(std::equal(bytes, bytes + writer.used(), again)) << type;
    for (size_t cut = 0; cut < writer.used(); cut++) {
      ReadCursor shorter(bytes, cut);
      EXPECT_FALSE(ControlRecord::decode(&shorter, &out)) << type << cut;
    }
  }
}

TEST(ControlRecord, RefusesUnknownTypesStagesAndElements) {
  // 131: credit of the class form, which cannot exist, because credit has no
  // op.
  for (const int type : {0, 18, 19, 128, 131, 255}) {
    const std::byte bytes[kRoom] = {static_cast<std::byte>(type)};
    ReadCursor reader(bytes, sizeof(bytes));
    ControlRecord out;
    EXPECT_FALSE(ControlRecord::decode(&reader, &out)) << type;
  }
  std::byte bytes[kRoom];
  ControlRecord out;
  for (const ControlType type :
       {ControlType::kRepair, ControlType::kLostSlots}) {
    WriteCursor writer(bytes, sizeof(bytes));
    full(type).encode(&writer);
    bytes[9] = std::byte{2};  // the stage
    ReadCursor reader(bytes, sizeof(bytes));
    EXPECT_FALSE(ControlRecord::decode(&reader, &out));
  }
  WriteCursor announce(bytes, sizeof(bytes));
  full(ControlType::kAnnounce).encode(&announce);
  bytes[17] = std::byte{kElementTypes};
  ReadCursor rereader(bytes, sizeof(bytes));
  EXPECT_FALSE(ControlRecord::decode(&rereader, &out));
}

TEST(WriteCursor, FailsForGoodWhenItIsFull) {
  std::byte bytes[3];
  WriteCursor cursor(bytes, sizeof(bytes));
  cursor.put(uint16_t{1});
  cursor.put(uint32_t{2});
  EXPECT_TRUE(cursor.failed());
  cursor.put(uint8_t{3});
  EXPECT_TRUE(cursor.failed());
  EXPECT_EQ(cursor.used(), 2u);
}

}  // namespace
}  // namespace ubt
