// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/error.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "transport_ubt/bounded/mesh.h"

namespace gloo {
namespace transport {
namespace ubt {

// Swaps one message with every other rank of a mesh, once. No wait of Gloo's
// times out meanwhile: that would close all connections. If it failed, it has
// to be kept as long as the mesh: a rank may still send its message, and a
// connection is stuck once a message finds its buffer gone.
class MeshSwap {
 public:
  // The swap goes on: it may be waited for again.
  struct TimedOut : public ::gloo::IoException {
    using IoException::IoException;
  };

  // The messages of all ranks are of one size. `slot` is no collective's, and
  // of one swap.
  MeshSwap(Mesh mesh, uint64_t slot, std::vector<uint8_t> own);
  ~MeshSwap();
  MeshSwap(const MeshSwap&) = delete;
  MeshSwap& operator=(const MeshSwap&) = delete;

  // The messages by rank, the own one in its place. Throws gloo::IoException
  // that names a rank that is gone, TimedOut that names one that has not sent
  // its message within `timeout`, or std::exception for lack of memory or
  // threads. One thread at a time; again after TimedOut, or for the same.
  std::vector<std::vector<uint8_t>> run(std::chrono::milliseconds timeout);

 private:
  struct Peer {
    std::vector<uint8_t> inbox;
    std::unique_ptr<UnboundBuffer> incoming;
    std::unique_ptr<UnboundBuffer> outgoing;
  };

  void talk() noexcept;
  void swap();

  const Mesh mesh_;
  const uint64_t slot_;
  std::vector<uint8_t> own_;
  std::vector<Peer> peers_;  // by rank; the own one is empty
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  int awaited_ = -1;  // the rank whose message is waited for
  std::string failure_;
  std::thread thread_;  // begins with the first run()
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
