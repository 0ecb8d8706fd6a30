// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/clock.h"

namespace ubt {

// What a caller that has nothing to do does before it lets the next datagram
// wake it. That wake-up costs the kernel, and mostly the sender, more time than
// an answer takes; so a caller is better awake, or else asleep until there is
// more to do than one datagram.
struct IdlePolicy {
  Duration yield{0};  // for so long it yields the CPU, and looks again
  Duration nap{0};    // then it sleeps for so long, whatever comes

  // For a host where so many ranks of a context share so many CPUs: yields
  // where all can run almost at once, naps where yielding would hand the CPU to
  // others that yield. `configured.nap` is for each rank that shares a CPU.
  static IdlePolicy forHost(const IdlePolicy& configured, int ranks, int cpus);
};

}  // namespace ubt
