// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/service_thread.h"

#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
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

ServiceThread::Loop::Loop() {
  check(uv_loop_init(&uv), "uv_loop_init");
}

ServiceThread::Loop::~Loop() {
  uv_walk(
      &uv,
      [](uv_handle_t* handle, void*) { uv_close(handle, nullptr); },
      nullptr);
  uv_run(&uv, UV_RUN_DEFAULT);
  uv_loop_close(&uv);
}

ServiceThread::ServiceThread(Client* client, int fd, int otherFd)
    : client_(client),
      timerFd_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC),
               "timerfd_create") {
  uv_loop_t* const loop = &loop_.uv;
  check(uv_async_init(
            loop, &stop_, [](uv_async_t* handle) { uv_stop(handle->loop); }),
        "uv_async_init");
  check(uv_poll_init(loop, &timer_, timerFd_.get()), "uv_poll_init");
  check(uv_poll_init(loop, &sockets_[0], fd), "uv_poll_init");
  check(uv_poll_init(loop, &sockets_[1], otherFd), "uv_poll_init");
  timer_.data = this;
  sockets_[0].data = sockets_[1].data = this;
  check(uv_poll_start(
            &timer_,
            UV_READABLE,
            [](uv_poll_t* handle, int, int) {
              auto* const self = static_cast<ServiceThread*>(handle->data);
              uint64_t expirations;
              (void)!read(
                  self->timerFd_.get(), &expirations, sizeof(expirations));
              self->look();
            }),
        "uv_poll_start");
  lookBy(steadyNow() + kPeriod);
  thread_ = quietThread([this] { run(); });
}

ServiceThread::~ServiceThread() {
  uv_async_send(&stop_);
  thread_.join();
}

void ServiceThread::run() {
  // The smallest slack, in ns: timers of this thread should not be late.
  prctl(PR_SET_TIMERSLACK, 1);
  uv_run(&loop_.uv, UV_RUN_DEFAULT);
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
  timerfd_settime(timerFd_.get(), TFD_TIMER_ABSTIME, &timer, nullptr);
}

}  // namespace ubt
