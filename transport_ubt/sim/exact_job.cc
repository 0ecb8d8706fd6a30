// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/exact_job.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt::sim {
namespace {

// The bytes that a host hands over at once.
constexpr uint64_t kSegmentBytes = 16 << 10;
// The part of a segment on the wire, with headers of Ethernet, IP and TCP.
constexpr double kOnWire = 1514.0 / 1448;

// The part of a full queue that belongs to one TCP flow. With this value a
// simulated ring takes as long among bursts as the lab's ring.
constexpr uint64_t kPartsOfQueue = 6;

// The bytes that a sender may have in flight to a peer: twice the capacity of
// the round trip, on a path as slow as the slowest in a hundred. If others fill
// the queues, also a part of the queue.
uint64_t windowBytes(const SimOptions& options) {
  const double roundTrip =
      std::chrono::duration<double>(2 * options.delay +
                                    2 * options.pathDelay * options.pathTail)
          .count();
  return 4 * kSegmentBytes +
         (options.burstEvery > Duration{0} ? options.queueBytes / kPartsOfQueue
                                           : 0) +
         static_cast<uint64_t>(2 * options.bytesPerSecond * roundTrip);
}

}  // namespace

ExactJob::ExactJob(const SimOptions& options, const MessageGraph& graph)
    : options_(options),
      graph_(graph),
      windowBytes_(windowBytes(options)),
      network_(options, &events_, [](int, const Network::Arrived&, bool) {}),
      behind_(graph.gates().size()),
      first_(options.ranks),
      gatesOf_(options.ranks),
      incoming_(options.ranks),
      hosts_(options.ranks) {
  UBT_REQUIRE(options.oneShape && options.contexts == 1 &&
              options.threads == 1);
  const auto& messages = graph.messages();
  for (uint32_t index = 0; index < messages.size(); index++) {
    const MessageGraph::Message& message = messages[index];
    incoming_[message.to]++;
    (message.waitsFor == MessageGraph::kNone ? first_[message.from]
                                             : behind_[message.waitsFor])
        .push_back(index);
  }
  for (uint32_t gate = 0; gate < behind_.size(); gate++) {
    if (!behind_[gate].empty()) {
      gatesOf_[messages[behind_[gate].front()].from].push_back(gate);
    }
  }
}

std::vector<Duration> ExactJob::run() {
  enterAll(0);
  while (events_.step()) {
  }
  return times_;
}

ExactJob::Op* ExactJob::opAt(int op) {
  auto [found, fresh] = ops_.try_emplace(op);
  if (fresh) {
    for (const MessageGraph::Gate& gate : graph_.gates()) {
      found->second.arrivals.push_back(gate.arrivals);
    }
    found->second.owed = incoming_;
    found->second.entered.assign(options_.ranks, kNever);
  }
  return &found->second;
}

// No rank begins an op before all have finished the one before. Otherwise the
// first messages of an op would delay the last ones of the op before, and ranks
// would drift apart more with each op.
void ExactJob::enterAll(int op) {
  for (int rank = 0; op < options_.ops && rank < options_.ranks; rank++) {
    enterSoon(rank, op);
  }
}

void ExactJob::enterSoon(int rank, int op) {
  events_.after(options_.computing(rank, 0, op),
                [this, rank, op] { enter(rank, op); });
}

// Messages that came before the caller wait for it.
void ExactJob::enter(int rank, int op) {
  Op* const entered = opAt(op);
  entered->entered[rank] = events_.now();
  leaveAll(op, first_[rank]);
  for (const uint32_t gate : gatesOf_[rank]) {
    if (entered->arrivals[gate] == 0) {
      leaveAll(op, behind_[gate]);
    }
  }
  returnIfDone(rank, op);
}

void ExactJob::leaveAll(int op, const std::vector<uint32_t>& messages) {
  for (const uint32_t message : messages) {
    leave(op, message);
  }
}

void ExactJob::leave(int op, uint32_t index) {
  const MessageGraph::Message& message = graph_.messages()[index];
  connections_[{message.from, message.to}].queue.push_back(
      {op, index, std::max<uint64_t>(1, message.bytes)});
  waitForTurn(message.from, message.to);
}

bool ExactJob::maySend(const Connection& connection) const {
  return !connection.queue.empty() && connection.underWay < windowBytes_;
}

void ExactJob::waitForTurn(int from, int to) {
  Connection& connection = connections_[{from, to}];
  if (!connection.waits && maySend(connection)) {
    connection.waits = true;
    hosts_[from].turns.push_back(to);
    pump(from);
  }
}

// Sends while the host's link has room.
void ExactJob::pump(int from) {
  Host& host = hosts_[from];
  while (!host.turns.empty()) {
    const TimePoint room = network_.writableAt(from, kSegmentBytes);
    if (room > events_.now()) {
      if (!host.wakes) {
        host.wakes = true;
        events_.at(room, [this, from] {
          hosts_[from].wakes = false;
          pump(from);
        });
      }
      return;
    }
    const int to = host.turns.front();
    host.turns.pop_front();
    Connection& connection = connections_[{from, to}];
    sendSegment(from, to);
    connection.waits = maySend(connection);
    if (connection.waits) {
      host.turns.push_back(to);
    }
  }
}

void ExactJob::sendSegment(int from, int to) {
  Connection& connection = connections_[{from, to}];
  Sending& sending = connection.queue.front();
  const uint64_t bytes = std::min(kSegmentBytes, sending.left);
  sending.left -= bytes;
  const bool last = sending.left == 0;
  const int op = sending.op;
  const uint32_t message = sending.message;
  if (last) {
    connection.queue.pop_front();
  }
  connection.underWay += bytes;
  const auto onWire = static_cast<size_t>(static_cast<double>(bytes) * kOnWire);
  network_.carry(from, to, onWire, [=] {
    if (last) {
      arrived(op, message);
    }
    events_.after(options_.delay, [this, from, to, bytes] {
      connections_[{from, to}].underWay -= bytes;
      waitForTurn(from, to);
    });
  });
}

void ExactJob::arrived(int op, uint32_t index) {
  const MessageGraph::Message& message = graph_.messages()[index];
  Op* const at = opAt(op);
  at->owed[message.to]--;
  if (message.opens != MessageGraph::kNone) {
    open(op, message.opens);
  }
  returnIfDone(message.to, op);
}

void ExactJob::open(int op, uint32_t gate) {
  Op* const at = opAt(op);
  if (--at->arrivals[gate] > 0) {
    return;
  }
  for (const uint32_t message : behind_[gate]) {
    if (at->entered[graph_.messages()[message].from] != kNever) {
      leave(op, message);
    }
  }
  if (graph_.gates()[gate].opens != MessageGraph::kNone) {
    open(op, graph_.gates()[gate].opens);
  }
}

void ExactJob::returnIfDone(int rank, int op) {
  Op* const at = opAt(op);
  if (at->owed[rank] > 0 || at->entered[rank] == kNever) {
    return;
  }
  if (options_.isTimed(rank)) {
    at->slowest = std::max(at->slowest, events_.now() - at->entered[rank]);
  }
  if (++at->returned == options_.ranks) {
    times_.push_back(at->slowest);
    ops_.erase(op);
    enterAll(op + 1);
  }
}

}  // namespace ubt::sim
