// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "rendezvous/redis_reply.h"
#include "rendezvous/redis_reply_reader.h"
#include "rendezvous/redis_socket.h"
#include "rendezvous/redis_url.h"

namespace gloo {
namespace rendezvous {

using RedisCommand = std::vector<std::string>;

// A logged-in connection to a Redis server, version 5 or later. hiredis encodes
// and decodes the protocol. Waiting is done here, so that no call exceeds its
// deadline, even while the server is stopped.
//
// Owns its socket. One thread at a time. Every call throws gloo::IoException
// that names the server and the remedy. After an exception that is not an error
// reply, replies can no longer be matched to commands, so every later call
// throws, too.
class RedisConnection {
 public:
  // Connects, logs in if `url` has a user or password, and selects the
  // database. If the server needs no password, one in `url` is no error.
  RedisConnection(RedisUrl url, Deadline deadline);
  ~RedisConnection();

  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  // Sends one command and waits for its reply. Throws on an error reply.
  RedisReply command(const RedisCommand& command, Deadline deadline);

  // Runs the commands as one transaction: all of them, or none if this process
  // or the connection dies meanwhile. Returns one reply per command. Throws if
  // any of them is an error.
  std::vector<RedisReply> transaction(const std::vector<RedisCommand>& commands,
                                      Deadline deadline);

  const RedisUrl& url() const { return url_; }

 private:
  // Sends one command and returns its reply, also an error reply.
  RedisReply request(const RedisCommand& command, Deadline deadline);
  void send(const std::vector<RedisCommand>& commands, Deadline deadline);
  RedisReply receive(Deadline deadline);
  void logIn(Deadline deadline);
  [[noreturn]] void refuse(const std::string& command,
                           const RedisReply& reply) const;

  const RedisUrl url_;
  RedisSocket socket_;
  RedisReplyReader reader_;
  bool broken_ = false;
};

}  // namespace rendezvous
}  // namespace gloo
