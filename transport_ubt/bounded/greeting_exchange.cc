// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/greeting_exchange.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "transport_ubt/bounded/mesh_slots.h"
#include "transport_ubt/io/quiet_thread.h"

namespace ubt {
namespace {

// Room for another version's greeting: Gloo ends the process if a message is
// longer than its buffer.
constexpr size_t kInboxBytes = 4096;

constexpr char kRemedy[] =
    " has not answered: it has not reached its first large sum, or it lacks "
    "this library, GLOO_ALGO or the same GLOO_UBT_MIN_BYTES and "
    "GLOO_UBT_BOUNDED";

std::string nameOf(int rank) {
  return "rank " + std::to_string(rank);
}

}  // namespace

GreetingExchange::GreetingExchange(Mesh mesh,
                                   const Greeting& own,
                                   std::string secret)
    : mesh_(std::move(mesh)),
      secret_(std::move(secret)),
      own_(own.encode()),
      peers_(mesh_.size),
      all_(mesh_.size),
      answered_(mesh_.size, false) {
  all_[mesh_.rank] = own;
  answered_[mesh_.rank] = true;
  for (int rank = 0; rank < mesh_.size; rank++) {
    if (rank != mesh_.rank) {
      Peer& peer = peers_[rank];
      peer.inbox.resize(kInboxBytes);
      peer.incoming = mesh_.createUnboundBuffer(peer.inbox.data(), kInboxBytes);
      peer.outgoing = mesh_.createUnboundBuffer(own_.data(), own_.size());
    }
  }
}

GreetingExchange::~GreetingExchange() {
  for (Peer& peer : peers_) {
    if (peer.thread.joinable()) {
      peer.incoming->abortWaitRecv();
      peer.outgoing->abortWaitSend();
      peer.thread.join();
    }
  }
}

void GreetingExchange::greet(int rank) {
  Peer& peer = peers_[rank];
  std::string failure;
  try {
    peer.incoming->recv(rank, MeshSlots::kGreeting);
    peer.outgoing->send(rank, MeshSlots::kGreeting);
    if (!peer.incoming->waitRecv(nullptr, Mesh::kForEver)) {
      return;  // aborted
    }
    failure = take(rank);
    if (failure.empty() && !peer.outgoing->waitSend(nullptr, Mesh::kForEver)) {
      return;
    }
  } catch (const std::exception& error) {
    failure = "the connection to " + nameOf(rank) +
              " is closed (has it died?): " + error.what();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  answered_[rank] = true;
  if (failure_.empty()) {
    failure_ = failure;
  }
  changed_.notify_all();
}

std::string GreetingExchange::take(int rank) {
  std::vector<uint8_t>& bytes = peers_[rank].inbox;
  bytes.resize(Greeting::kBytes);
  Greeting greeting;
  if (!Greeting::decode(bytes, &greeting)) {
    return nameOf(rank) +
           " has another version of the library: use one on all ranks";
  }
  std::string fault = greeting.refusal(secret_, rank);
  std::lock_guard<std::mutex> lock(mutex_);
  if (fault.empty()) {
    fault = all_[mesh_.rank].place().whyUnreachable(greeting.place(), rank);
  }
  if (fault.empty()) {
    all_[rank] = greeting;
  }
  return fault;
}

// Throws gloo::IoException if a rank's greeting has failed.
std::string GreetingExchange::silentBy(
    std::chrono::steady_clock::time_point when) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, when, [this] {
    return !failure_.empty() ||
           std::count(answered_.begin(), answered_.end(), false) == 0;
  });
  if (!failure_.empty()) {
    throw gloo::IoException("bounded allreduce: " + failure_);
  }
  std::string names;
  for (int rank = 0; rank < mesh_.size; rank++) {
    if (!answered_[rank]) {
      names += (names.empty() ? "" : ", ") + nameOf(rank);
    }
  }
  return names;
}

// Begins the exchange, if it has not begun. Returns the time.
std::chrono::steady_clock::time_point GreetingExchange::begin() {
  const auto now = std::chrono::steady_clock::now();
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(begun_, true)) {
    return now;
  }
  start_ = now;
  try {
    for (int rank = 0; rank < mesh_.size; rank++) {
      if (rank != mesh_.rank) {
        peers_[rank].thread = quietThread([this, rank] { greet(rank); });
      }
    }
  } catch (const std::system_error& error) {
    failure_ =
        "no thread can be started to greet the other ranks (see ulimit "
        "-u): " +
        std::string(error.what());
  }
  return now;
}

// True for the first call only.
bool GreetingExchange::mayWarn() {
  std::lock_guard<std::mutex> lock(mutex_);
  return !std::exchange(warned_, true);
}

std::vector<Greeting> GreetingExchange::run(const Waits& waits,
                                            const Warn& warn) {
  const auto end = begin() + waits.timeout;
  const auto warning = start_ + waits.untilWarning;
  std::string silent;
  if (warning < end) {
    silent = silentBy(warning);
    if (!silent.empty() && mayWarn()) {
      warn(silent + kRemedy);
    }
  }
  silent = silentBy(end);
  if (!silent.empty()) {
    throw TimedOut("bounded allreduce: " + silent + kRemedy + " (waited " +
                   std::to_string(waits.timeout.count()) + " ms)");
  }
  std::lock_guard<std::mutex> lock(mutex_);
  return all_;
}

}  // namespace ubt
