// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/bounded_contexts.h"

#include <gloo/common/error.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "gloo_ext/local_address.h"
#include "transport_ubt/bounded/mesh_deadline.h"
#include "transport_ubt/io/quiet_thread.h"
#include "transport_ubt/io/warning.h"

namespace gloo_ext {
namespace {

using ubt::allowedWait;
using ubt::Channel;
using ubt::Engine;
using ubt::Greeting;
using ubt::GreetingExchange;
using ubt::Hello;
using ubt::Lingering;
using ubt::Mesh;
using ubt::Settings;

// How often the sweeper looks for destroyed contexts, and, when the process
// ends, whether peers still need any.
constexpr std::chrono::milliseconds kSweepPeriod{50};
constexpr std::chrono::milliseconds kEndPeriod{1};
// A sweeper that takes no step for this long is stuck: the process then ends.
constexpr std::chrono::milliseconds kStuckMax{2000};

// As the process ends, this many steps in a row may lack memory (1 s).
constexpr int kFailuresMax = 1000;

// Calls of this thread. A signal handler may end the process during one.
thread_local int callsOfThisThread = 0;

timespec timeOf(std::chrono::nanoseconds duration) {
  return {static_cast<time_t>(duration.count() / 1000000000),
          static_cast<long>(duration.count() % 1000000000)};
}

Settings settings() {
  Settings settings = Settings::fromEnvironment();
  if (!settings.has("yield")) {
    // Other threads of a training have work to do during an allreduce.
    settings.idle.yield = ubt::Duration{0};
  }
  return settings;
}

}  // namespace

Channel& BoundedContext::channel(const Policy& policy,
                                 std::chrono::milliseconds contextTimeout,
                                 std::chrono::milliseconds callTimeout) {
  contextTimeout = allowedWait(contextTimeout);
  const auto limit = policy.handshakeTimeout > std::chrono::milliseconds(0)
                         ? std::min(policy.handshakeTimeout, contextTimeout)
                         : contextTimeout;
  const auto wait = std::min(limit, allowedWait(callTimeout));
  Lock lock(mutex_);
  if (!open_ && failure_.empty()) {
    try {
      meet(&lock, wait, contextTimeout);
    } catch (const GreetingExchange::TimedOut& error) {
      if (wait < limit) {
        throw;
      }
      failure_ = error.what();
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
  }
  if (!failure_.empty()) {
    throw gloo::IoException(failure_);
  }
  return channel_;
}

// Returns and throws with the lock held. Releases it while waiting.
void BoundedContext::meet(Lock* lock,
                          std::chrono::milliseconds wait,
                          std::chrono::milliseconds contextTimeout) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  if (exchange_ == nullptr) {
    begin();
  }
  struct Unlocked {
    explicit Unlocked(Lock* lock) : lock_(lock) { lock->unlock(); }
    ~Unlocked() { lock_->lock(); }
    Lock* const lock_;
  };
  std::vector<Greeting> all;
  {
    const auto exchange = exchange_;
    const Unlocked unlocked(lock);
    all = exchange->run({wait}, [](const std::string& warning) {
      ubt::warnOnce("bounded allreduce: " + warning);
    });
  }
  if (!opened_.wait_until(*lock, deadline, [this] { return !opening_; })) {
    throw GreetingExchange::TimedOut(
        "bounded allreduce: ranks have not agreed on its terms (waited " +
        std::to_string(wait.count()) + " ms)");
  }
  if (open_ || !failure_.empty()) {
    return;  // opened by another caller
  }
  struct Opening {
    explicit Opening(BoundedContext* context) : context_(context) {
      context->opening_ = true;
    }
    ~Opening() {
      context_->opening_ = false;
      context_->opened_.notify_all();
    }
    BoundedContext* const context_;
  } const opening(this);
  {
    const Unlocked unlocked(lock);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    open(all, contextTimeout, std::max(left, std::chrono::milliseconds(1)));
  }
  exchange_.reset();
  open_ = true;
}

void BoundedContext::begin() {
  const std::string& secret = channel_.settings().secret;
  Greeting own;
  own.hello = channel_.hello();
  own.address = channel_.address();
  own.prove(secret, mesh_.rank);
  exchange_ = std::make_shared<GreetingExchange>(mesh_, own, secret);
}

void BoundedContext::open(const std::vector<Greeting>& all,
                          std::chrono::milliseconds timeout,
                          std::chrono::milliseconds wait) {
  std::vector<Hello> hellos;
  std::vector<ubt::SocketAddress> addresses;
  std::vector<std::string> texts;
  for (const Greeting& greeting : all) {
    hellos.push_back(greeting.hello);
    addresses.push_back(greeting.address);
    texts.push_back(greeting.address.str());
  }
  addresses_ = std::make_shared<const std::vector<std::string>>(texts);
  channel_.open(hellos, std::move(addresses), timeout, wait);
}

BoundedContexts::BoundedContexts(std::function<void()> atEnd)
    : atEnd_(std::move(atEnd)) {
  sem_init(&wake_, 0, 0);
}

BoundedContexts::Call::Call(BoundedContexts* contexts) : contexts_(contexts) {
  contexts_->calls_++;
  callsOfThisThread++;
}

BoundedContexts::Call::~Call() {
  callsOfThisThread--;
  contexts_->calls_--;
}

std::shared_ptr<BoundedContext> BoundedContexts::of(
    const std::shared_ptr<gloo::Context>& context, const Mesh& mesh) {
  std::vector<BoundedContextPtr> over;  // destroyed after the lock is released
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) {
    return nullptr;
  }
  const auto known = entries_.find(context.get());
  // A new context may have the address of a destroyed one.
  if (known != entries_.end() && known->second.context.lock() == context) {
    return known->second.bounded;
  }
  // Makes room at once, for programs that create and destroy many contexts
  // faster than the sweeper runs.
  over = takeFinished();
  if (engine_ == nullptr) {
    engine_ = std::make_shared<Engine>(localAddress(), settings());
  }
  auto bounded = std::make_shared<BoundedContext>(engine_, mesh);
  entries_[context.get()] = {context, bounded};
  if (!sweeper_.joinable()) {
    swept_ = false;
    sweeper_ = ubt::quietThread([this] { sweep(); });
  }
  return bounded;
}

// Puts the context among the gone ones. The caller erases its entry afterwards:
// if this throws, the entry remains. REQUIRES the lock.
void BoundedContexts::keepWhilePeersNeed(const BoundedContextPtr& bounded) {
  gone_.push_back({bounded, bounded->lingering()});
}

// Ends all, also those whose Gloo context still exists. REQUIRES the lock.
void BoundedContexts::endAll() {
  closed_ = true;
  while (!entries_.empty()) {
    keepWhilePeersNeed(entries_.begin()->second.bounded);
    entries_.erase(entries_.begin());
  }
  for (Gone& gone : gone_) {
    if (unclean_) {
      gone.lingering.atMost(kUncleanExitMax);
    }
  }
}

// Removes and returns the gone contexts that no peer needs any longer. REQUIRES
// the lock.
std::vector<BoundedContexts::BoundedContextPtr>
BoundedContexts::takeFinished() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.context.expired()) {
      keepWhilePeersNeed(entry->second.bounded);
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
  std::vector<BoundedContextPtr> over;
  over.reserve(gone_.size());
  for (auto gone = gone_.begin(); gone != gone_.end();) {
    const std::vector<int> needing = gone->bounded->neededBy();
    const auto now = Lingering::Clock::now();
    const std::string remark = gone->lingering.remark(needing, now);
    if (!remark.empty()) {
      ubt::warnOnce(remark);
    }
    if (gone->lingering.goesOn(needing, now)) {
      ++gone;
    } else {
      gone->bounded->doNotLinger();
      over.push_back(std::move(gone->bounded));
      gone = gone_.erase(gone);
    }
  }
  return over;
}

// Waits until there may be work.
void BoundedContexts::awaitWork() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto period = ending_ ? kEndPeriod : kSweepPeriod;
  const timespec end = timeOf(std::chrono::seconds(now.tv_sec) +
                              std::chrono::nanoseconds(now.tv_nsec) + period);
  (void)sem_clockwait(&wake_, CLOCK_MONOTONIC, &end);
}

// Destroys the contexts that are over. Returns true once the process ends and
// no context is left.
bool BoundedContexts::step() {
  std::vector<BoundedContextPtr> over;
  bool last = ending_;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (last) {
      endAll();
    }
    over = takeFinished();
    last = last && gone_.empty();
  }
  for (BoundedContextPtr& bounded : over) {
    bounded.reset();
    steps_++;
  }
  return last;
}

void BoundedContexts::sweep() {
  bool last = false;
  int failures = 0;  // in a row, while the process ends
  while (!last) {
    awaitWork();
    steps_++;
    try {
      last = step();
      failures = 0;
    } catch (const std::exception&) {
      // Out of memory. The process goes on; the next step may succeed.
      failures += ending_ ? 1 : 0;
      last = failures > kFailuresMax;
    }
  }
  try {
    if (atEnd_ != nullptr) {
      atEnd_();
    }
  } catch (const std::exception&) {  // the report then lacks its end
  }
  swept_ = true;
}

void BoundedContexts::close(bool clean) {
  std::thread sweeper;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    sweeper.swap(sweeper_);
  }
  unclean_ = !clean;
  ending_ = true;
  sem_post(&wake_);
  if (sweeper.joinable()) {
    sweeper.join();
  }
}

void BoundedContexts::closeBeforeExit(bool clean) noexcept {
  if (swept_ || callsOfThisThread > 0) {
    return;
  }
  unclean_ = !clean || calls_ > 0;
  ending_ = true;
  sem_post(&wake_);
  const timespec period = timeOf(kEndPeriod);
  uint64_t seen = steps_;
  for (int stuck = 0; !swept_ && stuck < kStuckMax / kEndPeriod; stuck++) {
    nanosleep(&period, nullptr);
    const uint64_t steps = steps_;
    stuck = steps == seen ? stuck : 0;
    seen = steps;
  }
}

}  // namespace gloo_ext
