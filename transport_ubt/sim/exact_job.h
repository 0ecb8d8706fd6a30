// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport_ubt/sim/ended_call.h"
#include "transport_ubt/sim/event_queue.h"
#include "transport_ubt/sim/flow.h"
#include "transport_ubt/sim/message_graph.h"
#include "transport_ubt/sim/network.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Exact allreduces over reliable connections, in virtual time, for callers
// outside of the simulator, as of a BoundedJob. Only times are simulated. The
// connections are TcpFlows (SimOptions::tcp) or IdealFlows. Those of a host
// take turns, one segment each.
class ExactJob {
 public:
  // `algorithm`: one of MessageGraph::kNames. Throws std::invalid_argument if
  // the ranks cannot be divided in its way.
  ExactJob(const SimOptions& options, const std::string& algorithm);
  ExactJob(const ExactJob&) = delete;
  ExactJob& operator=(const ExactJob&) = delete;

  // The rank enters an op at the time `at` since the job's start, or now if
  // that has passed. Ops have numbers. All ranks enter the same ones, with as
  // many elements.
  void enter(int rank, uint32_t op, Duration at, uint32_t elements);

  // Advances virtual time until a call ends, and describes it in `ended`.
  // Returns false if none can end before another call begins.
  bool next(EndedCall* ended);

  // Since the job's start.
  Duration now() const { return events_.now() - start_; }

 private:
  // What all ops of one size do.
  struct Plan {
    Plan(MessageGraph messages, int ranks);

    MessageGraph graph;
    // The messages behind each gate and, if they wait for none, by sender.
    std::vector<std::vector<uint32_t>> behind;
    std::vector<std::vector<uint32_t>> first;
    std::vector<std::vector<uint32_t>> gatesOf;  // by sender behind the gate
    std::vector<uint32_t> arrivals;              // by gate
    std::vector<uint32_t> incoming;              // messages to each rank
  };
  // One op at all ranks.
  struct Op {
    const Plan* plan = nullptr;
    std::vector<uint32_t> arrivals;  // by gate: arrivals that it lacks
    std::vector<uint32_t> owed;      // by rank: messages to come
    std::vector<bool> entered;       // by rank
    int returned = 0;
  };
  struct Connection {
    std::unique_ptr<Flow> flow;
    bool waits = false;  // it waits for its turn
  };
  // The connections of one host that may send. They take turns, one segment
  // each.
  struct Host {
    std::deque<int> turns;  // receivers of the connections
    bool wakes = false;     // it wakes once its link has room
  };

  const Plan* planOf(uint32_t elements);
  Connection& connection(int from, int to);
  void begin(int rank, uint32_t op, uint32_t elements);
  void leaveAll(uint32_t op, const std::vector<uint32_t>& messages);
  void leave(uint32_t op, uint32_t message);
  void waitForTurn(int from, int to);
  void pump(int from);
  void arrived(uint32_t op, uint32_t message);
  void open(uint32_t op, uint32_t gate);
  void returnIfDone(int rank, uint32_t op);

  const SimOptions options_;
  const std::string algorithm_;
  EventQueue events_;
  Network network_;
  const TimePoint start_;
  std::map<uint32_t, Plan> plans_;  // by elements
  std::map<uint32_t, Op> ops_;
  std::map<std::pair<int, int>, Connection> connections_;  // from, to
  std::vector<Host> hosts_;
  uint64_t underWay_ = 0;        // calls that have not ended
  std::deque<EndedCall> ended_;  // that next() has not told
};

// The time of the slowest rank in each of options.ops ops of
// options.elementsMax elements. Callers begin an op once all have finished the
// one before. Otherwise its first messages would delay the last ones of the op
// before, and ranks would drift apart more with each op. REQUIRES one caller
// per rank.
std::vector<Duration> exactTimes(const SimOptions& options,
                                 const std::string& algorithm);

}  // namespace ubt::sim
