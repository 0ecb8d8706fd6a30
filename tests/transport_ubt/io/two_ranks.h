// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/transport_ubt/io/loopback.h"
#include "transport_ubt/io/driver.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {

// Two ranks of one process, each with a driver of its own. Every call is of
// float32, exact, and in the caller's thread. Sessions are closed only by
// close().
class TwoRanks {
 public:
  static constexpr int kRanks = 2;
  using Sessions = std::array<Session*, kRanks>;  // of one context

  // `reduction`: rank 0's.
  explicit TwoRanks(
      const SocketAddress& at = loopback(),
      const Reduction& reduction = reductionKernels(),
      Duration overdueMax = std::chrono::seconds(1),
      int receiveBufferBytes = 16 << 20,
      uint64_t windowBytesMax = Endpoint::Limits().windowBytesMax) {
    for (int rank = 0; rank < kRanks; rank++) {
      Driver::Options options;
      options.limits.windowBytesMax = windowBytesMax;
      options.socket.address = at;
      options.overdueMax = overdueMax;
      options.socket.receiveBufferBytes = receiveBufferBytes;
      options.socket.warn = [this](const std::string& text) {
        const std::lock_guard<std::mutex> lock(warning_);
        warnings_.push_back(text);
      };
      drivers_[rank] = std::make_unique<Driver>(
          options, rank == 0 ? reduction : reductionKernels());
      addresses_.push_back(drivers_[rank]->socket().address());
    }
  }

  Driver& driver(int rank) { return *drivers_[rank]; }
  // Of both ranks. REQUIRES that no call is running.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The addresses that each rank sends to.
  std::vector<SocketAddress>& addresses() { return addresses_; }

  // A context of both ranks. REQUIRES an epoch that is not open.
  Sessions open(uint64_t epoch, Duration timeout = std::chrono::seconds(20)) {
    Sessions sessions{};
    for (int rank = 0; rank < kRanks; rank++) {
      Session::Setup setup;
      setup.rank = rank;
      setup.size = kRanks;
      setup.epoch = epoch;
      setup.slotBytesMax = 1024;
      setup.keys.resize(kRanks);
      setup.windowBytes.assign(kRanks, 1 << 20);
      setup.options.warmupOps = UINT32_MAX;  // exact: sums need both ranks
      setup.options.timeout = timeout;
      sessions[rank] = drivers_[rank]->open(setup, addresses_);
    }
    return sessions;
  }
  void close(const Sessions& sessions) {
    for (int rank = 0; rank < kRanks; rank++) {
      drivers_[rank]->close(sessions[rank]);
    }
  }

  // One sum of a rank, in place. Returns the error, or "".
  std::string allreduce(int rank,
                        const Sessions& sessions,
                        uint32_t tag,
                        std::vector<float>* bucket,
                        Duration timeout = Duration{0}) {
    OpShape shape;
    shape.elements = bucket->size();
    shape.fingerprint = sessions[rank]->options().fingerprint();
    OpReport report;
    Driver::Failure failure;
    const bool yielded =
        drivers_[rank]->allreduce(sessions[rank],
                                  tag,
                                  shape,
                                  reinterpret_cast<std::byte*>(bucket->data()),
                                  timeout,
                                  &report,
                                  &failure);
    return yielded ? "" : failure.what;
  }

 private:
  std::mutex warning_;
  std::vector<std::string> warnings_;
  std::array<std::unique_ptr<Driver>, kRanks> drivers_;
  std::vector<SocketAddress> addresses_;
};

}  // namespace ubt
