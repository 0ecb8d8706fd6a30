// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_reply_reader.h"

#include <gtest/gtest.h>

namespace gloo {
namespace rendezvous {
namespace {

TEST(RedisReplyReader, MakesRepliesOfPieces) {
  RedisReplyReader reader;
  RedisReply reply;
  for (const char byte : std::string("*2\r\n:7\r\n$2\r\nab\r\n")) {
    EXPECT_FALSE(reader.next(&reply));
    reader.feed(&byte, 1);
  }
  ASSERT_TRUE(reader.next(&reply));
  ASSERT_EQ(reply.elements.size(), 2u);
  EXPECT_EQ(reply.elements[0].integer, 7);
  EXPECT_EQ(reply.elements[1].text, "ab");
  EXPECT_FALSE(reader.next(&reply));
  EXPECT_EQ(reader.error(), "");
}

// The reader would allocate the announced size at once: here 16 GB.
TEST(RedisReplyReader, TakesNoArrayOfAnySize) {
  RedisReplyReader reader;
  RedisReply reply;
  const std::string bytes = "*2000000000\r\n";
  reader.feed(bytes.data(), bytes.size());
  EXPECT_FALSE(reader.next(&reply));
  EXPECT_NE(reader.error().find("too large"), std::string::npos);
}

TEST(RedisReplyReader, ReportsProtocolErrors) {
  RedisReplyReader reader;
  RedisReply reply;
  const std::string bytes = "HTTP/1.1 400 Bad Request\r\n";
  reader.feed(bytes.data(), bytes.size());
  EXPECT_FALSE(reader.next(&reply));
  EXPECT_NE(reader.error(), "");
  reader.feed(bytes.data(), bytes.size());
  EXPECT_FALSE(reader.next(&reply));
}

}  // namespace
}  // namespace rendezvous
}  // namespace gloo
