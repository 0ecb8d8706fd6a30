// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace ubt {

// A thread on which no handler of the program's signals runs: those belong on
// threads that the program knows. What the thread itself may cause, such as
// SIGSEGV, it gets all the same. Throws as std::thread's constructor does.
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
