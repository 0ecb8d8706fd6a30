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

namespace gloo {
namespace transport {
namespace ubt {

// Swaps greetings with every other rank of a mesh, once in the life of that.
// One that failed has to be kept as long as the mesh: a rank may still answer,
// and a connection of Gloo's is stuck once a message finds its buffer gone.
//
// No wait of Gloo's times out meanwhile: that would close all connections.
class GreetingExchange {
 public:
  // No collective's: those have a small prefix in the top byte.
  static constexpr uint64_t kSlot = 0xfc00000000000000;

  struct Patience {
    std::chrono::milliseconds timeout;
    std::chrono::milliseconds untilWarning = std::chrono::seconds(10);
  };
  using Warn = std::function<void(const std::string&)>;

  // Not all have answered in time. They still may. The same for all steps in
  // which a context opens.
  using TimedOut = MeshSwap::TimedOut;

  // Throws gloo::IoException if the mesh is gone.
  GreetingExchange(Mesh mesh,
                   const Greeting& own,
                   std::string secret);
  ~GreetingExchange();

  // The greetings by rank, the own one in its place. Ranks that do not answer
  // are named in a warning, once, `untilWarning` after the first call of this,
  // and on timeout in a TimedOut: a later call waits on. At once, the
  // gloo::IoException names one that is gone or does not belong here. Any
  // number of threads may call.
  std::vector<Greeting> run(const Patience& patience, const Warn& warn);

 private:
  struct Peer {
    std::vector<uint8_t> inbox;
    std::unique_ptr<gloo::transport::UnboundBuffer> incoming;
    std::unique_ptr<gloo::transport::UnboundBuffer> outgoing;
    // Gloo has no wait for whichever of several comes first.
    std::thread thread;
  };

  std::chrono::steady_clock::time_point begin();
  bool mayWarn();
  void greet(int rank);
  // What is wrong with what a rank sent; empty if nothing.
  std::string take(int rank);
  // "rank 1, rank 3"; empty once all have answered.
  std::string silentBy(std::chrono::steady_clock::time_point when);

  const Mesh mesh_;
  const std::string secret_;
  std::vector<uint8_t> own_;
  std::vector<Peer> peers_;  // by rank; the own one is empty
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
}  // namespace transport
}  // namespace gloo
