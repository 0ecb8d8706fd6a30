// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/mesh_swap.h"

#include <gloo/common/error.h>

#include <thread>
#include <utility>

#include "transport_ubt/io/quiet_thread.h"

namespace ubt {

MeshSwap::MeshSwap(Mesh mesh, uint64_t slot, std::vector<uint8_t> own)
    : mesh_(std::move(mesh)),
      slot_(slot),
      own_(std::move(own)),
      peers_(mesh_.size) {
  for (int rank = 0; rank < mesh_.size; rank++) {
    if (rank != mesh_.rank) {
      Peer& peer = peers_[rank];
      peer.inbox.resize(own_.size());
      peer.incoming =
          mesh_.createUnboundBuffer(peer.inbox.data(), peer.inbox.size());
      peer.outgoing = mesh_.createUnboundBuffer(own_.data(), own_.size());
    }
  }
}

MeshSwap::~MeshSwap() {
  if (!thread_.joinable()) {
    return;
  }
  for (const Peer& peer : peers_) {
    if (peer.incoming != nullptr) {
      peer.incoming->abortWaitRecv();
      peer.outgoing->abortWaitSend();
    }
  }
  thread_.join();
}

// Runs on a thread of its own.
void MeshSwap::talk() noexcept {
  try {
    swap();
  } catch (const std::exception&) {
    const std::lock_guard<std::mutex> lock(mutex_);
    failure_ = "no memory";  // short enough to allocate nothing
    over_ = true;
    changed_.notify_all();
  }
}

void MeshSwap::swap() {
  std::string failure;
  int rank = 0;
  try {
    for (rank = 0; rank < mesh_.size; rank++) {
      if (rank != mesh_.rank) {
        peers_[rank].incoming->recv(rank, slot_);
        peers_[rank].outgoing->send(rank, slot_);
      }
    }
    for (rank = 0; rank < mesh_.size && failure.empty(); rank++) {
      if (rank == mesh_.rank) {
        continue;
      }
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        awaited_ = rank;
      }
      if (!peers_[rank].incoming->waitRecv(nullptr, Mesh::kForEver) ||
          !peers_[rank].outgoing->waitSend(nullptr, Mesh::kForEver)) {
        failure = "aborted";
      }
    }
  } catch (const std::exception& error) {
    failure = "the connection to rank " + std::to_string(rank) +
              " is closed (has it died?): " + error.what();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  failure_ = failure_.empty() ? failure : failure_;
  over_ = true;
  changed_.notify_all();
}

std::vector<std::vector<uint8_t>> MeshSwap::run(
    std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  if (!thread_.joinable()) {
    thread_ = quietThread([this] { talk(); });
  }
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!changed_.wait_until(lock, end, [this] { return over_; })) {
      const std::string who =
          awaited_ < 0 ? "some rank" : "rank " + std::to_string(awaited_);
      throw TimedOut(
          who + " has not come to the start of the bounded allreduce within " +
          std::to_string(timeout.count()) + " ms");
    }
    if (!failure_.empty()) {
      throw gloo::IoException(failure_);
    }
  }
  std::vector<std::vector<uint8_t>> all;
  all.reserve(peers_.size());
  for (int rank = 0; rank < mesh_.size; rank++) {
    all.push_back(rank == mesh_.rank ? own_ : peers_[rank].inbox);
  }
  return all;
}

}  // namespace ubt
