// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/tcp_flow.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <vector>

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kBytesPerSecond = 6.25e7;  // the lab's links
constexpr double kPayload = 1448.0 / 1514;

SimOptions lab(int ranks) {
  SimOptions options;
  options.ranks = ranks;
  options.bytesPerSecond = kBytesPerSecond;
  options.queueBytes = 512 << 10;
  return options;
}

// Flows whose hosts send whatever a window and the link let out.
class Flows {
 public:
  explicit Flows(const SimOptions& options)
      : options_(options),
        network_(options_, &events_, [](int, auto&, bool) {}),
        start_(events_.now()) {}

  TcpFlow& add(int from, int to) {
    const size_t index = flows_.size();
    flows_.push_back(nullptr);
    flows_[index] = std::make_unique<TcpFlow>(
        options_, &events_, &network_, from, to, [this, index, from] {
          pump(index, from);
        });
    return *flows_[index];
  }
  void runUntil(Duration time) {
    bool over = false;
    events_.at(start_ + time, [&over] { over = true; });
    while (!over && events_.step()) {
    }
  }
  Duration now() const { return events_.now() - start_; }

 private:
  void pump(size_t index, int from) {
    constexpr uint64_t kAhead = 16 << 10;
    TcpFlow& flow = *flows_[index];
    while (flow.maySend()) {
      const TimePoint room = network_.writableAt(from, kAhead);
      if (room > events_.now()) {
        if (wakes_.insert(index).second) {
          events_.at(room, [this, index, from] {
            wakes_.erase(index);
            pump(index, from);
          });
        }
        return;
      }
      flow.send();
    }
  }

  const SimOptions options_;
  EventQueue events_;
  Network network_;
  const TimePoint start_;
  std::vector<std::unique_ptr<TcpFlow>> flows_;
  std::set<size_t> wakes_;  // flows that wait for their link
};

TEST(TcpFlow, FillsALink) {
  Flows flows(lab(2));
  Duration end{0};
  constexpr uint64_t kBytes = 50 << 20;
  flows.add(0, 1).write(kBytes, [&] { end = flows.now(); });
  flows.runUntil(seconds(10));
  const double least = kBytes / kPayload / kBytesPerSecond;
  const double took = std::chrono::duration<double>(end).count();
  EXPECT_GT(took, least);
  EXPECT_LT(took, 1.05 * least);
}

// The port's queue is finite, so they lose segments.
TEST(TcpFlow, FlowsShareAPort) {
  Flows flows(lab(5));
  std::vector<uint64_t> arrived(4);
  std::vector<TcpFlow*> all;
  constexpr uint64_t kPiece = 64 << 10;
  for (int from = 0; from < 4; from++) {
    all.push_back(&flows.add(from, 4));
    for (int piece = 0; piece < 5000; piece++) {
      all[from]->write(kPiece, [&arrived, from] { arrived[from] += kPiece; });
    }
  }
  flows.runUntil(seconds(5));
  uint64_t sum = 0;
  uint64_t losses = 0;
  for (int from = 0; from < 4; from++) {
    sum += arrived[from];
    losses += all[from]->retransmissions();
    // A fair part is 1/4, but segments get lost as a whole, often of one flow.
    EXPECT_GT(static_cast<double>(arrived[from]),
              0.05 * 5 * kBytesPerSecond * kPayload);
  }
  EXPECT_GT(losses, 0U);
  EXPECT_GT(static_cast<double>(sum), 0.9 * 5 * kBytesPerSecond * kPayload);
}

TEST(TcpFlow, BytesArriveInOrderOverALossyPath) {
  SimOptions options = lab(2);
  options.loss = 0.02;
  Flows flows(options);
  int next = 0;
  TcpFlow& flow = flows.add(0, 1);
  for (int i = 0; i < 1000; i++) {
    flow.write(20000, [&next, i] { EXPECT_EQ(next++, i); });
  }
  flows.runUntil(seconds(60));
  EXPECT_EQ(1000, next);
  EXPECT_GT(flow.retransmissions(), 0U);
}

// The end of a message that was written 1 ms after the begin of an outage.
struct Late {
  Duration end{0};
  uint64_t timeouts = 0;
};
Late afterAnOutageOf(Duration lasting) {
  SimOptions options = lab(2);
  options.loss = 1;
  options.lossAt = milliseconds(100);
  options.lossFor = lasting;
  Flows flows(options);
  TcpFlow& flow = flows.add(0, 1);
  Late late;
  flow.write(100000, [] {});
  flows.runUntil(milliseconds(101));
  flow.write(3000, [&] { late.end = flows.now(); });
  flows.runUntil(seconds(5));
  late.timeouts = flow.timeouts();
  return late;
}

// A probe comes after two round trips, long before the timeout.
TEST(TcpFlow, AProbeFindsALostTail) {
  const Late late = afterAnOutageOf(milliseconds(5));
  EXPECT_GT(late.end, milliseconds(105));
  EXPECT_LT(late.end, milliseconds(130));
  EXPECT_EQ(0U, late.timeouts);
}

TEST(TcpFlow, ATimeoutTakesAtLeast200Ms) {
  const Late late = afterAnOutageOf(milliseconds(100));
  EXPECT_GT(late.end, milliseconds(301));
  EXPECT_LT(late.end, milliseconds(350));
  EXPECT_EQ(1U, late.timeouts);
}

}  // namespace
}  // namespace ubt::sim
