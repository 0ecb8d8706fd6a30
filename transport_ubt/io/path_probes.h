// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "transport_ubt/core/wire/packet_crypto.h"

namespace ubt {

// Receives path probes from one socket, for the contexts that begin there.
// Probes without a listener are ignored. Any thread may call any method.
class PathProbes {
 public:
  // The largest slots that one rank has probed, in bytes; 0 if no such probe
  // has come.
  struct Heard {
    uint32_t slotBytes = 0;
    uint32_t inTrains = 0;     // in whole trains
    bool sendsTrains = false;  // of slots of `slotBytes`
  };

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

    // The probes of each rank that have arrived.
    std::vector<Heard> heard() const;
    // Waits until probes of at least `slotBytes` have come from every other
    // rank, in trains, too, if it sends trains; or for `limit`. True if they
    // have come.
    bool awaitFull(uint32_t slotBytes, std::chrono::milliseconds limit);
    // Waits until any probe has come from every other rank, or for `limit`.
    bool awaitAny(std::chrono::milliseconds limit);

   private:
    friend class PathProbes;
    bool await(std::chrono::milliseconds limit,
               const std::function<bool(const Heard&)>& enough);

    PathProbes* const probes_;
    const uint64_t epoch_;
    const int rank_;
    const std::vector<AuthKey> keys_;
    std::vector<Heard> heard_;  // by rank
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
