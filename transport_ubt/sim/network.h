// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/wire/packet_header.h"
#include "transport_ubt/sim/bursts.h"
#include "transport_ubt/sim/event_queue.h"
#include "transport_ubt/sim/fault_counts.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {

// Links with queues around one switch: a datagram waits at its sender's
// uplink, then at its receiver's downlink, and is dropped where a queue is
// full. Loss, duplication, reordering, partition and other people's bursts come
// on top. Counts every datagram's end.
class Network {
 public:
  using Datagram = std::vector<std::byte>;
  using Deliver = std::function<void(int rank, const Datagram&)>;

  // `events` must outlive this.
  Network(const SimOptions& options, EventQueue* events, Deliver deliver);

  void send(int from, int to, const Datagram& datagram);
  // To all ranks but the sender: one datagram as far as the switch.
  void multicast(int from, const Datagram& datagram);

  // The sender's socket has lost it.
  void lostAtHost(const Datagram& datagram) { lose(datagram); }

  // Likewise so many bytes that no queue drops, as if their sender knew how
  // many it may send. Calls `arrived` when they are there.
  void carry(int from,
             int to,
             size_t bytes,
             const std::function<void()>& arrived);

  // Datagrams of a type.
  // Those by which more arrive than were sent.
  uint64_t duplicated(PacketType type) const {
    return duplicated_[index(type)];
  }
  uint64_t lost(PacketType type) const { return lost_[index(type)]; }

  // When what a rank's host holds back for its link has shrunk to so many
  // bytes, which are no more than its socket lets wait; the past, if it has.
  TimePoint writableAt(int rank, uint64_t bytes) const;

  // What a rank has put on its link.
  uint64_t sentBytes(int rank) const { return up_[rank].bytes; }

  // What went wrong here.
  const FaultCounts& faults() const { return faults_; }

  // REQUIRES a datagram that a core has written.
  static PacketType typeOf(const Datagram& datagram) {
    PacketHeader header;
    const bool decoded =
        PacketHeader::decode(datagram.data(), datagram.size(), &header);
    UBT_REQUIRE(decoded);
    return header.type;
  }

 private:
  struct Link {
    TimePoint freeAt{};
    uint64_t bytes = 0;
    double bytesPerSecond = 1;

    // What so many bytes take on it.
    Duration wire(double bytes) const {
      return Duration(static_cast<int64_t>(bytes * 1e9 / bytesPerSecond));
    }
  };

  static size_t index(PacketType type) {
    return type == PacketType::kData ? 0 : 1;
  }
  Duration sinceStart() const;
  void lose(const Datagram& datagram) { lost_[index(typeOf(datagram))]++; }
  void lose(const Datagram& datagram, Fault why) {
    faults_.happened(why);
    lose(datagram);
  }
  // Whether the path loses what one rank sends to another, and why.
  bool isLost(int from, int to, const Datagram& datagram, Fault* why);
  double loss() const;
  // How long a way takes, links and queues apart.
  Duration way(int from, int to) const;
  // When a datagram leaves the link; kNever if its queue is full.
  TimePoint pass(Link* link,
                 TimePoint arrival,
                 size_t bytes,
                 uint64_t queueBytes);
  TimePoint leave(int rank, TimePoint at, size_t bytes);
  // Calls back, with these, when what leaves its host then is at the switch.
  template <typename Then, typename... With>
  void whenAtSwitch(TimePoint sent, const Then& then, const With&... with);
  // What others send until now.
  void sendBursts();
  void forward(int from, int to, const Datagram& datagram);
  void toMany(int from, const Datagram& datagram);
  // What of a datagram that is at the switch then reaches a rank.
  void deliver(int from, int to, TimePoint sent, const Datagram& datagram);
  bool deaf(int rank) const;
  bool chance(double probability);
  bool partitioned(int from, int to) const;

  const SimOptions& options_;
  EventQueue* const events_;
  const Deliver deliver_;
  std::mt19937_64 random_;
  Bursts bursts_;
  std::vector<Link> up_;
  std::vector<Link> down_;
  // When chunks of bursts that wait at a rank's host leave it.
  std::vector<std::deque<TimePoint>> chunks_;
  TimePoint slowUntil_{};  // the slow rank is busy until then
  std::array<uint64_t, 2> duplicated_{};
  std::array<uint64_t, 2> lost_{};
  FaultCounts faults_;
};

}  // namespace ubt::sim
