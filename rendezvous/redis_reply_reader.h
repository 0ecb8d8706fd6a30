// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "rendezvous/redis_reply.h"

struct redisReader;

namespace gloo {
namespace rendezvous {

// Parses replies from a server's bytes, in pieces of any size, with hiredis.
// One thread at a time.
class RedisReplyReader {
 public:
  // Throws gloo::IoException if memory is short; so does feed().
  RedisReplyReader();
  ~RedisReplyReader();

  RedisReplyReader(const RedisReplyReader&) = delete;
  RedisReplyReader& operator=(const RedisReplyReader&) = delete;

  void feed(const char* data, size_t bytes);

  // Takes the next whole reply. False if there is none yet, or if error() says
  // that none can follow.
  bool next(RedisReply* reply);
  // Why no reply can follow; empty while the bytes obey the protocol.
  std::string error() const;

 private:
  struct Deleter {
    void operator()(redisReader* reader) const;
  };

  std::unique_ptr<redisReader, Deleter> reader_;
};

}  // namespace rendezvous
}  // namespace gloo
