// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/packet_header.h"
#include "transport_ubt/sim/bursts.h"
#include "transport_ubt/sim/event_queue.h"
#include "transport_ubt/sim/fault_counts.h"
#include "transport_ubt/sim/sim_options.h"
#include "transport_ubt/sim/stalls.h"

namespace ubt::sim {

// Links with queues around one switch. A train of datagrams waits at its
// sender's uplink, then at its receiver's downlink. A full queue drops it as a
// whole, as the kernel's queues do (segmentation offload). Other faults are
// loss, duplication, reordering, partition, bursts of other users, and links
// that stand still. Counts the fate of every datagram.
class Network {
 public:
  using Datagram = std::vector<std::byte>;
  using Datagrams = std::vector<Datagram>;
  // Copies share the datagrams, because a train waits in several places.
  using Train = std::shared_ptr<const Datagrams>;
  // One datagram. It keeps its train alive.
  using Arrived = std::shared_ptr<const Datagram>;
  // `congested`: a queue was long, or the network says so (Marks).
  using Deliver = std::function<void(int rank, const Arrived&, bool congested)>;

  // `events` must outlive this.
  Network(const SimOptions& options, EventQueue* events, Deliver deliver);

  // REQUIRES that the train is not empty.
  void send(int from, int to, const Train& train);
  // Sends to all other ranks; the sender's link carries one datagram.
  // REQUIRES that the train is one datagram.
  void multicast(int from, const Train& train);

  // The sender's socket lost the train.
  void lostAtHost(const Train& train) { lose(train); }

  // Sends `bytes` bytes that no queue drops, as if the sender knew how many it
  // may send. Calls `arrived` when they have arrived.
  void carry(int from,
             int to,
             size_t bytes,
             const std::function<void()>& arrived);

  // Sends `bytes` bytes as one segment of another protocol. A full queue, a
  // partition or a lossy path drops all of it; Faults do not affect it. Else
  // calls `arrived` when it has arrived, not before `last`, which becomes that
  // time: segments of one flow stay in order.
  void offer(int from,
             int to,
             size_t bytes,
             TimePoint* last,
             const std::function<void()>& arrived);

  // The present delay of a path, without links and queues.
  Duration way(int from, int to) const;

  // For datagrams of a type: how many were lost, and how many arrived in
  // addition to those sent.
  uint64_t duplicated(PacketType type) const {
    return duplicated_[index(type)];
  }
  uint64_t lost(PacketType type) const { return lost_[index(type)]; }

  // The time when at most `bytes` bytes wait at a rank's host for its link.
  // `bytes` counts up to the size of a socket's buffer. The time may be in the
  // past.
  TimePoint writableAt(int rank, uint64_t bytes) const;

  // When no data was on the way from the switch to a host.
  struct Idle {
    int rank = 0;
    TimePoint from{};
    TimePoint until{};
  };
  // In the order of their ends. Empty without Options::trace.
  const std::vector<Idle>& idle() const { return idle_; }

  // The bytes that a rank has put on its link.
  uint64_t sentBytes(int rank) const { return up_[rank].bytes; }

  Duration sinceStart() const;
  // The faults that happened in the network.
  const FaultCounts& faults() const { return faults_; }

  // REQUIRES a datagram written by a core.
  static PacketType typeOf(const Datagram& datagram) {
    PacketHeader header;
    const bool decoded =
        PacketHeader::decode(datagram.data(), datagram.size(), &header);
    UBT_REQUIRE(decoded);
    return header.type;
  }

 private:
  struct Link {
    Stalls* stalls = nullptr;
    TimePoint freeAt{};
    uint64_t bytes = 0;
    double bytesPerSecond = 1;

    // The time that `bytes` take on the link.
    Duration wire(double bytes) const {
      return Duration(static_cast<int64_t>(bytes * 1e9 / bytesPerSecond));
    }
  };

  static size_t index(PacketType type) {
    return type == PacketType::kData ? 0 : 1;
  }
  void lose(const Train& train) { count(train, &lost_); }
  void lose(const Train& train, Fault why) {
    faults_.happened(why);
    lose(train);
  }
  // Counts the train's datagrams by type.
  static void count(const Train& train, std::array<uint64_t, 2>* counts) {
    for (const Datagram& datagram : *train) {
      (*counts)[index(typeOf(datagram))]++;
    }
  }
  // The bytes that a train puts on a link, without its first frame.
  static size_t bytesOf(const Train& train);
  // Whether the path loses a train from one rank to another, and why.
  bool isLost(int from, int to, const Train& train, Fault* why);
  double loss() const;
  // The time when a train leaves the link; kNever if its queue is full.
  TimePoint pass(Link* link,
                 TimePoint arrival,
                 size_t bytes,
                 uint64_t queueBytes);
  // Whether the switch's queue to a rank is long enough to mark a train that
  // comes at this time.
  bool isLong(int rank, TimePoint arrival) const;
  TimePoint leave(int rank, TimePoint at, size_t bytes);
  // Calls `then` when a train that leaves its host at `sent` is at the switch.
  template <typename Then>
  void whenAtSwitch(TimePoint sent, Then then);
  // Sends the bursts of other users that are due by now.
  void sendBursts();
  void forward(int from, int to, const Train& train);
  void toMany(int from, const Train& train);
  // Delivers to one rank a train that is at the switch at `sent`.
  void deliver(int from, int to, TimePoint sent, const Train& train);
  bool deaf(int rank) const;
  bool chance(double probability);
  bool partitioned(int from, int to) const;

  const SimOptions& options_;
  EventQueue* const events_;
  const Deliver deliver_;
  std::mt19937_64 random_;
  Bursts bursts_;
  std::vector<Stalls> stalls_;  // by rank
  std::vector<Link> up_;
  std::vector<Link> down_;
  // By rank: when the burst chunks that wait at its host leave it.
  std::vector<std::deque<TimePoint>> chunks_;
  std::vector<Idle> idle_;
  TimePoint slowUntil_{};  // the slow rank is busy until then
  std::array<uint64_t, 2> duplicated_{};
  std::array<uint64_t, 2> lost_{};
  FaultCounts faults_;
};

}  // namespace ubt::sim
