// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/error.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "transport_ubt/bounded/greeting.h"
#include "transport_ubt/bounded/mesh.h"
#include "transport_ubt/bounded/mesh_swap.h"

namespace ubt {

// Swaps greetings with every other rank of a mesh, once for each mesh. After a
// failure, keep this as long as the mesh: a rank may still answer, and a Gloo
// connection hangs once a message finds its buffer gone.
//
// No wait of Gloo's times out here, because that would close all connections.
class GreetingExchange {
 public:
  struct Waits {
    std::chrono::milliseconds timeout;
    std::chrono::milliseconds untilWarning = std::chrono::seconds(10);
  };
  using Warn = std::function<void(const std::string&)>;

  // Some ranks have not answered in time, but still may. All steps that open a
  // context throw this.
  using TimedOut = MeshSwap::TimedOut;

  // Throws gloo::IoException if the mesh is gone.
  GreetingExchange(Mesh mesh, const Greeting& own, std::string secret);
  ~GreetingExchange();

  // The greetings of all ranks, indexed by rank; includes this rank's. Once,
  // `untilWarning` after the first call, warns and names the ranks that have
  // not answered. On timeout throws TimedOut, which names them; a later call
  // goes on waiting. Throws gloo::IoException at once if a rank is gone or does
  // not belong here, and names it. Any number of threads may call.
  std::vector<Greeting> run(const Waits& waits, const Warn& warn);

 private:
  struct Peer {
    std::vector<uint8_t> inbox;
    std::unique_ptr<gloo::transport::UnboundBuffer> incoming;
    std::unique_ptr<gloo::transport::UnboundBuffer> outgoing;
    // Gloo cannot wait for the first of several buffers.
    std::thread thread;
  };

  std::chrono::steady_clock::time_point begin();
  bool mayWarn();
  void greet(int rank);
  // Why a rank's message is refused; empty if it is accepted.
  std::string take(int rank);
  // The ranks that have not answered by then, as "rank 1, rank 3".
  std::string silentBy(std::chrono::steady_clock::time_point when);

  const Mesh mesh_;
  const std::string secret_;
  std::vector<uint8_t> own_;
  std::vector<Peer> peers_;  // by rank; this rank's is empty
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Greeting> all_;   // by rank
  std::vector<bool> answered_;  // by rank
  std::string failure_;         // the first
  std::chrono::steady_clock::time_point start_{};
  bool begun_ = false;
  bool warned_ = false;
};

}  // namespace ubt
