// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/mesh_watch.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "transport_ubt/io/quiet_thread.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

// Slots that no collective uses: Gloo's carry a small prefix in the top byte.
constexpr uint64_t kFirstSlot = 0xfe00000000000000;
// A wait that times out would close every pair; this one never does.
constexpr auto kForEver = std::chrono::hours(24 * 365);

}  // namespace

MeshWatch::MeshWatch(Mesh mesh, std::vector<bool> watched, Closed closed)
    : mesh_(std::move(mesh)),
      closed_(std::move(closed)),
      slot_(kFirstSlot),
      watched_(std::move(watched)) {
  watched_[mesh_.rank] = false;
  try {
    const auto alarms = std::count(watched_.begin(), watched_.end(), true);
    for (auto i = alarms; i > 0; i--) {
      spares_.push_back(mesh_.createUnboundBuffer(&byte_, sizeof(byte_)));
    }
  } catch (const ::gloo::IoException&) {
    // The mesh is gone, and there is nothing to watch.
  }
  // Also because Gloo's tcp writes to sockets without MSG_NOSIGNAL, and right
  // after a death others may be going down as well: SIGPIPE.
  thread_ = ::ubt::quietThread([this] { run(); });
}

MeshWatch::~MeshWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
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
  slot_++;
  for (int rank = 0; rank < mesh_.size; rank++) {
    if (!isWatched(rank)) {
      continue;
    }
    try {
      alarm_->recv(rank, slot_);
    } catch (const ::gloo::IoException& error) {
      leaveOut(rank);
      closed_(rank,
              "the connection to rank " + std::to_string(rank) +
                  " is closed (has it died?): " + error.what());
    } catch (const std::exception&) {
      leaveOut(rank);  // it became synchronous under our hands
    }
  }
}

// False if there is nothing to watch for any more.
bool MeshWatch::renewAlarm() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) {
    return false;
  }
  try {
    alarm_ = mesh_.createUnboundBuffer(&byte_, sizeof(byte_));
  } catch (const ::gloo::IoException&) {
    // The context is gone. Its connections are there while this has buffers.
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
    post();
    try {
      if (anyWatched() && !alarm_->waitRecv(nullptr, kForEver)) {
        return;  // aborted by the destructor
      }
    } catch (const std::exception&) {
      // Some pair has gone; post() finds out which.
    }
  }
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
