// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/greeting_exchange.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace gloo_ext {
namespace {

using gloo::transport::UnboundBuffer;
using gloo::transport::ubt::Mesh;

// No collective's slot: those have a small prefix in the top byte.
constexpr uint64_t kSlot = 0xfc00000000000000;
// A wait that times out would close every connection; these never do.
constexpr auto kForEver = std::chrono::hours(24 * 365);
constexpr auto kWarnAfter = std::chrono::seconds(10);

// The greetings on their way, and a thread that takes them in.
class Exchange {
 public:
  Exchange(const Mesh& mesh, const Greeting& own)
      : mesh_(mesh), own_(own.encode()), inboxes_(mesh.size) {
    for (int rank = 0; rank < mesh.size; rank++) {
      inboxes_[rank].resize(Greeting::kBytes);
      incoming_.push_back(rank == mesh.rank ? nullptr : receiveFrom(rank));
      outgoing_.push_back(rank == mesh.rank ? nullptr : sendTo(rank));
    }
    came_.assign(mesh.size, false);
    came_[mesh.rank] = true;
    thread_ = std::thread([this] { takeIn(); });
  }

  ~Exchange() {
    for (const auto& buffer : incoming_) {
      if (buffer != nullptr) {
        buffer->abortWaitRecv();
      }
    }
    for (const auto& buffer : outgoing_) {
      if (buffer != nullptr) {
        buffer->abortWaitSend();
      }
    }
    thread_.join();
  }

  // Whether it was over by then. Throws what went wrong with a rank.
  bool overBy(std::chrono::steady_clock::time_point when) {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool over = changed_.wait_until(lock, when, [this] { return over_; });
    if (!failure_.empty()) {
      throw gloo::IoException(failure_);
    }
    return over;
  }

  // "rank 1, rank 3"
  std::string missing() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string names;
    for (size_t rank = 0; rank < came_.size(); rank++) {
      if (!came_[rank]) {
        names += (names.empty() ? "rank " : ", rank ") + std::to_string(rank);
      }
    }
    return names;
  }

  const std::vector<uint8_t>& inbox(int rank) const { return inboxes_[rank]; }

 private:
  std::unique_ptr<UnboundBuffer> receiveFrom(int rank) {
    auto buffer =
        mesh_.createUnboundBuffer(inboxes_[rank].data(), Greeting::kBytes);
    buffer->recv(rank, kSlot);
    return buffer;
  }

  std::unique_ptr<UnboundBuffer> sendTo(int rank) {
    auto buffer = mesh_.createUnboundBuffer(own_.data(), Greeting::kBytes);
    buffer->send(rank, kSlot);
    return buffer;
  }

  void takeIn() {
    std::string failure;
    for (int rank = 0; rank < mesh_.size && failure.empty(); rank++) {
      if (rank == mesh_.rank) {
        continue;
      }
      try {
        if (!incoming_[rank]->waitRecv(nullptr, kForEver) ||
            !outgoing_[rank]->waitSend(nullptr, kForEver)) {
          return;  // aborted
        }
        std::lock_guard<std::mutex> lock(mutex_);
        came_[rank] = true;
      } catch (const std::exception& error) {
        failure = "the connection to rank " + std::to_string(rank) +
                  " is closed (has it died?): " + error.what();
      }
    }
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = failure;
    over_ = true;
    changed_.notify_one();
  }

  const Mesh& mesh_;
  std::vector<uint8_t> own_;
  std::vector<std::vector<uint8_t>> inboxes_;
  std::vector<std::unique_ptr<UnboundBuffer>> incoming_;
  std::vector<std::unique_ptr<UnboundBuffer>> outgoing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> came_;  // by rank
  bool over_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace

std::vector<Greeting> exchangeGreetings(
    const Mesh& mesh,
    const Greeting& own,
    const std::string& secret,
    std::chrono::milliseconds timeout,
    const std::function<void(const std::string&)>& warn) {
  const auto start = std::chrono::steady_clock::now();
  const char* const remedy =
      " has not answered: start every rank with the same library and GLOO_ALGO";
  Exchange exchange(mesh, own);
  if (!exchange.overBy(
          start + std::min<std::chrono::milliseconds>(timeout, kWarnAfter)) &&
      timeout > kWarnAfter) {
    warn(exchange.missing() + remedy);
  }
  if (!exchange.overBy(start + timeout)) {
    throw gloo::IoException("bounded allreduce: " + exchange.missing() +
                            remedy + " (waited " +
                            std::to_string(timeout.count()) + " ms)");
  }
  std::vector<Greeting> all(mesh.size);
  for (int rank = 0; rank < mesh.size; rank++) {
    const std::string who = "bounded allreduce: rank " + std::to_string(rank);
    if (rank == mesh.rank) {
      all[rank] = own;
    } else if (!Greeting::decode(exchange.inbox(rank), &all[rank])) {
      throw gloo::IoException(
          who + " has another version of the library: use one on all ranks");
    } else if (all[rank].proof !=
               Greeting::proofOf(secret, all[rank].hello.publicKey)) {
      throw gloo::IoException(who +
                              " has another secret (GLOO_UBT_SECRET): is it of "
                              "another job?");
    }
  }
  return all;
}

}  // namespace gloo_ext
