// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/sim/plain_reduction.h"

namespace ubt {

inline OpShape floats(uint64_t elements) {
  OpShape shape;
  shape.elements = elements;
  shape.fingerprint = Options().fingerprint();
  return shape;
}

inline std::byte* bytesOf(std::vector<float>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

// Rank 0 of a job, in full. Its peers exist only as datagrams, which are
// authentic but contain anything that a test wants.
class OneRank {
 public:
  static constexpr uint64_t kEpoch = 7;

  struct Setup {
    int size = 2;
    size_t slotBytes = 1440;
    size_t arenaBytes = 1 << 20;
    uint64_t windowBytes = 1 << 20;
    int sessions = 1;
    int groups = 1;
    Options options = boundedBy(std::chrono::milliseconds(10));
    std::function<void(int rank, bool heard)> silent;
    std::function<void(const std::string& text)> warn;
  };

  static Options boundedBy(Duration bound) {
    Options options;
    options.warmupOps = 0;
    options.boundScatter = options.boundBroadcast = bound;
    options.timeout = std::chrono::seconds(1);
    return options;
  }

  explicit OneRank(const Setup& setup)
      : endpoint_({setup.arenaBytes, 64 << 10, setup.windowBytes},
                  sim::plainReduction()) {
    Session::Setup own;
    own.size = setup.size;
    own.slotBytesMax = setup.slotBytes;
    own.keys.resize(setup.size);
    own.windowBytes.assign(setup.size, setup.windowBytes);
    own.groups = RankGroups::equal(setup.size, setup.groups);
    own.options = setup.options;
    own.silent = setup.silent;
    own.warn = setup.warn;
    for (int i = 0; i < setup.sessions; i++) {
      own.epoch = kEpoch + i;
      sessions_.push_back(endpoint_.open(own));
      for (int rank = 0; rank < setup.size; rank++) {
        PeerLink::Setup link;
        link.self = rank;
        link.epoch = own.epoch;
        link.sendCredit = 1 << 20;
        links_.emplace_back(link);
      }
    }
  }

  Endpoint& endpoint() { return endpoint_; }
  Session& session(int i = 0) { return *sessions_[i]; }
  const Arena& arena() const { return endpoint_.shared().arena; }
  uint64_t count(Counter counter) const {
    return endpoint_.shared().counters.get(counter);
  }

  // Sends a peer's control datagram to the session; without records: only
  // clocks.
  void say(int rank, const std::vector<ControlRecord>& records, int to = 0) {
    PeerLink& link = links_[to * session().size() + rank];
    link.creditBy(now);
    for (const ControlRecord& record : records) {
      link.queue(now, record, true);
    }
    OutPacket out;
    link.controlOut(
        now, [](WriteCursor*) {}, &out);
    endpoint_.packetIn(now, out.head, out.headBytes);
  }

  // Sends a peer's data datagram to the session, with the header's op, stage,
  // slot and size. The payload is zeros, or as given.
  void send(int rank,
            const PacketHeader& header,
            size_t payloadBytes,
            int to = 0) {
    send(rank, header, std::vector<std::byte>(payloadBytes), to);
  }
  void send(int rank,
            const PacketHeader& header,
            const std::vector<std::byte>& payload,
            int to = 0) {
    OutPacket out;
    links_[to * session().size() + rank].dataOut(
        header, payload.data(), payload.size(), &out);
    std::vector<std::byte> datagram(out.head, out.head + out.headBytes);
    datagram.insert(datagram.end(), payload.begin(), payload.end());
    endpoint_.packetIn(now, datagram.data(), datagram.size());
  }

  // Datagrams of data that the peer sends to the session and the network loses.
  void lose(int rank, int datagrams, int to = 0) {
    OutPacket out;
    for (int i = 0; i < datagrams; i++) {
      links_[to * session().size() + rank].dataOut({}, nullptr, 0, &out);
    }
  }

  // Everything that this rank sends now: the sessions and datagrams, in order.
  struct Sent {
    Session* session;
    OutPacket packet;
  };
  std::vector<Sent> sent() {
    std::vector<Sent> all;
    Sent next{};
    while (all.size() < 10000 &&
           (next.session = endpoint_.packetOut(now, &next.packet)) != nullptr) {
      all.push_back(next);
    }
    return all;
  }

  // The records of a control datagram; data has none.
  static std::vector<ControlRecord> recordsIn(const OutPacket& packet) {
    std::vector<ControlRecord> records;
    if (packet.type == PacketType::kControl) {
      ReadCursor cursor(packet.head + PacketHeader::kBytes,
                        packet.headBytes - PacketHeader::kBytes);
      ControlClocks clocks;
      ControlRecord record;
      EXPECT_TRUE(ControlClocks::decode(&cursor, &clocks));
      while (cursor.left() > 0 && ControlRecord::decode(&cursor, &record)) {
        records.push_back(record);
      }
    }
    return records;
  }

  // Lets time pass until `when`.
  void at(TimePoint when) {
    while (endpoint_.nextDeadline() <= when) {
      now = std::max(now, endpoint_.nextDeadline());
      endpoint_.deadlinePassed(now);
      sent();
    }
    now = when;
  }

  TimePoint now{std::chrono::seconds(1)};

 private:
  Endpoint endpoint_;
  std::vector<Session*> sessions_;
  std::vector<PeerLink> links_;  // by session, then by rank
};

}  // namespace ubt
