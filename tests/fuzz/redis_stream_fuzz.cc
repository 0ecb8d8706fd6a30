// SPDX-License-Identifier: Apache-2.0
//
// Any answer to XREAD either has entries or is refused. The result does not
// depend on how its bytes are cut.
#include <gloo/common/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "rendezvous/redis_reply_reader.h"
#include "rendezvous/redis_stream.h"

namespace {

using gloo::rendezvous::RedisReply;
using gloo::rendezvous::RedisReplyReader;

// All entries of all replies, one line each.
std::string entriesOf(const std::string& bytes, size_t piece) {
  RedisReplyReader reader;
  RedisReply reply;
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const std::string part = bytes.substr(at, piece);
    reader.feed(part.data(), part.size());
    while (reader.next(&reply)) {
      try {
        for (const auto& entry :
             gloo::rendezvous::parseStreamEntries(reply, "key")) {
          text += entry.id + entry.field("kind") + "\n";
        }
      } catch (const gloo::IoException&) {
        text += "refused\n";
      }
    }
    if (!reader.error().empty()) {
      break;
    }
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(data, data + size);
  // Tries the input itself, and the input after the beginning of a valid
  // answer.
  for (const char* const before :
       {"", "*1\r\n*2\r\n$3\r\nkey\r\n*1\r\n*2\r\n$1\r\n0\r\n"}) {
    if (entriesOf(before + bytes, size + 100) != entriesOf(before + bytes, 7)) {
      std::abort();
    }
  }
  return 0;
}
