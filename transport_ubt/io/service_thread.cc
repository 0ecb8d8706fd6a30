// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/service_thread.h"

#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "transport_ubt/io/quiet_thread.h"
#include "transport_ubt/io/steady_now.h"

namespace ubt {
namespace {

void check(int status, const char* what) {
  if (status != 0) {
    throw std::system_error(-status, std::generic_category(), what);
  }
}

}  // namespace

ServiceThread::ServiceThread(Client* client, int fd, int otherFd)
    : client_(client) {
  // A timerfd, because libuv's own timers have a resolution of 1 ms.
  timerFd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timerFd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "timerfd_create");
  }
  check(uv_loop_init(&loop_), "uv_loop_init");
  check(uv_async_init(
            &loop_, &stop_, [](uv_async_t* handle) { uv_stop(handle->loop); }),
        "uv_async_init");
  check(uv_poll_init(&loop_, &timer_, timerFd_), "uv_poll_init");
  check(uv_poll_init(&loop_, &sockets_[0], fd), "uv_poll_init");
  check(uv_poll_init(&loop_, &sockets_[1], otherFd), "uv_poll_init");
  timer_.data = this;
  sockets_[0].data = sockets_[1].data = this;
  check(uv_poll_start(
            &timer_,
            UV_READABLE,
            [](uv_poll_t* handle, int, int) {
              auto* const self = static_cast<ServiceThread*>(handle->data);
              uint64_t expirations;
              (void)!read(self->timerFd_, &expirations, sizeof(expirations));
              self->look();
            }),
        "uv_poll_start");
  lookBy(steadyNow() + kPeriod);
  thread_ = quietThread([this] { run(); });
}

ServiceThread::~ServiceThread() {
  uv_async_send(&stop_);
  thread_.join();
  uv_close(reinterpret_cast<uv_handle_t*>(&stop_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  for (uv_poll_t& socket : sockets_) {
    uv_close(reinterpret_cast<uv_handle_t*>(&socket), nullptr);
  }
  uv_run(&loop_, UV_RUN_DEFAULT);
  uv_loop_close(&loop_);
  close(timerFd_);
}

void ServiceThread::run() {
  // The smallest slack, in ns: timers of this thread should not be late.
  prctl(PR_SET_TIMERSLACK, 1);
  uv_run(&loop_, UV_RUN_DEFAULT);
}

void ServiceThread::look() {
  const bool watch = client_->look(this);
  for (uv_poll_t& socket : sockets_) {
    if (watch && !watching_) {
      uv_poll_start(&socket, UV_READABLE, [](uv_poll_t* handle, int, int) {
        static_cast<ServiceThread*>(handle->data)->look();
      });
    } else if (!watch && watching_) {
      uv_poll_stop(&socket);
    }
  }
  watching_ = watch;
}

void ServiceThread::lookBy(TimePoint when) {
  itimerspec timer{};
  if (when != kNever) {
    const auto ns = std::max<int64_t>(1, when.time_since_epoch().count());
    timer.it_value.tv_sec = ns / 1000000000;
    timer.it_value.tv_nsec = ns % 1000000000;
  }
  timerfd_settime(timerFd_, TFD_TIMER_ABSTIME, &timer, nullptr);
}

}  // namespace ubt
