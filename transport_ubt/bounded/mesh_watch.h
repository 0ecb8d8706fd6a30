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

namespace ubt {

// Reports when a connection of Gloo's mesh closes, because a rank died or left.
// Keeps a receive pending on every pair, on a slot that nobody sends to; Gloo
// ends it with an exception when the pair closes. Uses one thread per context.
// A pair in synchronous mode cannot be watched: it takes no such receive, and
// only a thread that reads from it notices that it has closed. For a path that
// lingers, this goes on when the context is gone, and keeps the connections
// open.
class MeshWatch {
 public:
  // Called once per rank, on the watching thread. Called for this rank, once,
  // if this process itself closed all connections. Gloo does so when one of its
  // waits times out; no other rank is gone then. For other ranks the call is
  // delayed: in the meantime, a rank that gave up and whose engine lives
  // reports that itself.
  using Closed = std::function<void(int rank, const std::string& why)>;

  // The objects that `mesh` uses must outlive this. `watched` is indexed by
  // rank.
  MeshWatch(Mesh mesh, std::vector<bool> watched, Closed closed);
  // After this returns, `closed` is not called any more.
  ~MeshWatch();

  // Stops watching this rank. Any thread may call.
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
  std::vector<bool> watched_;  // by rank; false once it is gone
  bool stopping_ = false;
  std::unique_ptr<gloo::transport::UnboundBuffer> alarm_;
  // Used when no new buffer can be created: one for each rank that may go.
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> spares_;
  std::thread thread_;
};

}  // namespace ubt
