// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "rendezvous/redis_url.h"

namespace gloo {
namespace rendezvous {

// A call returns by this time.
using Deadline = std::chrono::steady_clock::time_point;

// A stream socket, connected over TCP or a unix socket. No call exceeds its
// deadline. Owns the descriptor. One thread at a time.
//
// If the deadline passes or the connection fails, every call throws
// gloo::IoException that names the server and the remedy. Do not use the socket
// after that.
class RedisSocket {
 public:
  // Resolves the name and connects to the first of its addresses that answers
  // (connectToAny). A resolver that hangs is left on a thread of its own, which
  // uses nothing of this object.
  RedisSocket(const RedisUrl& url, Deadline deadline);
  ~RedisSocket();

  RedisSocket(const RedisSocket&) = delete;
  RedisSocket& operator=(const RedisSocket&) = delete;

  // Writes all of `bytes`.
  void write(const std::string& bytes, Deadline deadline);

  // Reads at least one and at most `capacity` bytes; returns how many.
  size_t read(char* buffer, size_t capacity, Deadline deadline);

 private:
  void connectUnix(const RedisUrl& url, Deadline deadline);
  void connectTcp(const RedisUrl& url, Deadline deadline);
  void waitFor(short events, Deadline deadline);

  std::string server_;  // for messages
  int fd_ = -1;
};

}  // namespace rendezvous
}  // namespace gloo
