// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport_ubt/bounded/mesh.h"

namespace gloo {
namespace transport {
namespace ubt {

// Tells when a connection of Gloo's mesh closes: a rank died or left. Keeps a
// receive pending on every pair, on a slot that nobody sends to; Gloo ends it
// with an exception when a pair goes. One thread a context. A pair in
// synchronous mode cannot be watched: it takes no such receive, and only who
// reads from it learns that it has closed. It watches on when the context is
// gone, for a path that lingers, and keeps the connections open meanwhile.
class MeshWatch {
 public:
  // Called once per rank, from the watching thread; of the own rank, once, if
  // this process closed all connections itself: Gloo does so when a wait of its
  // own times out, and no other rank is gone then. Of other ranks with a delay:
  // one that gave up, and whose engine lives, says so meanwhile by itself.
  using Closed = std::function<void(int rank, const std::string& why)>;

  // What is behind `mesh` must outlive this. `watched` is by rank.
  MeshWatch(Mesh mesh, std::vector<bool> watched, Closed closed);
  // After this returns, `closed` is not called any more.
  ~MeshWatch();

  // Watches this rank no more. From any thread.
  void leaveOut(int rank);

 private:
  void run();
  bool renewAlarm();
  // Posts the receive on each watched pair; reports those that are closed.
  void post();
  void tell(const std::vector<std::pair<int, std::string>>& gone);
  bool isWatched(int rank);
  bool anyWatched();

  const Mesh mesh_;
  const Closed closed_;
  uint64_t slot_;
  char byte_ = 0;
  std::mutex mutex_;
  std::condition_variable stop_;
  std::vector<bool> watched_;  // by rank; those that are gone are not
  bool stopping_ = false;
  std::unique_ptr<UnboundBuffer> alarm_;
  // For when no others can be had: one for each rank that may go.
  std::vector<std::unique_ptr<UnboundBuffer>> spares_;
  std::thread thread_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
