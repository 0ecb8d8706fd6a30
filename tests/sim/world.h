// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/checker.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/inputs.h"
#include "tests/sim/network.h"
#include "tests/sim/sim_options.h"
#include "tests/sim/sim_result.h"
#include "transport_ubt/core/endpoint.h"

namespace ubt::sim {

// A whole job in virtual time: the real protocol core at every rank, callers
// that behave as SimOptions says, a network, and the checks of
// docs/semantics.md after every op.
class World {
 public:
  explicit World(const SimOptions& options);
  // With another arithmetic than one that can be checked by eye (of noData
  // there is none). REQUIRES !options.checkResults.
  World(const SimOptions& options, const Reduction& reduction);
  ~World();

  SimResult run();

 private:
  // One thread of one rank on one context.
  struct Caller {
    int rank = 0;
    int context = 0;
    int thread = 0;
    int op = 0;
    bool inside = false;
    bool over = false;
    OpId id;
    TimePoint enteredAt{};
    std::vector<std::byte> bucket;
  };
  // Calls of one rank that have ended.
  struct Left {
    uint64_t ops = 0;
    uint64_t bytes = 0;
  };
  struct Host {
    std::unique_ptr<Endpoint> endpoint;
    std::vector<Session*> sessions;  // by context
    std::vector<Left> left;          // likewise
    std::vector<Caller*> callers;
    TimePoint wakeAt = kNever;
    uint64_t sentBytes = 0;
    bool crashed = false;
  };
  Options protocolOf(int rank) const;
  void openSessions();
  void tryEnter(Caller* caller);
  void poll(Caller* caller);
  void next(Caller* caller);
  void giveUp(Caller* caller, const std::string& why);
  void pump(int rank);
  void sendAll(int rank);
  TimePoint writableAt(int rank) const;
  void crash(int rank);
  void wake(int rank, TimePoint when);
  void receive(int rank, const Network::Datagram& datagram);
  void strangerTo(int rank, Network::Datagram datagram);
  void noteLeft(const Caller& caller);
  void checkMemory();
  bool allOver() const;
  void violation(const std::string& what);

  const SimOptions options_;
  const Reduction reduction_;
  const Inputs inputs_;
  const Checker checker_;
  EventQueue events_;
  std::mt19937_64 random_;
  Network network_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::vector<std::byte> nothing_;  // everybody's bucket, of noData
  std::map<OpKey, std::vector<Outcome>> outcomes_;  // by rank
  TimePoint joined_{};  // when rank 0 begins to hear
  bool sending_ = true;
  Traffic traffic_;
  std::set<OpKey> returned_;
  SimResult result_;
};

}  // namespace ubt::sim
