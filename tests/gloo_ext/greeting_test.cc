// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/greeting.h"

#include <gtest/gtest.h>

#include "tests/gloo_ext/greetings.h"

namespace gloo_ext {
namespace {

// Where the fields lie.
constexpr size_t kMagicAt = 0;
constexpr size_t kFamilyAt = gloo::transport::ubt::Hello::kBytes;

bool decodes(const std::vector<uint8_t>& bytes) {
  Greeting out;
  return Greeting::decode(bytes, &out);
}

TEST(Greeting, SaysWhatItWasTold) {
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

TEST(Greeting, ProofTellsSecretsAndKeysApart) {
  const std::string longSecret(100000, 's');
  const std::vector<std::string> secrets = {
      "", std::string(1, '\0'), "a", "b", longSecret, longSecret + "s"};
  std::array<uint8_t, 32> key{};
  std::array<uint8_t, 32> otherKey{};
  otherKey.back() = 1;
  for (const std::string& a : secrets) {
    EXPECT_NE(Greeting::proofOf(a, key), Greeting::proofOf(a, otherKey));
    for (const std::string& b : secrets) {
      EXPECT_EQ(Greeting::proofOf(a, key) == Greeting::proofOf(b, key), a == b)
          << "of " << a.size() << " and " << b.size() << " bytes";
    }
  }
}

}  // namespace
}  // namespace gloo_ext
