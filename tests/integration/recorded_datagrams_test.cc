// SPDX-License-Identifier: Apache-2.0
//
// Genuine datagrams are recorded and fed again: twice, late, to another run,
// cut short, changed, or in the form of another mode. Each is dropped and
// counted under its name.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "transport_ubt/core/session/endpoint.h"
#include "transport_ubt/kernels/reduction_kernels.h"

namespace ubt {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kElements = 50000;

float valueAt(int rank, size_t i) {
  return static_cast<float>((i * 7 + rank * 13) % 31);
}

// Two ranks and a record of all datagrams between them.
class RecordedDatagrams : public ::testing::TestWithParam<AuthMode> {
 protected:
  struct Host {
    Host() : endpoint(Endpoint::Limits{}, reductionKernels()) {}
    Endpoint endpoint;
    Session* session = nullptr;
    std::vector<float> values = std::vector<float>(kElements);
    std::vector<Bytes> heard;
  };

  static Session::Setup setup(int rank, uint64_t epoch, uint8_t key) {
    Session::Setup setup;
    setup.rank = rank;
    setup.size = 2;
    setup.epoch = epoch;
    setup.slotBytesMax = 1440;
    setup.windowBytes.assign(2, 1 << 20);
    setup.keys.resize(2);
    for (PeerKeys& keys : setup.keys) {
      keys.send.fill(static_cast<uint8_t>(key + rank));
      keys.receive.fill(static_cast<uint8_t>(key + 1 - rank));
      keys.sendSeal.fill(static_cast<uint8_t>(key + rank));
      keys.receiveSeal.fill(static_cast<uint8_t>(key + 1 - rank));
    }
    setup.options.auth = GetParam();
    setup.options.warmupOps = 0;
    setup.options.boundScatter = setup.options.boundBroadcast =
        std::chrono::seconds(1);
    return setup;
  }

  void openAll(Host (&hosts)[2], uint64_t epoch = 1, uint8_t key = 40) {
    for (int rank = 0; rank < 2; rank++) {
      hosts[rank].session = hosts[rank].endpoint.open(setup(rank, epoch, key));
    }
  }

  // Runs one op to its end. Each datagram is fed `times` times.
  void runOp(Host (&hosts)[2], int times) {
    OpShape shape;
    shape.elements = kElements;
    shape.fingerprint = hosts[0].session->options().fingerprint();
    OpId ids[2];
    for (int rank = 0; rank < 2; rank++) {
      for (size_t i = 0; i < kElements; i++) {
        hosts[rank].values[i] = valueAt(rank, i);
      }
      ids[rank] = hosts[rank].session->enter(
          now_,
          7,
          shape,
          reinterpret_cast<std::byte*>(hosts[rank].values.data()));
    }
    const auto over = [&] {
      return hosts[0].session->finished(ids[0]) &&
             hosts[1].session->finished(ids[1]);
    };
    for (int turn = 0; turn < 10000 && !over(); turn++) {
      pump(hosts, times);
    }
    ASSERT_TRUE(over());
    for (int rank = 0; rank < 2; rank++) {
      const OpReport report = hosts[rank].session->leave(now_, ids[rank]);
      EXPECT_EQ(report.pairsMissing, 0u);
      for (size_t i = 0; i < kElements; i++) {
        ASSERT_EQ(hosts[rank].values[i], valueAt(0, i) + valueAt(1, i));
      }
    }
    for (int turn = 0; turn < 100; turn++) {
      pump(hosts, times);
    }
  }

  void pump(Host (&hosts)[2], int times) {
    now_ += std::chrono::microseconds(100);
    for (int rank = 0; rank < 2; rank++) {
      OutPacket out;
      while (hosts[rank].endpoint.packetOut(now_, &out) != nullptr) {
        Bytes datagram(out.head, out.head + out.headBytes);
        if (out.payload != nullptr) {
          datagram.insert(
              datagram.end(), out.payload, out.payload + out.payloadBytes);
        }
        Host& peer = hosts[1 - rank];
        for (int i = 0; i < times; i++) {
          peer.endpoint.packetIn(now_, datagram.data(), datagram.size());
        }
        peer.heard.push_back(std::move(datagram));
      }
      hosts[rank].endpoint.deadlinePassed(now_);
    }
  }

  static uint64_t counted(const Host& host, Counter counter) {
    return host.endpoint.shared().counters.get(counter);
  }

  // A control packet of rank 1 that is right, but sealed if others are not, or
  // the reverse.
  static Bytes foreign(const ControlRecord& record) {
    Bytes bytes(PacketHeader::kBytes + 200);
    std::byte* const payload = bytes.data() + PacketHeader::kBytes;
    WriteCursor cursor(payload, 100);
    ControlClocks clocks;
    clocks.stampUs = 1;
    clocks.encode(&cursor);
    record.encode(&cursor);
    PacketHeader header;
    header.sealed = GetParam() != AuthMode::kAead;
    header.source = 1;
    header.context = 1;
    header.number = kControlNumber | 1000;
    const PeerKeys keys = setup(1, 1, 40).keys[0];
    header.encode(bytes.data());
    const size_t used = cursor.used();
    if (header.sealed) {
      sealPacket(
          keys.sendSeal, bytes.data(), header.number, payload, used, payload);
    } else {
      header.tag = packetTag(keys.send,
                             payloadKeyOf(keys.sendSeal),
                             bytes.data(),
                             header.number,
                             payload,
                             used);
      header.encode(bytes.data());
    }
    bytes.resize(PacketHeader::kBytes + used +
                 (header.sealed ? kSealBytes : 0));
    return bytes;
  }

  // Expects that the host holds nothing and sends no answer.
  void expectUntouched(Host* host) {
    EXPECT_EQ(host->endpoint.shared().arena.heldBytes(), 0u);
    EXPECT_EQ(host->session->opsHeld(), 0u);
    OutPacket out;
    EXPECT_EQ(host->endpoint.packetOut(now_, &out), nullptr);
  }

  TimePoint now_{std::chrono::seconds(1)};
};

TEST_P(RecordedDatagrams, FedTwiceAreCountedAndChangeNothing) {
  Host hosts[2];
  openAll(hosts);
  for (int op = 0; op < 5; op++) {
    runOp(hosts, 2);
  }
  for (const Host& host : hosts) {
    EXPECT_EQ(counted(host, Counter::kDuplicateData) +
                  counted(host, Counter::kReplayed),
              host.heard.size());
    EXPECT_GT(counted(host, Counter::kReplayed), 0u);
    EXPECT_GT(counted(host, Counter::kDuplicateData), 0u);
  }
}

TEST_P(RecordedDatagrams, OfOpsThatAreOverAreReplays) {
  Host hosts[2];
  openAll(hosts);
  runOp(hosts, 1);
  const size_t recorded = hosts[0].heard.size();
  for (size_t i = 0; i < recorded; i++) {
    const Bytes datagram = hosts[0].heard[i];
    hosts[0].endpoint.packetIn(now_, datagram.data(), datagram.size());
  }
  EXPECT_EQ(counted(hosts[0], Counter::kDuplicateData) +
                counted(hosts[0], Counter::kReplayed),
            recorded);
  runOp(hosts, 1);
}

TEST_P(RecordedDatagrams, OfAnotherRunAreRejected) {
  Host recorded[2];
  Host hosts[2];
  Host sameEpoch[2];
  openAll(recorded);
  openAll(hosts, 2, 50);
  openAll(sameEpoch, 1, 60);
  runOp(recorded, 1);
  for (const Bytes& datagram : recorded[0].heard) {
    hosts[0].endpoint.packetIn(now_, datagram.data(), datagram.size());
    sameEpoch[0].endpoint.packetIn(now_, datagram.data(), datagram.size());
  }
  EXPECT_EQ(counted(hosts[0], Counter::kUnknownEpoch),
            recorded[0].heard.size());
  EXPECT_EQ(counted(sameEpoch[0], Counter::kBadTag), recorded[0].heard.size());
  expectUntouched(&hosts[0]);
  expectUntouched(&sameEpoch[0]);
  runOp(hosts, 1);
  runOp(sameEpoch, 1);
}

// Headers have only a part of a context's epoch, which another may share.
TEST_P(RecordedDatagrams, FindTheirContextAmongThoseOfOneNumber) {
  constexpr uint64_t kTwin = 1 + (1 << 16);
  Host hosts[2];
  Session* twins[2][2] = {};  // by rank
  for (int rank = 0; rank < 2; rank++) {
    twins[rank][0] = hosts[rank].endpoint.open(setup(rank, 1, 40));
    twins[rank][1] = hosts[rank].endpoint.open(setup(rank, kTwin, 50));
  }
  for (int op = 0; op < 4; op++) {
    for (int rank = 0; rank < 2; rank++) {
      hosts[rank].session = twins[rank][op % 2];
    }
    runOp(hosts, 1);
  }
  for (int rank = 0; rank < 2; rank++) {
    EXPECT_EQ(counted(hosts[rank], Counter::kBadTag), 0u);
    hosts[rank].endpoint.close(twins[rank][0]);
    hosts[rank].session = twins[rank][1];
  }
  runOp(hosts, 1);
}

TEST_P(RecordedDatagrams, TruncatedAnywhereAreRejected) {
  Host hosts[2];
  openAll(hosts);
  runOp(hosts, 1);
  Host fresh;
  fresh.session = fresh.endpoint.open(setup(0, 1, 40));
  uint64_t fed = 0;
  for (const Bytes& datagram : hosts[0].heard) {
    for (size_t cut = 0; cut < datagram.size(); cut += 1 + cut / 4) {
      fresh.endpoint.packetIn(now_, datagram.data(), cut);
      fed++;
    }
  }
  // If the tag covers only the header, it is still right. Then the packet's
  // length is wrong, or the op of its results is unknown.
  uint64_t counts =
      counted(fresh, Counter::kMalformed) + counted(fresh, Counter::kBadTag);
  if (GetParam() == AuthMode::kHeader) {
    counts += counted(fresh, Counter::kDuplicateData) +
              counted(fresh, Counter::kMismatched) +
              counted(fresh, Counter::kUnannounced);
  }
  EXPECT_EQ(counts, fed);
  EXPECT_EQ(fresh.endpoint.shared().arena.heldBytes(), 0u);
  EXPECT_EQ(fresh.session->opsHeld(), 0u);
}

// Changes any byte, except payload bytes that the tag does not cover.
TEST_P(RecordedDatagrams, ChangedAnywhereAreRejected) {
  Host hosts[2];
  openAll(hosts);
  runOp(hosts, 1);
  Host fresh;
  fresh.session = fresh.endpoint.open(setup(0, 1, 40));
  uint64_t fed = 0;
  for (const Bytes& datagram : hosts[0].heard) {
    PacketHeader header;
    ASSERT_TRUE(
        PacketHeader::decode(datagram.data(), datagram.size(), &header));
    const bool data = header.type == PacketType::kData;
    const size_t covered = data && GetParam() == AuthMode::kHeader
                               ? PacketHeader::kBytes
                               : datagram.size();
    // Every byte of the header and of the end, and some in between.
    for (size_t at = 0; at < covered;
         at += at < 44 || at + 9 > covered ? 1 : 1 + at / 8) {
      Bytes changed = datagram;
      changed[at] ^= static_cast<std::byte>(1 << fed % 8);
      fresh.endpoint.packetIn(now_, changed.data(), changed.size());
      fed++;
    }
  }
  EXPECT_EQ(counted(fresh, Counter::kMalformed) +
                counted(fresh, Counter::kUnknownEpoch) +
                counted(fresh, Counter::kWrongRank) +
                counted(fresh, Counter::kNoMulticastKey) +
                counted(fresh, Counter::kBadTag),
            fed);
  EXPECT_GT(counted(fresh, Counter::kBadTag), fed / 2);
  expectUntouched(&fresh);
}

// Of a rank in another mode only announcements count, so that both ranks learn
// of the difference. They count until the rank has been heard in the right
// mode.
TEST_P(RecordedDatagrams, OfTheOtherFormOnlyAnnounce) {
  Host hosts[2];
  Host fresh;
  openAll(hosts);
  fresh.session = fresh.endpoint.open(setup(0, 1, 40));
  OpShape shape;
  shape.elements = kElements;
  const Bytes announcement = foreign(ControlRecord::announce({7, 0}, shape));
  const Bytes farewell = foreign(ControlRecord());
  fresh.endpoint.packetIn(now_, farewell.data(), farewell.size());
  EXPECT_EQ(counted(fresh, Counter::kAcceptedControl), 1u);
  EXPECT_EQ(fresh.session->failure(), "");
  expectUntouched(&fresh);
  Host second;
  second.session = second.endpoint.open(setup(0, 1, 40));
  second.endpoint.packetIn(now_, announcement.data(), announcement.size());
  EXPECT_EQ(second.session->opsHeld(), 1u);

  runOp(hosts, 1);
  for (const Bytes& datagram : {announcement, farewell}) {
    hosts[0].endpoint.packetIn(now_, datagram.data(), datagram.size());
  }
  EXPECT_EQ(counted(hosts[0], Counter::kBadTag), 2u);
  EXPECT_EQ(hosts[0].session->failure(), "");
}

// A payload that must not be read on the way is not readable.
TEST_P(RecordedDatagrams, ShowTheirPayloadUnlessSealed) {
  Host hosts[2];
  openAll(hosts);
  runOp(hosts, 1);
  // A part of rank 1's contribution to rank 0's shard.
  float values[4];
  for (size_t i = 0; i < 4; i++) {
    values[i] = valueAt(1, 100 + i);
  }
  const auto* const secret = reinterpret_cast<const std::byte*>(values);
  size_t seen = 0;
  for (const Bytes& datagram : hosts[0].heard) {
    seen += std::search(datagram.begin(),
                        datagram.end(),
                        secret,
                        secret + sizeof(values)) != datagram.end();
  }
  EXPECT_EQ(seen == 0, GetParam() == AuthMode::kAead);
}

INSTANTIATE_TEST_SUITE_P(Modes,
                         RecordedDatagrams,
                         ::testing::Values(AuthMode::kHeader,
                                           AuthMode::kFull,
                                           AuthMode::kAead));

}  // namespace
}  // namespace ubt
