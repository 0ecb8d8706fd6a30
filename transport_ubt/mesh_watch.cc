// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/mesh_watch.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gloo {
namespace transport {
namespace ubt {
namespace {

// Slots that no collective uses: Gloo's carry a small prefix in the top byte.
constexpr uint64_t kFirstSlot = 0xfe00000000000000;
// A wait that times out would close every pair; this one never does.
constexpr auto kForEver = std::chrono::hours(24 * 365);

}  // namespace

MeshWatch::MeshWatch(::gloo::transport::Context* mesh, Closed closed)
    : mesh_(mesh),
      closed_(std::move(closed)),
      gone_(mesh->size, false),
      slot_(kFirstSlot),
      thread_([this] { run(); }) {}

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

void MeshWatch::post() {
  slot_++;
  for (int rank = 0; rank < mesh_->size; rank++) {
    if (rank == mesh_->rank || gone_[rank]) {
      continue;
    }
    try {
      mesh_->getPair(rank)->recv(alarm_.get(), slot_, 0, sizeof(byte_));
    } catch (const ::gloo::IoException& error) {
      gone_[rank] = true;
      closed_(rank,
              "the connection to rank " + std::to_string(rank) +
                  " is closed (has it died?): " + error.what());
    }
  }
}

void MeshWatch::run() {
  const auto anyOpen = [this] {
    return std::count(gone_.begin(), gone_.end(), true) < mesh_->size - 1;
  };
  while (anyOpen()) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) {
        return;
      }
      alarm_ = mesh_->createUnboundBuffer(&byte_, sizeof(byte_));
    }
    post();
    try {
      if (anyOpen() && !alarm_->waitRecv(nullptr, kForEver)) {
        return;  // aborted by the destructor
      }
    } catch (const ::gloo::IoException&) {
      // Some pair has gone; post() finds out which.
    }
  }
}

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
