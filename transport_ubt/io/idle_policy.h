// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// What an idle caller does before it lets the next datagram wake it. Such a
// wake-up costs the kernel more time than an answer takes, and mostly the
// sender pays. So a caller should stay awake, or sleep until several datagrams
// have come.
struct IdlePolicy {
  Duration yield{0};  // for this long after a datagram it yields the CPU and
                      // looks again
  Duration nap{0};    // then it sleeps this long, whatever arrives

  // Naps need a receive window of this size. A smaller one fills up, and all
  // senders wait, long before a nap is over.
  static constexpr uint64_t kNapWindowBytesMin = 1 << 20;

  // This policy for a socket with a receive window of `windowBytes`: without
  // naps, if the window is smaller than kNapWindowBytesMin.
  IdlePolicy inWindow(uint64_t windowBytes) const;

  // The policy for a call over `bytes`, when `ranksPerCpu` ranks of its context
  // share a CPU. A nap lasts `ranksPerCpu` times `configured.nap`.
  //
  //     ranks per CPU   under 1 MiB   1 MiB or more   naps are off
  //     1               yield         yield           yield
  //     2               yield         nap             yield
  //     3 or more       nap           nap             sleep at once
  static IdlePolicy forCall(const IdlePolicy& configured,
                            int ranksPerCpu,
                            size_t bytes);
};

// Sleeps for `length`, or until `wakeFd` is readable. Datagrams do not end it.
void nap(int wakeFd, Duration length);

}  // namespace ubt
