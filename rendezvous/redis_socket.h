// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "rendezvous/redis_url.h"

namespace gloo {
namespace rendezvous {

// The moment a call must have returned by.
using Deadline = std::chrono::steady_clock::time_point;

// A stream socket, connected over TCP or a unix socket, of which no call
// outlasts its deadline. Owns the descriptor. One thread at a time.
//
// Every call throws gloo::IoException, which names the server and what to do,
// when the deadline passes or the connection fails. After that the socket is
// of no further use.
class RedisSocket {
 public:
  // Resolves the name and connects to the first of its addresses that answers
  // (connectToAny). A resolver that hangs is left behind on a thread of its
  // own; it holds nothing of ours.
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
