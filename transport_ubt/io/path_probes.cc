// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/path_probes.h"

#include <algorithm>
#include <utility>

#include "transport_ubt/io/path_probe.h"

namespace ubt {

PathProbes::Listener::Listener(PathProbes* probes,
                               uint64_t epoch,
                               int rank,
                               std::vector<AuthKey> keys)
    : probes_(probes),
      epoch_(epoch),
      rank_(rank),
      keys_(std::move(keys)),
      heard_(keys_.size()) {
  const std::lock_guard<std::mutex> lock(probes_->mutex_);
  probes_->listeners_.insert(this);
  probes_->listening_++;
}

PathProbes::Listener::~Listener() {
  const std::lock_guard<std::mutex> lock(probes_->mutex_);
  probes_->listeners_.erase(this);
  probes_->listening_--;
}

std::vector<PathProbes::Heard> PathProbes::Listener::heard() const {
  const std::lock_guard<std::mutex> lock(probes_->mutex_);
  return heard_;
}

bool PathProbes::Listener::await(
    std::chrono::milliseconds limit,
    const std::function<bool(const Heard&)>& enough) {
  std::unique_lock<std::mutex> lock(probes_->mutex_);
  return probes_->changed_.wait_for(lock, limit, [&] {
    for (size_t rank = 0; rank < heard_.size(); rank++) {
      if (static_cast<int>(rank) != rank_ && !enough(heard_[rank])) {
        return false;
      }
    }
    return true;
  });
}

bool PathProbes::Listener::awaitFull(uint32_t slotBytes,
                                     std::chrono::milliseconds limit) {
  return await(limit, [slotBytes](const Heard& heard) {
    return heard.slotBytes >= slotBytes &&
           (heard.inTrains >= slotBytes || !heard.sendsTrains);
  });
}

bool PathProbes::Listener::awaitAny(std::chrono::milliseconds limit) {
  return await(limit, [](const Heard& heard) { return heard.slotBytes > 0; });
}

bool PathProbes::take(const std::byte* datagram, size_t bytes) {
  PathProbe probe;
  if (!PathProbe::decode(datagram, bytes, &probe)) {
    return false;
  }
  if (listening_ == 0) {
    return true;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Listener* const listener : listeners_) {
    if (listener->epoch_ == probe.epoch &&
        static_cast<uint32_t>(listener->rank_) == probe.destination &&
        probe.source < listener->keys_.size() &&
        probe.source != probe.destination &&
        PathProbe::isAuthentic(
            listener->keys_[probe.source], datagram, bytes)) {
      Heard& heard = listener->heard_[probe.source];
      if (probe.form == PathProbe::Form::kTrainEnd) {
        heard.inTrains = std::max(heard.inTrains, probe.slotBytes);
      } else if (probe.form != PathProbe::Form::kTrainBegin &&
                 probe.slotBytes >= heard.slotBytes) {
        heard.slotBytes = probe.slotBytes;
        heard.sendsTrains = probe.form == PathProbe::Form::kSingleToo;
      }
      changed_.notify_all();
    }
  }
  return true;
}

}  // namespace ubt
