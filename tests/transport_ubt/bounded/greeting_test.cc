// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/greeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/transport_ubt/bounded/greetings.h"

namespace ubt {
namespace {

using ::testing::StartsWith;

// The offsets of fields.
constexpr size_t kMagicAt = 0;
constexpr size_t kFamilyAt = Hello::kBytes;

bool decodes(const std::vector<uint8_t>& bytes) {
  Greeting out;
  return Greeting::decode(bytes, &out);
}

TEST(Greeting, EncodesAllFields) {
  for (const char* ip : {"10.1.2.3", "2001:db8::17"}) {
    const Greeting told = greetingOf(3, "secret", ip);
    Greeting heard;
    ASSERT_TRUE(Greeting::decode(told.encode(), &heard)) << ip;
    EXPECT_EQ(heard.hello.port, told.hello.port);
    EXPECT_EQ(heard.hello.slotBytesMax, told.hello.slotBytesMax);
    EXPECT_EQ(heard.hello.windowBytes, told.hello.windowBytes);
    EXPECT_EQ(heard.hello.minBytes, told.hello.minBytes);
    EXPECT_EQ(heard.hello.publicKey, told.hello.publicKey);
    EXPECT_EQ(heard.address.str(), told.address.str());
    EXPECT_EQ(heard.proof, told.proof);
  }
}

TEST(Greeting, HasOneLength) {
  const std::vector<uint8_t> right = greetingOf(0, "").encode();
  ASSERT_EQ(right.size(), Greeting::kBytes);
  for (size_t bytes = 0; bytes < 2 * right.size(); bytes++) {
    std::vector<uint8_t> cut = right;
    cut.resize(bytes);
    EXPECT_EQ(decodes(cut), bytes == right.size()) << bytes;
  }
}

TEST(Greeting, RefusesOtherMagicsAndIpFamilies) {
  const std::vector<uint8_t> right = greetingOf(0, "").encode();
  for (int value = 0; value < 256; value++) {
    std::vector<uint8_t> magic = right;
    magic[kMagicAt] = value;
    EXPECT_EQ(decodes(magic), value == right[kMagicAt]) << value;
    std::vector<uint8_t> family = right;
    family[kFamilyAt] = value;
    EXPECT_EQ(decodes(family), value == 4 || value == 6) << value;
  }
}

// Each byte belongs to a field: version, port, slot size, window, options,
// host, public key, address, proof.
TEST(Greeting, AlteredInAnyBitIsRefused) {
  for (const char* ip : {"10.1.2.3", "2001:db8::17"}) {
    const std::vector<uint8_t> right = greetingOf(3, "secret", ip).encode();
    for (size_t bit = 0; bit < 8 * right.size(); bit++) {
      std::vector<uint8_t> altered = right;
      altered[bit / 8] ^= 1U << bit % 8;
      Greeting heard;
      EXPECT_TRUE(!Greeting::decode(altered, &heard) ||
                  heard.refusal("secret", 3) !=
                      greetingOf(3, "secret").refusal("secret", 3))
          << "bit " << bit << " of " << ip;
    }
  }
}

TEST(Greeting, IsOfOneRankAndSecret) {
  const Greeting greeting = greetingOf(3, "secret");
  EXPECT_EQ(greeting.refusal("secret", 3), "");
  EXPECT_THAT(greeting.refusal("another", 3),
              StartsWith("rank 3 has another secret (GLOO_UBT_SECRET)"));
  EXPECT_THAT(greeting.refusal("secret", 2),
              StartsWith("rank 2 has another secret"));
}

struct Spoiled {
  const char* field;
  std::function<void(Greeting*)> spoil;
};

TEST(Greeting, OutOfBoundsIsRefusedWithRankAndField) {
  const auto at = [](const char* ip) {
    return [ip](Greeting* greeting) {
      greeting->address = SocketAddress(storageOf(ip), 1003);
    };
  };
  const std::vector<Spoiled> all = {
      {"UDP port 0 ", [](Greeting* g) { g->hello.port = 0; }},
      {"slot size in bytes 32 ",
       [](Greeting* g) { g->hello.slotBytesMax = 32; }},
      {"slot size in bytes 224 ",
       [](Greeting* g) { g->hello.slotBytesMax = Hello::kSlotBytesMin - 32; }},
      {"slot size in bytes 300 (allowed: multiples",
       [](Greeting* g) { g->hello.slotBytesMax = 300; }},
      {"slot size in bytes 65504 ",
       [](Greeting* g) { g->hello.slotBytesMax = Hello::kSlotBytesMost + 32; }},
      {"receive window in bytes (GLOO_UBT_WINDOW_BYTES) 1023 ",
       [](Greeting* g) { g->hello.windowBytes = Hello::kWindowBytesMin - 1; }},
      {"receive window in bytes (GLOO_UBT_WINDOW_BYTES) 1073741825 ",
       [](Greeting* g) { g->hello.windowBytes = Hello::kWindowBytesMost + 1; }},
      {"GLOO_UBT_GROUPS 0 ",
       [](Greeting* g) {
         g->hello.groups.grouping = {Grouping::By::kCount, 0};
       }},
      {"kind of GLOO_UBT_GROUPS 3 ",
       [](Greeting* g) {
         g->hello.groups.grouping.by = static_cast<Grouping::By>(3);
       }},
      {"public key of zeros ", [](Greeting* g) { g->hello.publicKey.fill(0); }},
      {"address 0.0.0.0:", at("0.0.0.0")},
      {"address 239.1.2.3:", at("239.1.2.3")},
      {"address 255.255.255.255:", at("255.255.255.255")},
      {"address [::]:", at("::")},
      {"address [ff15::1]:", at("ff15::1")},
  };
  for (const Spoiled& spoiled : all) {
    Greeting greeting = greetingOf(3, "secret");
    spoiled.spoil(&greeting);
    greeting.prove("secret", 3);
    Greeting heard;
    ASSERT_TRUE(Greeting::decode(greeting.encode(), &heard)) << spoiled.field;
    EXPECT_THAT(
        heard.refusal("secret", 3),
        StartsWith(
            std::string("rank 3 sent a greeting that is out of bounds: ") +
            spoiled.field));
  }
}

TEST(Greeting, OnItsBoundsIsTaken) {
  Greeting greeting = greetingOf(3, "secret");
  for (const uint32_t slot : {Hello::kSlotBytesMin, Hello::kSlotBytesMost}) {
    for (const uint32_t window :
         {Hello::kWindowBytesMin, Hello::kWindowBytesMost}) {
      greeting.hello.slotBytesMax = slot;
      greeting.hello.windowBytes = window;
      greeting.prove("secret", 3);
      Greeting heard;
      ASSERT_TRUE(Greeting::decode(greeting.encode(), &heard));
      EXPECT_EQ(heard.refusal("secret", 3), "");
    }
  }
}

}  // namespace
}  // namespace ubt
