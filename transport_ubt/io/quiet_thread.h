// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace ubt {

// A thread that blocks the program's signals: handlers run only on threads that
// the program knows. Signals that the thread itself may cause, such as SIGSEGV,
// are not blocked. Throws like std::thread's constructor.
template <typename Body>
std::thread quietThread(Body&& body) {
  struct Mask {
    Mask() {
      sigset_t set;
      sigfillset(&set);
      for (const int own :
           {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
        sigdelset(&set, own);
      }
      pthread_sigmask(SIG_BLOCK, &set, &before);
    }
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before{};
  };
  const Mask mask;  // a new thread inherits it
  return std::thread(std::forward<Body>(body));
}

}  // namespace ubt
