// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/sim/causes.h"
#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/event_queue.h"
#include "transport_ubt/sim/host_clock.h"
#include "transport_ubt/sim/inputs.h"
#include "transport_ubt/sim/network.h"
#include "transport_ubt/sim/run_digest.h"
#include "transport_ubt/sim/sim_options.h"
#include "transport_ubt/sim/sim_result.h"

namespace ubt::sim {

// A whole job in virtual time: the real protocol core at every rank, callers
// that follow SimOptions, a network, and the checks of docs/semantics.md after
// every op.
class World {
 public:
  // `digest` may be null. If not, it must outlive this.
  explicit World(const SimOptions& options, RunDigest* digest = nullptr);
  // Uses another arithmetic than plainReduction(); `checkResults` would then
  // call its results wrong. With noData there is no arithmetic.
  World(const SimOptions& options,
        const Reduction& reduction,
        RunDigest* digest = nullptr);
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
    TimePoint enteredAt{};    // by its host's clock
    Duration stillBefore{0};  // Host::stoodStill then
    std::vector<std::byte> bucket;
  };
  // Calls of one rank that have ended.
  struct Left {
    uint64_t ops = 0;
    uint64_t bytes = 0;
  };
  // One rank's host. Times are the world's, except for those that its clock
  // shows.
  struct Host {
    struct Waiting {  // a datagram that waits for the host
      Network::Arrived datagram;
      bool congested = false;
    };

    HostClock clock;
    std::unique_ptr<Endpoint> endpoint;
    std::unique_ptr<Endpoint> before;  // the process that died
    std::vector<Session*> sessions;    // by context; null if closed
    std::vector<Left> left;            // by context
    std::vector<Caller*> callers;
    TimePoint wakeAt = kNever;
    uint64_t sentBytes = 0;
    bool crashed = false;
    bool restarted = false;
    bool closing = false;  // ends its first context once its callers are out
    TimePoint pausedUntil{};
    Duration stoodStill{0};  // total, by its clock
    TimePoint busyUntil{};   // it handles a datagram until then
    int trainFrom = -1;      // sender of the last datagram
    TimePoint sendBlockedUntil{};
    std::deque<Waiting> inbox;
    uint64_t inboxBytes = 0;
    uint64_t overflows = 0;  // that its endpoint does not know yet
    Arrivals arrivals;
    bool draining = false;
    // For the process that replaces one that died.
    std::vector<std::byte> bucket;
  };
  TimePoint nowAt(int rank) const {
    return hosts_[rank].clock.shows(events_.now());
  }
  bool paused(int rank) const {
    return hosts_[rank].pausedUntil > events_.now();
  }
  bool chance(double probability);
  void openSessions();
  std::unique_ptr<Endpoint> makeEndpoint(int rank);
  Session::Setup setupOf(int rank, int context, bool again) const;
  // What `rank` uses with `peer` in a context with this number.
  static PeerKeys keysOf(int rank, int peer, uint8_t number);
  void tryEnter(Caller* caller);
  void poll(Caller* caller);
  void next(Caller* caller);
  void giveUp(Caller* caller, const std::string& why);
  TimePoint nextOf(Duration period) const;
  void pump(int rank);
  void sendAll(int rank);
  TimePoint writableAt(int rank) const;
  void sendNow(int rank, int peer, const Network::Train& train);
  // Datagrams for one peer that may get company.
  struct OpenTrain {
    int to = 0;
    size_t bytes = 0;
    Network::Datagrams datagrams;
  };
  bool joins(const OpenTrain& train,
             int rank,
             int peer,
             const Network::Datagram& datagram) const;
  void flush(int rank, OpenTrain* train);
  void wake(int rank, TimePoint when);

  // Incoming datagrams.
  void receive(int rank, const Network::Arrived& datagram, bool congested);
  void drain(int rank);
  void take(int rank, const Network::Datagram& datagram, bool congested);
  void deafTo(const Network::Datagram& datagram);
  void noteArrival(int rank,
                   const Network::Datagram& datagram,
                   const Counters& before);
  bool tellsArrivals(int rank) const;
  void strangerTo(int rank, Network::Datagram datagram);
  void deliver(int rank, const Network::Datagram& datagram, bool congested);
  void makeCreditFalse(int from, int to, Network::Datagram* datagram);
  bool wrongResultDue(int rank, const PacketHeader& header) const;
  void corruptedTo(int rank, Network::Datagram datagram);

  // Faults at hosts.
  void startFaults();
  void crash(int rank);
  void restart(int rank);
  void pause(const Pause& pause);
  void breakMesh(int rank, int peer);
  void closeWhenIdle(int rank);
  void closeContext(int rank, TimePoint latest);
  void noteLeft(const Caller& caller);
  void checkMemory();
  bool allOver() const;
  void violation(const std::string& what);

  const SimOptions options_;
  const Reduction reduction_;
  RunDigest* const digest_;
  const Inputs inputs_;
  Causes causes_;
  Checker checker_;
  EventQueue events_;
  std::mt19937_64 random_;
  Network network_;
  ArenaBudget sharedArena_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::vector<std::byte> nothing_;  // every rank's bucket if noData
  std::map<std::pair<int, int>, uint64_t> creditTold_;  // FalseCredit
  std::map<OpKey, std::vector<Outcome>> outcomes_;      // by rank
  TimePoint joined_{};    // when rank 0 begins to hear
  bool anyGone_ = false;  // a process or context ended before the others
  bool sending_ = true;
  Traffic traffic_;
  FaultCounts faults_;
  std::set<OpKey> returned_;
  SimResult result_;
};

}  // namespace ubt::sim
