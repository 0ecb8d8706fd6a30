// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "transport_ubt/core/wire/packet_auth.h"

namespace ubt {

// The probes that come in on one socket, for the contexts that begin there.
// What no listener awaits is answered by nobody. All methods may be called from
// any thread.
class PathProbes {
 public:
  // One rank of a context that begins.
  class Listener {
   public:
    // `keys` by rank: those of what comes from it; the own one unused. `probes`
    // must outlive this.
    Listener(PathProbes* probes,
             uint64_t epoch,
             int rank,
             std::vector<AuthKey> keys);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // The largest slot, in bytes, that has come from each rank; 0: none has.
    std::vector<uint32_t> slotBytes() const;
    // Waits until slots of so many bytes have come from every other rank, or
    // for so long. Whether they have.
    bool await(uint32_t slotBytes, std::chrono::milliseconds limit);

   private:
    friend class PathProbes;
    bool hasAll(uint32_t slotBytes) const;

    PathProbes* const probes_;
    const uint64_t epoch_;
    const int rank_;
    const std::vector<AuthKey> keys_;
    std::vector<uint32_t> slotBytes_;  // by rank
  };

  // Whether the datagram has a probe's form: it is nobody else's then.
  bool take(const std::byte* datagram, size_t bytes);

 private:
  std::atomic<int> listening_{0};  // a look that costs a datagram nothing
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Listener*> listeners_;
};

}  // namespace ubt
