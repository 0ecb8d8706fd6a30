// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <uv.h>

#include <thread>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// Serves sockets while no caller does, in a libuv loop of its own. While
// callers come and go it only looks up now and then, so that it does not wake
// for datagrams a caller is going to take; once none has come for a whole
// period it watches the sockets itself.
class ServiceThread {
 public:
  struct Next {
    TimePoint at = kNever;      // when to look again, at the latest
    bool watchSockets = false;  // and whenever there is something to receive
  };
  class Client {
   public:
    virtual ~Client() = default;
    // Takes and sends what there is, if no caller does.
    virtual Next look() = 0;
  };

  static constexpr Duration kPeriod = std::chrono::milliseconds(2);

  // Starts the thread; `client` and both descriptors must outlive it.
  ServiceThread(Client* client, int fd, int otherFd);
  // Stops and joins it.
  ~ServiceThread();

  // Makes it look now. Any thread may call.
  void wake() { uv_async_send(&wake_); }

 private:
  void run();
  void look();
  void arm(TimePoint when);

  Client* const client_;
  int timerFd_ = -1;
  uv_loop_t loop_{};
  uv_async_t stop_{};
  uv_async_t wake_{};
  uv_poll_t timer_{};
  uv_poll_t sockets_[2]{};
  bool watching_ = false;
  std::thread thread_;
};

}  // namespace ubt
