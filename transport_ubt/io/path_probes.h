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

#include "transport_ubt/core/wire/packet_crypto.h"

namespace ubt {

// Receives path probes from one socket, for the contexts that begin there.
// Probes without a listener are ignored. Any thread may call any method.
class PathProbes {
 public:
  // One rank of a context that begins.
  class Listener {
   public:
    // `keys` is indexed by rank: the key of that rank's probes to this one.
    // This rank's own entry is unused. `probes` must outlive this.
    Listener(PathProbes* probes,
             uint64_t epoch,
             int rank,
             std::vector<AuthKey> keys);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // The size of the largest slot, in bytes, that each rank has probed; 0 if
    // no probe has come.
    std::vector<uint32_t> slotBytes() const;
    // Waits until probes of at least `slotBytes` have come from every other
    // rank, or for `limit`. True if they have come.
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

  // True if the datagram has the form of a probe. Then nobody else needs it.
  bool take(const std::byte* datagram, size_t bytes);

 private:
  std::atomic<int> listening_{0};  // listeners_.size(), read without the mutex
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Listener*> listeners_;
};

}  // namespace ubt
