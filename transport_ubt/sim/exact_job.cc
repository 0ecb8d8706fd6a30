// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/exact_job.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/sim/ideal_flow.h"
#include "transport_ubt/sim/tcp_flow.h"

namespace ubt::sim {
namespace {

// A host's link takes a segment if fewer bytes than this wait for it.
constexpr uint64_t kAheadBytes = 16 << 10;

// A job that lasts longer hangs: no segment gets through.
constexpr Duration kLongest = std::chrono::hours(24);

}  // namespace

ExactJob::Plan::Plan(MessageGraph messages, int ranks)
    : graph(std::move(messages)),
      behind(graph.gates().size()),
      first(ranks),
      gatesOf(ranks),
      incoming(ranks) {
  for (uint32_t index = 0; index < graph.messages().size(); index++) {
    const MessageGraph::Message& message = graph.messages()[index];
    incoming[message.to]++;
    (message.waitsFor == MessageGraph::kNone ? first[message.from]
                                             : behind[message.waitsFor])
        .push_back(index);
  }
  for (uint32_t gate = 0; gate < behind.size(); gate++) {
    arrivals.push_back(graph.gates()[gate].arrivals);
    if (!behind[gate].empty()) {
      gatesOf[graph.messages()[behind[gate].front()].from].push_back(gate);
    }
  }
}

ExactJob::ExactJob(const SimOptions& options, const std::string& algorithm)
    : options_(options),
      algorithm_(algorithm),
      network_(options_, &events_, [](int, const Network::Arrived&, bool) {}),
      start_(events_.now()),
      hosts_(options.ranks) {
  MessageGraph::of(algorithm, options.ranks, options.ranks, options.groups);
}

const ExactJob::Plan* ExactJob::planOf(uint32_t elements) {
  const auto found = plans_.find(elements);
  if (found != plans_.end()) {
    return &found->second;
  }
  return &plans_
              .emplace(elements,
                       Plan(MessageGraph::of(algorithm_,
                                             options_.ranks,
                                             sizeof(float) * uint64_t{elements},
                                             options_.groups),
                            options_.ranks))
              .first->second;
}

void ExactJob::enter(int rank, uint32_t op, Duration at, uint32_t elements) {
  UBT_REQUIRE(rank >= 0 && rank < options_.ranks);
  underWay_++;
  events_.at(start_ + at,
             [this, rank, op, elements] { begin(rank, op, elements); });
}

// Messages that came before the caller wait for it.
void ExactJob::begin(int rank, uint32_t number, uint32_t elements) {
  auto [found, fresh] = ops_.try_emplace(number);
  Op& op = found->second;
  if (fresh) {
    op.plan = planOf(elements);
    op.arrivals = op.plan->arrivals;
    op.owed = op.plan->incoming;
    op.entered.resize(options_.ranks);
  }
  op.entered[rank] = true;
  leaveAll(number, op.plan->first[rank]);
  for (const uint32_t gate : op.plan->gatesOf[rank]) {
    if (op.arrivals[gate] == 0) {
      leaveAll(number, op.plan->behind[gate]);
    }
  }
  returnIfDone(rank, number);
}

bool ExactJob::next(EndedCall* ended) {
  while (ended_.empty() && underWay_ > 0 && now() < kLongest &&
         events_.step()) {
  }
  if (ended_.empty()) {
    return false;
  }
  *ended = std::move(ended_.front());
  ended_.pop_front();
  return true;
}

void ExactJob::leaveAll(uint32_t op, const std::vector<uint32_t>& messages) {
  for (const uint32_t message : messages) {
    leave(op, message);
  }
}

void ExactJob::leave(uint32_t op, uint32_t index) {
  const MessageGraph::Message& message = ops_[op].plan->graph.messages()[index];
  connection(message.from, message.to)
      .flow->write(std::max<uint64_t>(1, message.bytes),
                   [this, op, index] { arrived(op, index); });
}

ExactJob::Connection& ExactJob::connection(int from, int to) {
  Connection& found = connections_[{from, to}];
  if (found.flow == nullptr) {
    const auto sendable = [this, from, to] { waitForTurn(from, to); };
    if (options_.tcp) {
      found.flow = std::make_unique<TcpFlow>(
          options_, &events_, &network_, from, to, sendable);
    } else {
      found.flow = std::make_unique<IdealFlow>(
          options_, &events_, &network_, from, to, sendable);
    }
  }
  return found;
}

void ExactJob::waitForTurn(int from, int to) {
  Connection& waiting = connection(from, to);
  if (!waiting.waits && waiting.flow->maySend()) {
    waiting.waits = true;
    hosts_[from].turns.push_back(to);
    pump(from);
  }
}

// Sends while the host's link has room.
void ExactJob::pump(int from) {
  Host& host = hosts_[from];
  while (!host.turns.empty()) {
    const TimePoint room = network_.writableAt(from, kAheadBytes);
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
    Connection& next = connection(from, to);
    if (next.flow->maySend()) {  // a loss may have closed its window
      next.flow->send();
    }
    next.waits = next.flow->maySend();
    if (next.waits) {
      host.turns.push_back(to);
    }
  }
}

void ExactJob::arrived(uint32_t number, uint32_t index) {
  Op& op = ops_[number];
  const MessageGraph::Message& message = op.plan->graph.messages()[index];
  op.owed[message.to]--;
  if (message.opens != MessageGraph::kNone) {
    open(number, message.opens);
  }
  returnIfDone(message.to, number);
}

void ExactJob::open(uint32_t number, uint32_t gate) {
  Op& op = ops_[number];
  if (--op.arrivals[gate] > 0) {
    return;
  }
  const MessageGraph& graph = op.plan->graph;
  for (const uint32_t message : op.plan->behind[gate]) {
    if (op.entered[graph.messages()[message].from]) {
      leave(number, message);
    }
  }
  if (graph.gates()[gate].opens != MessageGraph::kNone) {
    open(number, graph.gates()[gate].opens);
  }
}

void ExactJob::returnIfDone(int rank, uint32_t number) {
  Op& op = ops_[number];
  if (op.owed[rank] > 0 || !op.entered[rank]) {
    return;
  }
  underWay_--;
  EndedCall ended;
  ended.rank = rank;
  ended.op = number;
  ended.at = now();
  ended_.push_back(std::move(ended));
  if (++op.returned == options_.ranks) {
    ops_.erase(number);
  }
}

std::vector<Duration> exactTimes(const SimOptions& options,
                                 const std::string& algorithm) {
  UBT_REQUIRE(options.contexts == 1 && options.threads == 1);
  ExactJob job(options, algorithm);
  std::vector<Duration> times;
  for (int op = 0; op < options.ops; op++) {
    std::vector<Duration> entered;
    for (int rank = 0; rank < options.ranks; rank++) {
      entered.push_back(job.now() + options.computing(rank, 0, op));
      job.enter(rank, op, entered[rank], options.elementsMax);
    }
    Duration slowest{0};
    EndedCall ended;
    while (job.next(&ended)) {
      if (options.isTimed(ended.rank)) {
        slowest = std::max(slowest, ended.at - entered[ended.rank]);
      }
    }
    times.push_back(slowest);
  }
  return times;
}

}  // namespace ubt::sim
