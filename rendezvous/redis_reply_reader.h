// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "rendezvous/redis_reply.h"

struct redisReader;

namespace gloo {
namespace rendezvous {

// Makes replies of a server's bytes, however they are cut. hiredis does the
// reading. One thread at a time.
class RedisReplyReader {
 public:
  // Throws gloo::IoException for want of memory, as does feed().
  RedisReplyReader();
  ~RedisReplyReader();

  RedisReplyReader(const RedisReplyReader&) = delete;
  RedisReplyReader& operator=(const RedisReplyReader&) = delete;

  void feed(const char* data, size_t bytes);

  // The next whole reply, or false: there is none yet, or there never will be.
  bool next(RedisReply* reply);
  // Why there never will be; empty as long as the bytes are of the protocol.
  std::string error() const;

 private:
  struct Deleter {
    void operator()(redisReader* reader) const;
  };

  std::unique_ptr<redisReader, Deleter> reader_;
};

}  // namespace rendezvous
}  // namespace gloo
