// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <uv.h>

#include <thread>

#include "transport_ubt/core/clock.h"

namespace ubt {

// Serves a socket while no caller does, in a libuv loop of its own. While
// callers come and go it only looks up now and then, so that it does not wake
// for datagrams a caller is going to take; once none has come for a whole
// period it watches the socket itself.
class ServiceThread {
 public:
  class Client {
   public:
    virtual ~Client() = default;
    // Whether callers are inside or were since the last time it was asked.
    virtual bool callersInside() = 0;
    // Takes and sends what there is; returns when to be called again, at the
    // latest (kNever: when the socket is readable).
    virtual TimePoint serve() = 0;
  };

  static constexpr Duration kPeriod = std::chrono::milliseconds(2);

  // Starts the thread; `client` and `fd` must outlive it.
  ServiceThread(Client* client, int fd);
  // Stops and joins it.
  ~ServiceThread();

 private:
  void run();
  void look();
  void arm(TimePoint when);
  static TimePoint clock();

  Client* const client_;
  const int fd_;
  int timerFd_ = -1;
  uv_loop_t loop_{};
  uv_async_t stop_{};
  uv_poll_t timer_{};
  uv_poll_t socket_{};
  bool serving_ = false;
  std::thread thread_;
};

}  // namespace ubt
