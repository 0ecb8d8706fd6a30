// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gloo_ext/greeting_exchange.h"
#include "gloo_ext/policy.h"
#include "transport_ubt/channel.h"

namespace gloo_ext {

// One Gloo context and its bounded path.
class BoundedContext {
 public:
  BoundedContext(std::shared_ptr<gloo::transport::ubt::Engine> engine,
                 gloo::transport::ubt::Mesh mesh)
      : mesh_(mesh), channel_(std::move(engine), std::move(mesh)) {}

  // The path, once all ranks have found each other, which the first caller sees
  // to and others wait for. Throws gloo::IoException that names the ranks who
  // are missing or do not match; from then on always.
  gloo::transport::ubt::Channel& channel(const Policy& policy,
                                         std::chrono::milliseconds timeout);

  // Of all ranks, once there is a channel.
  const std::shared_ptr<const std::vector<std::string>>& addresses() const {
    return addresses_;
  }

  // Shortens how long the destructor waits for peers that still need something.
  void lingerAtMost(std::chrono::milliseconds limit) {
    channel_.lingerAtMost(limit);
  }

 private:
  void meet(const Policy& policy, std::chrono::milliseconds timeout);

  const gloo::transport::ubt::Mesh mesh_;
  std::mutex mutex_;
  std::string failure_;
  std::shared_ptr<const std::vector<std::string>> addresses_;
  std::unique_ptr<GreetingExchange> exchange_;  // going on, or failed
  gloo::transport::ubt::Channel channel_;
};

// All of this process's, from their first eligible call until the context is
// destroyed; a thread sees to that, for Gloo tells nobody.
class BoundedContexts {
 public:
  // `mesh` is the context's. Null after close(). Throws gloo::Exception if no
  // socket can be had.
  std::shared_ptr<BoundedContext> of(
      const std::shared_ptr<gloo::Context>& context,
      const gloo::transport::ubt::Mesh& mesh);

  // When the process ends: peers may still need something of it. Nothing is
  // bounded after that.
  void close();

 private:
  struct Entry {
    std::weak_ptr<gloo::Context> context;
    std::shared_ptr<BoundedContext> bounded;
  };

  using BoundedContextPtr = std::shared_ptr<BoundedContext>;

  void sweep();
  static void end(std::vector<BoundedContextPtr> contexts);

  std::mutex mutex_;
  std::condition_variable closing_;
  bool closed_ = false;
  std::shared_ptr<gloo::transport::ubt::Engine> engine_;
  std::map<const gloo::Context*, Entry> entries_;
  // Whose contexts are gone, for the sweeper.
  std::vector<BoundedContextPtr> gone_;
  std::thread sweeper_;
};

}  // namespace gloo_ext
