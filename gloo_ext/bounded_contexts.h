// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gloo_ext/policy.h"
#include "transport_ubt/bounded/channel.h"
#include "transport_ubt/bounded/greeting_exchange.h"

namespace gloo_ext {

// One Gloo context and its bounded path.
class BoundedContext {
 public:
  BoundedContext(std::shared_ptr<gloo::transport::ubt::Engine> engine,
                 gloo::transport::ubt::Mesh mesh)
      : mesh_(mesh), channel_(std::move(engine), std::move(mesh)) {}

  // The path, once all ranks have found each other. All callers wait for that,
  // each for the shorter of both timeouts, Gloo's kNoTimeout being none. Throws
  // gloo::IoException that names the ranks who are missing or do not match: if
  // only the call's timeout has passed, a later call waits on; else from then
  // on always.
  gloo::transport::ubt::Channel& channel(
      const Policy& policy,
      std::chrono::milliseconds contextTimeout,
      std::chrono::milliseconds callTimeout);

  // Of all ranks, once there is a channel.
  const std::shared_ptr<const std::vector<std::string>>& addresses() const {
    return addresses_;
  }

  // Channel's.
  gloo::transport::ubt::Lingering lingering() const {
    return channel_.lingering();
  }
  std::vector<int> neededBy() {
    return open_ ? channel_.neededBy() : std::vector<int>();
  }
  void doNotLinger() { channel_.doNotLinger(); }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void meet(Lock* lock,
            std::chrono::milliseconds wait,
            std::chrono::milliseconds contextTimeout);
  void begin();
  void open(const std::vector<gloo::transport::ubt::Greeting>& all,
            std::chrono::milliseconds timeout,
            std::chrono::milliseconds wait);

  const gloo::transport::ubt::Mesh mesh_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool opening_ = false;  // some caller does
  std::atomic<bool> open_{false};
  std::string failure_;
  std::shared_ptr<const std::vector<std::string>> addresses_;
  std::shared_ptr<gloo::transport::ubt::GreetingExchange> exchange_;  // going on, or failed
  gloo::transport::ubt::Channel channel_;
};

// All of this process's, from their first eligible call until the context is
// destroyed; a thread sees to that, for Gloo tells nobody. It also lingers in
// their stead.
class BoundedContexts {
 public:
  // `atEnd`: what is to be done once all have ended with the process, by the
  // thread that sees to them.
  explicit BoundedContexts(std::function<void()> atEnd = nullptr);

  // An allreduce is going on, from construction to destruction. In the thread
  // that makes it.
  class Call {
   public:
    explicit Call(BoundedContexts* contexts);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    BoundedContexts* const contexts_;
  };

  // `mesh` is the context's. Null after close(). Throws gloo::Exception if no
  // socket can be had.
  std::shared_ptr<BoundedContext> of(
      const std::shared_ptr<gloo::Context>& context,
      const gloo::transport::ubt::Mesh& mesh);

  // When the process ends: peers may still need something of it, and it waits
  // for them; for no longer than kHasteMax if it is not `clean`, which means
  // that the process has done what it was to do. Nothing is bounded after that.
  void close(bool clean = true);

  // The same where the process ends by _exit(), so that other threads go on
  // meanwhile. A call that is going on in one of them is not clean. It is
  // async-signal-safe: it waits while the thread of this class works, but not
  // for one that is stuck, for example at a lock that the caller holds. Called
  // in the middle of an allreduce, by a signal's handler, it does nothing.
  void closeBeforeExit(bool clean) noexcept;

  static constexpr std::chrono::seconds kHasteMax{5};

 private:
  struct Entry {
    std::weak_ptr<gloo::Context> context;
    std::shared_ptr<BoundedContext> bounded;
  };
  // Its context is gone.
  struct Gone {
    std::shared_ptr<BoundedContext> bounded;
    gloo::transport::ubt::Lingering lingering;
  };
  using BoundedContextPtr = std::shared_ptr<BoundedContext>;

  void goes(const BoundedContextPtr& bounded);
  void endAll();
  std::vector<BoundedContextPtr> takeThoseThatAreOver();
  void sweep();
  bool step();
  void awaitWork();

  const std::function<void()> atEnd_;
  std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<gloo::transport::ubt::Engine> engine_;
  std::map<const gloo::Context*, Entry> entries_;
  std::list<Gone> gone_;
  std::thread sweeper_;
  sem_t wake_;  // posted for the sweeper
  // Between the thread that ends the process and the sweeper.
  std::atomic<bool> swept_{true};  // there is no sweeper, or none any more
  std::atomic<bool> ending_{false};
  std::atomic<bool> haste_{false};
  std::atomic<uint64_t> steps_{0};  // of the sweeper's, to see that it works
  std::atomic<int> calls_{0};
};

}  // namespace gloo_ext
