// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/mesh_watch.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "transport_ubt/bounded/mesh_slots.h"
#include "transport_ubt/io/quiet_thread.h"

namespace ubt {
namespace {

// The error that Gloo's tcp has for each pair once a wait of this process has
// timed out.
constexpr char kOwnTimeout[] = "Application timeout caused pair closure";
// Within this time, a rank that gave up has said so over UDP.
constexpr std::chrono::milliseconds kGrace{250};

}  // namespace

MeshWatch::MeshWatch(Mesh mesh, std::vector<bool> watched, Closed closed)
    : mesh_(std::move(mesh)),
      closed_(std::move(closed)),
      slot_(MeshSlots::kWatch),
      watched_(std::move(watched)) {
  watched_[mesh_.rank] = false;
  try {
    const auto alarms = std::count(watched_.begin(), watched_.end(), true);
    for (auto i = alarms; i > 0; i--) {
      spares_.push_back(mesh_.createUnboundBuffer(&byte_, sizeof(byte_)));
    }
  } catch (const gloo::IoException&) {
    // The mesh is gone, and there is nothing to watch.
  }
  // quietThread() also blocks SIGPIPE: Gloo's tcp writes without MSG_NOSIGNAL,
  // and after one death other ranks may go down, too.
  thread_ = quietThread([this] { run(); });
}

MeshWatch::~MeshWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    stop_.notify_all();
    if (alarm_) {
      alarm_->abortWaitRecv();
    }
  }
  thread_.join();
}

void MeshWatch::leaveOut(int rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  watched_[rank] = false;
}

bool MeshWatch::isWatched(int rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  return watched_[rank];
}

bool MeshWatch::anyWatched() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::count(watched_.begin(), watched_.end(), true) > 0;
}

void MeshWatch::post() {
  std::vector<std::pair<int, std::string>> gone;
  slot_++;
  for (int rank = 0; rank < mesh_.size; rank++) {
    if (!isWatched(rank)) {
      continue;
    }
    try {
      alarm_->recv(rank, slot_);
    } catch (const gloo::IoException& error) {
      gone.emplace_back(rank, error.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      leaveOut(rank);  // it has become synchronous
    }
  }
  if (!gone.empty()) {
    tell(gone);
  }
}

void MeshWatch::tell(const std::vector<std::pair<int, std::string>>& gone) {
  const auto own =
      std::find_if(gone.begin(), gone.end(), [](const auto& closed) {
        return closed.second.find(kOwnTimeout) != std::string::npos;
      });
  if (own != gone.end()) {
    const std::string why =
        "rank " + std::to_string(mesh_.rank) +
        " (this one) has closed its connections to all others, because a wait "
        "of another Gloo operation timed out here (" +
        own->second + ")";
    for (int rank = 0; rank < mesh_.size; rank++) {
      leaveOut(rank);
    }
    closed_(mesh_.rank, why);
    return;
  }
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (stop_.wait_for(lock, kGrace, [this] { return stopping_; })) {
      return;
    }
  }
  for (const auto& [rank, error] : gone) {
    const std::string why = "the connection to rank " + std::to_string(rank) +
                            " is closed (has it died?): " + error;
    leaveOut(rank);
    closed_(rank, why);
  }
}

// False if there is nothing left to watch.
bool MeshWatch::renewAlarm() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) {
    return false;
  }
  try {
    alarm_ = mesh_.createUnboundBuffer(&byte_, sizeof(byte_));
  } catch (const std::exception&) {
    // Either the context is gone; its connections stay while this has buffers.
    // Or memory is short; then a dead rank is still noticed by its silence.
    if (spares_.empty()) {
      return false;
    }
    alarm_ = std::move(spares_.back());
    spares_.pop_back();
  }
  return true;
}

void MeshWatch::run() {
  while (anyWatched() && renewAlarm()) {
    try {
      post();
      if (anyWatched() && !alarm_->waitRecv(nullptr, Mesh::kForEver)) {
        return;  // aborted by the destructor
      }
    } catch (const std::bad_alloc&) {
      // The next post() repeats all this, and may have memory.
      std::unique_lock<std::mutex> lock(mutex_);
      stop_.wait_for(lock, kGrace, [this] { return stopping_; });
    } catch (const std::exception&) {
      // A pair has closed; post() finds out which.
    }
  }
}

}  // namespace ubt
