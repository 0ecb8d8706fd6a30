// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gloo {
namespace transport {
namespace ubt {

// Tells when a connection of Gloo's mesh closes: a rank died or left. Keeps a
// receive pending on every pair, on a slot that nobody sends to; Gloo ends it
// with an exception when a pair goes. One thread a context.
class MeshWatch {
 public:
  // Called once per rank, from the watching thread.
  using Closed = std::function<void(int rank, const std::string& why)>;

  // `mesh` must be connected and outlive this.
  MeshWatch(::gloo::transport::Context* mesh, Closed closed);
  // After this returns, `closed` is not called any more.
  ~MeshWatch();

 private:
  void run();
  // Posts the receive on each open pair; reports those that are closed.
  void post();

  ::gloo::transport::Context* const mesh_;
  const Closed closed_;
  std::vector<bool> gone_;
  uint64_t slot_;
  char byte_ = 0;
  std::mutex mutex_;
  bool stopping_ = false;
  std::unique_ptr<::gloo::transport::UnboundBuffer> alarm_;
  std::thread thread_;
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
