// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/bounded_contexts.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "gloo_ext/local_address.h"
#include "transport_ubt/patience.h"
#include "transport_ubt/warning.h"

namespace gloo_ext {
namespace {

using gloo::transport::ubt::Channel;
using gloo::transport::ubt::Engine;
using gloo::transport::ubt::Hello;
using gloo::transport::ubt::Mesh;
using gloo::transport::ubt::Settings;

// How soon a destroyed context is noticed.
constexpr auto kSweepPeriod = std::chrono::milliseconds(50);
// A process that ends, or a context, does not wait longer for peers that may
// still need its results: they may never come.
constexpr auto kLingerMax = std::chrono::seconds(5);

Settings settings() {
  Settings settings = Settings::fromEnvironment();
  if (std::getenv("GLOO_UBT_YIELD") == nullptr) {
    // Beside an allreduce a training's other threads have work to do.
    settings.idle.yield = ubt::Duration{0};
  }
  return settings;
}

}  // namespace

Channel& BoundedContext::channel(const Policy& policy,
                                 std::chrono::milliseconds timeout) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.empty() && !channel_.isOpen()) {
    try {
      meet(policy, gloo::transport::ubt::patience(timeout));
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
  }
  if (!failure_.empty()) {
    throw gloo::IoException(failure_);
  }
  return channel_;
}

void BoundedContext::meet(const Policy& policy,
                          std::chrono::milliseconds timeout) {
  const std::string& secret = channel_.settings().secret;
  Greeting own;
  own.hello = channel_.hello();
  own.address = channel_.address();
  own.proof = Greeting::proofOf(secret, own.hello.publicKey);
  const auto exchangeTimeout =
      policy.handshakeTimeout > std::chrono::milliseconds(0)
          ? std::min(policy.handshakeTimeout, timeout)
          : timeout;
  exchange_ = std::make_unique<GreetingExchange>(mesh_, own, secret);
  const std::vector<Greeting> all =
      exchange_->run({exchangeTimeout}, [](const std::string& warning) {
        gloo::transport::ubt::warn("bounded allreduce: " + warning);
      });
  exchange_.reset();
  std::vector<Hello> hellos;
  std::vector<ubt::SocketAddress> addresses;
  std::vector<std::string> texts;
  for (const Greeting& greeting : all) {
    hellos.push_back(greeting.hello);
    addresses.push_back(greeting.address);
    texts.push_back(greeting.address.str());
  }
  addresses_ = std::make_shared<const std::vector<std::string>>(texts);
  channel_.open(hellos, std::move(addresses), timeout);
  channel_.lingerAtMost(kLingerMax);
}

std::shared_ptr<BoundedContext> BoundedContexts::of(
    const std::shared_ptr<gloo::Context>& context, const Mesh& mesh) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) {
    return nullptr;
  }
  Entry& entry = entries_[context.get()];
  // Another one may have come to lie where a destroyed one lay.
  if (entry.bounded == nullptr || entry.context.lock() != context) {
    if (engine_ == nullptr) {
      engine_ = std::make_shared<Engine>(localAddress(), settings());
    }
    if (entry.bounded != nullptr) {
      gone_.push_back(std::move(entry.bounded));
    }
    entry.context = context;
    entry.bounded = std::make_shared<BoundedContext>(engine_, mesh);
  }
  if (!sweeper_.joinable()) {
    sweeper_ = std::thread([this] { sweep(); });
  }
  return entry.bounded;
}

// They linger one after the other, but not for longer than one might.
void BoundedContexts::end(std::vector<BoundedContextPtr> contexts) {
  const auto deadline = std::chrono::steady_clock::now() + kLingerMax;
  for (BoundedContextPtr& context : contexts) {
    if (context == nullptr) {  // no socket was to be had
      continue;
    }
    context->lingerAtMost(
        std::max(std::chrono::milliseconds(0),
                 std::chrono::duration_cast<std::chrono::milliseconds>(
                     deadline - std::chrono::steady_clock::now())));
    context.reset();
  }
}

void BoundedContexts::sweep() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    closing_.wait_for(lock, kSweepPeriod);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (entry->second.context.expired()) {
        gone_.push_back(std::move(entry->second.bounded));
        entry = entries_.erase(entry);
      } else {
        ++entry;
      }
    }
    std::vector<BoundedContextPtr> gone;
    gone.swap(gone_);
    lock.unlock();
    end(std::move(gone));
    lock.lock();
  }
}

void BoundedContexts::close() {
  std::vector<BoundedContextPtr> contexts;
  std::thread sweeper;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    closing_.notify_one();
    contexts.swap(gone_);
    for (auto& [context, entry] : entries_) {
      contexts.push_back(std::move(entry.bounded));
    }
    entries_.clear();
    sweeper.swap(sweeper_);
  }
  end(std::move(contexts));
  if (sweeper.joinable()) {
    sweeper.join();
  }
}

}  // namespace gloo_ext
