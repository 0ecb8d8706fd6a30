// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <uv.h>

#include <thread>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/io/descriptor.h"

namespace ubt {

// Serves sockets in its own libuv loop while no caller does. While a caller is
// inside, it sleeps. While callers come and go, it looks only once in each
// period, so that datagrams which a caller will take do not wake it. When no
// caller has come for a whole period, it watches the sockets.
class ServiceThread {
 public:
  class Client {
   public:
    virtual ~Client() = default;
    // Receives and sends, if no caller does. Calls lookBy() of `thread` if it
    // should be called again. True: it should be called also when data arrives.
    virtual bool look(ServiceThread* thread) = 0;
  };

  static constexpr Duration kPeriod = std::chrono::milliseconds(2);

  // Starts the thread, which looks first after a period. `client` and both
  // descriptors must outlive it. Throws std::system_error if the system has no
  // descriptor or no thread left.
  ServiceThread(Client* client, int fd, int otherFd);
  // Stops and joins it.
  ~ServiceThread();

  // It looks at `when`, in place of the time set before. kNever: it does not.
  // Any thread may call.
  void lookBy(TimePoint when);

 private:
  // Closes all handles that were added to it, and itself.
  struct Loop {
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    uv_loop_t uv{};
  };

  void run();
  void look();

  Client* const client_;
  // A timerfd, because libuv's own timers have a resolution of 1 ms.
  const Descriptor timerFd_;
  uv_async_t stop_{};
  uv_poll_t timer_{};
  uv_poll_t sockets_[2]{};
  Loop loop_;  // after its handles, so it closes them first
  bool watching_ = false;
  std::thread thread_;
};

}  // namespace ubt
