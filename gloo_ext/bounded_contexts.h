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
  BoundedContext(std::shared_ptr<ubt::Engine> engine, ubt::Mesh mesh)
      : mesh_(mesh), channel_(std::move(engine), std::move(mesh)) {}

  // Returns the path once all ranks have found each other. All callers wait for
  // that, each for the shorter of its two timeouts; Gloo's kNoTimeout means no
  // limit. Throws gloo::IoException, which names the ranks that are missing or
  // do not match. If only the call's timeout has passed, a later call continues
  // to wait. After any other failure every later call throws, too.
  ubt::Channel& channel(const Policy& policy,
                        std::chrono::milliseconds contextTimeout,
                        std::chrono::milliseconds callTimeout);

  // Addresses of all ranks, once there is a channel.
  const std::shared_ptr<const std::vector<std::string>>& addresses() const {
    return addresses_;
  }

  // As Channel's.
  ubt::Lingering lingering() const { return channel_.lingering(); }
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
  void open(const std::vector<ubt::Greeting>& all,
            std::chrono::milliseconds timeout,
            std::chrono::milliseconds wait);

  const ubt::Mesh mesh_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool opening_ = false;  // true while a caller opens the channel
  std::atomic<bool> open_{false};
  std::string failure_;
  std::shared_ptr<const std::vector<std::string>> addresses_;
  // Under way or failed.
  std::shared_ptr<ubt::GreetingExchange> exchange_;
  ubt::Channel channel_;
};

// All bounded contexts of this process, each from its first eligible call until
// its Gloo context is destroyed. Gloo tells nobody of that, so a thread, the
// sweeper, watches for it. The sweeper also lingers for destroyed contexts.
class BoundedContexts {
 public:
  // The sweeper calls `atEnd` when the process ends, after all contexts have
  // ended.
  explicit BoundedContexts(std::function<void()> atEnd = nullptr);

  // Exists during an allreduce, in the thread that makes the call.
  class Call {
   public:
    explicit Call(BoundedContexts* contexts);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    BoundedContexts* const contexts_;
  };

  // `mesh` is the context's. Returns null after close(). Throws gloo::Exception
  // if no socket is available.
  std::shared_ptr<BoundedContext> of(
      const std::shared_ptr<gloo::Context>& context, const ubt::Mesh& mesh);

  // Call when the process ends. Peers may still need data from this process, so
  // this waits for them. `clean` means that the process has finished its work;
  // without it the wait is at most kUncleanExitMax. No call is bounded
  // afterwards.
  void close(bool clean = true);

  // As close(), if the process ends by _exit() while other threads run on. If
  // one of them is in a call, the end is not clean. Async-signal-safe: it waits
  // while the sweeper works, but not if the sweeper is stuck, for example at a
  // lock that the caller holds. Does nothing if a signal handler calls it
  // during an allreduce of its thread.
  void closeBeforeExit(bool clean) noexcept;

  static constexpr std::chrono::seconds kUncleanExitMax{5};

 private:
  struct Entry {
    std::weak_ptr<gloo::Context> context;
    std::shared_ptr<BoundedContext> bounded;
  };
  // A bounded context whose Gloo context is gone.
  struct Gone {
    std::shared_ptr<BoundedContext> bounded;
    ubt::Lingering lingering;
  };
  using BoundedContextPtr = std::shared_ptr<BoundedContext>;

  void keepWhilePeersNeed(const BoundedContextPtr& bounded);
  void endAll();
  std::vector<BoundedContextPtr> takeFinished();
  void sweep();
  bool step();
  void awaitWork();

  const std::function<void()> atEnd_;
  std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<ubt::Engine> engine_;
  std::map<const gloo::Context*, Entry> entries_;
  std::list<Gone> gone_;
  std::thread sweeper_;
  sem_t wake_;  // posted for the sweeper
  // Shared by the thread that ends the process and the sweeper.
  std::atomic<bool> swept_{true};  // the sweeper has ended or never began
  std::atomic<bool> ending_{false};
  std::atomic<bool> unclean_{false};
  std::atomic<uint64_t> steps_{0};  // of the sweeper; shows that it works
  std::atomic<int> calls_{0};
};

}  // namespace gloo_ext
