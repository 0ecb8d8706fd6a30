// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "transport_ubt/sim/event_queue.h"
#include "transport_ubt/sim/message_graph.h"
#include "transport_ubt/sim/network.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// A job of exact allreduces over reliable connections, on the network of a
// World. Its connections are better than TCP's: they lose and repeat nothing,
// and know from the start how many bytes may be in flight. The connections of a
// host share its link evenly. Callers begin an op once all have finished the
// one before; those of a World do not wait for that.
class ExactJob {
 public:
  // `graph` must outlive this. REQUIRES options.oneShape and one caller per
  // rank.
  ExactJob(const SimOptions& options, const MessageGraph& graph);

  // Returns the time of the slowest rank in each op.
  std::vector<Duration> run();

 private:
  // One op at all ranks.
  struct Op {
    std::vector<uint32_t> arrivals;  // by gate: arrivals that it lacks
    std::vector<uint32_t> owed;      // by rank: messages to come
    std::vector<TimePoint> entered;  // by rank; kNever: not entered yet
    Duration slowest{0};
    int returned = 0;
  };
  struct Sending {
    int op;
    uint32_t message;
    uint64_t left;
  };
  struct Connection {
    std::deque<Sending> queue;
    uint64_t underWay = 0;
    bool waits = false;  // it waits for its turn
  };
  // The connections of one host that may send. They take turns, one segment
  // each.
  struct Host {
    std::deque<int> turns;  // receivers of the connections
    bool wakes = false;     // it wakes once its link has room
  };

  Op* opAt(int op);
  void enterAll(int op);
  void enterSoon(int rank, int op);
  void enter(int rank, int op);
  void leaveAll(int op, const std::vector<uint32_t>& messages);
  void leave(int op, uint32_t message);
  bool maySend(const Connection& connection) const;
  void waitForTurn(int from, int to);
  void pump(int from);
  void sendSegment(int from, int to);
  void arrived(int op, uint32_t message);
  void open(int op, uint32_t gate);
  void returnIfDone(int rank, int op);

  const SimOptions& options_;
  const MessageGraph& graph_;
  const uint64_t windowBytes_;
  EventQueue events_;
  Network network_;
  // The messages behind each gate and, if they wait for none, by sender.
  std::vector<std::vector<uint32_t>> behind_;
  std::vector<std::vector<uint32_t>> first_;
  std::vector<std::vector<uint32_t>> gatesOf_;  // by sender behind the gate
  std::vector<uint32_t> incoming_;              // messages to each rank
  std::map<int, Op> ops_;
  std::map<std::pair<int, int>, Connection> connections_;  // from, to
  std::vector<Host> hosts_;
  std::vector<Duration> times_;
};

}  // namespace ubt::sim
