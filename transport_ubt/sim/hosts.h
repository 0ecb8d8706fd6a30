// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/sim/arrivals.h"
#include "transport_ubt/sim/event_queue.h"
#include "transport_ubt/sim/fault_counts.h"
#include "transport_ubt/sim/host_clock.h"
#include "transport_ubt/sim/network.h"
#include "transport_ubt/sim/run_digest.h"
#include "transport_ubt/sim/sim_options.h"
#include "transport_ubt/sim/traffic.h"

namespace ubt::sim {

// The hosts of a job in virtual time, one a rank: the real endpoint of each
// rank, its clock, its socket, and the datagrams that wait for it. They do what
// sockets and threads do elsewhere, with the faults of sockets and clocks that
// the options ask for. A network connects them. Processes end and stand still
// only when the owner says so.
class Hosts {
 public:
  using Violation = std::function<void(const std::string& what)>;
  // pump() calls it after the rank's endpoint may have ended calls. It may call
  // sessions, but not pump().
  using Progress = std::function<void(int rank)>;

  // Each rank has a session for each context of the options. `options` must
  // outlive this, and so must `digest`, unless it is null.
  Hosts(const SimOptions& options,
        const Reduction& reduction,
        RunDigest* digest,
        Violation violation,
        Progress progress);
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  EventQueue& events() { return events_; }
  const EventQueue& events() const { return events_; }
  const Network& network() const { return network_; }

  // The time that the rank's clock shows.
  TimePoint nowAt(int rank) const {
    return hosts_[rank].clock.shows(events_.now());
  }
  // Null once it is closed.
  Session* session(int rank, int context) const {
    return hosts_[rank].sessions[context];
  }
  const Endpoint& endpoint(int rank) const { return *hosts_[rank].endpoint; }
  // Counters of the rank, with those of its process before a restart.
  void addCounters(int rank, Counters* sum) const;
  bool crashed(int rank) const { return hosts_[rank].crashed; }
  bool restarted(int rank) const { return hosts_[rank].restarted; }
  bool paused(int rank) const {
    return hosts_[rank].pausedUntil > events_.now();
  }
  // From when on the rank's callers may call.
  TimePoint mayEnterAt(int rank) const;
  // How long the rank's pauses have lasted, by its clock.
  Duration stoodStill(int rank) const { return hosts_[rank].stoodStill; }

  // The data that the rank received. Reports can be compared with it if
  // tellsArrivals(). Once that is false, it stays so until the rank restarts.
  const Arrivals& arrivals(int rank) const { return hosts_[rank].arrivals; }
  bool tellsArrivals(int rank) const;
  // Datagrams that nobody handled, and faults that happened, until now.
  const Traffic& traffic() const { return traffic_; }
  FaultCounts faults() const;

  // Sends the datagrams that the rank's endpoint has ready, and serves its
  // deadlines. After a call of a session, its datagrams wait for pump().
  void pump(int rank);
  // Nothing is sent any more.
  void stopSending() { sending_ = false; }

  // The rank's connection to a peer is closed, for the reason `why`.
  void peerClosed(int rank, int peer, const std::string& why);
  // The rank ends its session of a context. REQUIRES that it is open.
  void close(int rank, int context);
  // The rank's process dies. False if it is dead already.
  bool crash(int rank);
  // Starts a process of the job's next run on the host of a dead rank, while
  // the other ranks continue the old run. Neither run may accept data of the
  // other. Returns the new session. Null if the rank has not crashed, or has
  // restarted.
  Session* restart(int rank);
  // The rank's process stands still.
  void pause(const Pause& pause);

 private:
  struct Waiting {  // a datagram that waits for the host
    Network::Arrived datagram;
    bool congested = false;
  };
  // Times are the world's, except for those that its clock shows.
  struct Host {
    HostClock clock;
    std::unique_ptr<Endpoint> endpoint;
    std::unique_ptr<Endpoint> before;  // the process that died
    std::vector<Session*> sessions;    // by context; null if closed
    TimePoint wakeAt = kNever;
    uint64_t sentBytes = 0;
    bool crashed = false;
    bool restarted = false;
    TimePoint pausedUntil{};
    Duration stoodStill{0};
    TimePoint busyUntil{};  // it handles a datagram until then
    int trainFrom = -1;     // sender of the last datagram
    TimePoint sendBlockedUntil{};
    std::deque<Waiting> inbox;
    uint64_t inboxBytes = 0;
    uint64_t overflows = 0;  // that its endpoint does not know yet
    Arrivals arrivals;
    bool draining = false;
  };
  // Datagrams for one peer that may get company.
  struct OpenTrain {
    int to = 0;
    size_t bytes = 0;
    Network::Datagrams datagrams;
  };

  bool chance(double probability);
  std::unique_ptr<Endpoint> makeEndpoint(int rank);
  // `again`: for the process that replaces one that died.
  Session::Setup setupOf(int rank, int context, bool again) const;
  // What `rank` uses with `peer` in a context with this number.
  static PeerKeys keysOf(int rank, int peer, uint8_t number);
  TimePoint nextOf(Duration period) const;

  // Outgoing datagrams.
  void sendAll(int rank);
  TimePoint writableAt(int rank) const;
  void sendNow(int rank, int peer, const Network::Train& train);
  bool joins(const OpenTrain& train,
             int rank,
             int peer,
             const Network::Datagram& datagram) const;
  void flush(int rank, OpenTrain* train);
  void wake(int rank, TimePoint when);
  void makeCreditFalse(int from, int to, Network::Datagram* datagram);

  // Incoming datagrams.
  void receive(int rank, const Network::Arrived& datagram, bool congested);
  void drain(int rank);
  void take(int rank, const Network::Datagram& datagram, bool congested);
  void deafTo(const Network::Datagram& datagram);
  void noteArrival(int rank,
                   const Network::Datagram& datagram,
                   const Counters& before);
  void strangerTo(int rank, Network::Datagram datagram);
  void deliver(int rank, const Network::Datagram& datagram, bool congested);
  bool wrongResultDue(int rank, const PacketHeader& header) const;
  void corruptedTo(int rank, Network::Datagram datagram);

  const SimOptions& options_;
  const Reduction reduction_;
  RunDigest* const digest_;
  const Violation violation_;
  const Progress progress_;
  EventQueue events_;
  std::mt19937_64 random_;
  Network network_;
  ArenaBudget sharedArena_;
  std::vector<Host> hosts_;
  std::map<std::pair<int, int>, uint64_t> creditTold_;  // FalseCredit
  TimePoint joined_{};    // when rank 0 begins to hear
  bool anyGone_ = false;  // a process or context ended before the others
  bool sending_ = true;
  Traffic traffic_;
  FaultCounts faults_;
};

}  // namespace ubt::sim
