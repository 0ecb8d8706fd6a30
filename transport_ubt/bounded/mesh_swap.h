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

namespace ubt {

// Swaps one message with every other rank of a mesh, once. No wait of Gloo's
// times out meanwhile, because that would close all connections. After a
// failure, keep this as long as the mesh: a rank may still send its message,
// and a connection hangs once a message finds its buffer gone.
class MeshSwap {
 public:
  // The swap goes on: run() may be called again.
  struct TimedOut : public gloo::IoException {
    using gloo::IoException::IoException;
  };

  // REQUIRES: the messages of all ranks have one size. No collective and no
  // other swap uses `slot`.
  MeshSwap(Mesh mesh, uint64_t slot, std::vector<uint8_t> own);
  ~MeshSwap();
  MeshSwap(const MeshSwap&) = delete;
  MeshSwap& operator=(const MeshSwap&) = delete;

  // The messages of all ranks, indexed by rank; includes this rank's. Throws
  // gloo::IoException that names a rank that is gone, TimedOut that names a
  // rank whose message has not come within `timeout`, or std::exception if
  // memory or threads are short. One thread at a time. Another call goes on
  // after TimedOut, and otherwise has the same outcome.
  std::vector<std::vector<uint8_t>> run(std::chrono::milliseconds timeout);

 private:
  struct Peer {
    std::vector<uint8_t> inbox;
    std::unique_ptr<gloo::transport::UnboundBuffer> incoming;
    std::unique_ptr<gloo::transport::UnboundBuffer> outgoing;
  };

  void talk() noexcept;
  void swap();

  const Mesh mesh_;
  const uint64_t slot_;
  std::vector<uint8_t> own_;
  std::vector<Peer> peers_;  // by rank; this rank's is empty
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  int awaited_ = -1;  // the rank whose message is waited for
  std::string failure_;
  std::thread thread_;  // begins with the first run()
};

}  // namespace ubt
