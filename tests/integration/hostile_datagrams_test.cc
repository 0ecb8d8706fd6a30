// SPDX-License-Identifier: Apache-2.0
//
// Bytes from strangers at the ranks' UDP ports, while allreduces run: each is
// dropped and counted under its name, none is answered, no result changes.

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "algorithms/bounded_transpose_allreduce.h"
#include "tests/conformance/mesh.h"
#include "tests/integration/udp_port.h"
#include "transport_ubt/core/endpoint.h"
#include "transport_ubt/device.h"
#include "transport_ubt/kernels/reduction_kernels.h"
#include "transport_ubt/key_exchange.h"

namespace gloo {
namespace {

using testing::Mesh;
using ubt::Counter;
using Bytes = std::vector<std::byte>;

constexpr int kRanks = 3;
constexpr size_t kElements = 50000;
constexpr int kRounds = 100;
constexpr uint64_t kSeed = 20251;

float valueAt(int rank, size_t i) {
  return (i * 7 + rank * 13) % 31;
}

float sumAt(size_t i) {
  float sum = 0;
  for (int rank = 0; rank < kRanks; rank++) {
    sum += valueAt(rank, i);
  }
  return sum;
}

class HostileDatagrams : public ::testing::Test {
 protected:
  HostileDatagrams()
      : mesh_({"ubt",
               [] {
                 transport::ubt::attr attr("127.0.0.1");
                 attr.settings.minBytes = 0;
                 attr.settings.protocol.warmupOps = 0;
                 attr.settings.protocol.boundScatter = std::chrono::seconds(20);
                 attr.settings.protocol.boundBroadcast =
                     std::chrono::seconds(20);
                 return transport::ubt::CreateDevice(attr);
               }},
              kRanks) {
    std::vector<transport::ubt::PublicKey> keys(kRanks);
    const auto error = mesh_.run([&](const Mesh::ContextPtr& context) {
      auto* const bounded = detail::boundedContext(*context);
      contexts_[context->rank] = bounded;
      ports_[context->rank] = bounded->hello().port;
      keys[context->rank] = bounded->hello().publicKey;
    });
    EXPECT_EQ(error, "");
    epoch_ = transport::ubt::KeyExchange::epoch(keys);
    std::printf("seed %lu\n", static_cast<unsigned long>(kSeed));
  }

  // A datagram of this job in all but its tag.
  ubt::PacketHeader forged() {
    ubt::PacketHeader header;
    header.type =
        random_() % 2 ? ubt::PacketType::kData : ubt::PacketType::kControl;
    header.source = 1;
    header.destination = 0;
    header.epoch = epoch_;
    header.number = random_() % 1000;
    if (header.type == ubt::PacketType::kControl) {
      header.number |= ubt::PacketHeader::kControlNumber;
    }
    header.tag = random_();
    return header;
  }

  Bytes bytesOf(const ubt::PacketHeader& header, size_t payloadBytes) {
    Bytes bytes(ubt::PacketHeader::kBytes + payloadBytes);
    header.encode(bytes.data());
    for (size_t i = ubt::PacketHeader::kBytes; i < bytes.size(); i++) {
      bytes[i] = static_cast<std::byte>(random_());
    }
    return bytes;
  }

  Bytes noise(size_t length) {
    Bytes bytes(length);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random_());
    }
    bytes[0] = std::byte{0xff};  // no version of ours
    return bytes;
  }

  // One of each kind, to rank 0.
  void attackOnce() {
    stranger_.send(ports_[0], noise(1 + random_() % 2000));
    Bytes truncated = bytesOf(forged(), 0);
    truncated.resize(1 + random_() % (truncated.size() - 1));
    stranger_.send(ports_[0], truncated);
    stranger_.send(ports_[0], bytesOf(forged(), random_() % 1000));
    ubt::PacketHeader header = forged();
    header.epoch ^= 1 + random_() % 1000;
    stranger_.send(ports_[0], bytesOf(header, 100));
    header = forged();
    header.destination = 2;
    stranger_.send(ports_[0], bytesOf(header, 100));
    header = forged();
    header.source = kRanks + random_() % 1000;
    stranger_.send(ports_[0], bytesOf(header, 100));
  }

  uint64_t counted(int rank, Counter counter) {
    return contexts_[rank]->counters().get(counter);
  }

  Mesh mesh_;
  test::UdpPort stranger_;
  std::mt19937_64 random_{kSeed};
  transport::ubt::Context* contexts_[kRanks] = {};
  uint16_t ports_[kRanks] = {};
  uint64_t epoch_ = 0;
};

TEST_F(HostileDatagrams, AreCountedByNameAndChangeNothing) {
  // Ranks may have spoken before all had opened their sessions.
  const uint64_t epochsBefore = counted(0, Counter::kUnknownEpoch);
  std::atomic<bool> attacked{false};
  std::thread attacker([&] {
    for (int round = 0; round < kRounds; round++) {
      attackOnce();
      // Not more at a time than the socket's buffer holds.
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    attacked = true;
  });
  const auto error = mesh_.run([&](const Mesh::ContextPtr& context) {
    std::vector<float> values(kElements);
    BoundedTransposeAllreduce<float> algorithm(
        context, {values.data()}, kElements);
    std::vector<float> go(1);
    do {
      for (size_t i = 0; i < kElements; i++) {
        values[i] = valueAt(context->rank, i);
      }
      algorithm.run();
      ASSERT_TRUE(algorithm.report().has_value());
      EXPECT_EQ(algorithm.report()->pairsMissing, 0u);
      for (size_t i = 0; i < kElements; i++) {
        ASSERT_EQ(values[i], sumAt(i)) << i;
      }
      // Rank 0 decides for all whether to go on.
      go[0] = context->rank == 0 && !attacked ? 1 : 0;
      TransposeAllreduce<float>(context, {go.data()}, 1).run();
    } while (go[0] > 0);
  });
  attacker.join();
  EXPECT_EQ(error, "");

  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (counted(0, Counter::kWrongRank) < 2 * kRounds &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(counted(0, Counter::kMalformed), 2u * kRounds);
  EXPECT_EQ(counted(0, Counter::kBadTag), 1u * kRounds);
  EXPECT_EQ(counted(0, Counter::kUnknownEpoch) - epochsBefore, 1u * kRounds);
  EXPECT_EQ(counted(0, Counter::kWrongRank), 2u * kRounds);
  for (const int other : {1, 2}) {
    EXPECT_EQ(counted(other, Counter::kMalformed), 0u);
    EXPECT_EQ(counted(other, Counter::kBadTag), 0u);
    EXPECT_EQ(counted(other, Counter::kWrongRank), 0u);
  }
  EXPECT_FALSE(stranger_.hasReceived());
}

// Recorded datagrams ---------------------------------------------------------

// Two ranks on wires that remember what they carried.
class RecordedDatagrams : public ::testing::Test {
 protected:
  struct Host {
    Host() : endpoint(ubt::Endpoint::Limits{}, ubt::reductionKernels()) {}
    ubt::Endpoint endpoint;
    ubt::Session* session = nullptr;
    std::vector<float> values = std::vector<float>(kElements);
    std::vector<Bytes> heard;
  };

  static ubt::Session::Setup setup(int rank, uint64_t epoch, uint8_t key) {
    ubt::Session::Setup setup;
    setup.rank = rank;
    setup.size = 2;
    setup.epoch = epoch;
    setup.slotBytesMax = 1408;
    setup.windowBytes.assign(2, 1 << 20);
    setup.keys.resize(2);
    for (ubt::PeerKeys& keys : setup.keys) {
      keys.send.fill(static_cast<uint8_t>(key + rank));
      keys.receive.fill(static_cast<uint8_t>(key + 1 - rank));
    }
    setup.options.warmupOps = 0;
    setup.options.boundScatter = setup.options.boundBroadcast =
        std::chrono::seconds(1);
    return setup;
  }

  // Runs one op to its end; each datagram is fed `times` times.
  void runOp(Host (&hosts)[2], int times) {
    ubt::OpShape shape;
    shape.elements = kElements;
    shape.fingerprint = ubt::Options().fingerprint();
    ubt::OpId ids[2];
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
      const ubt::OpReport report = hosts[rank].session->leave(now_, ids[rank]);
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
      ubt::OutPacket out;
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

  ubt::TimePoint now_{std::chrono::seconds(1)};
};

TEST_F(RecordedDatagrams, FedTwiceAreCountedAndChangeNothing) {
  Host hosts[2];
  for (int rank = 0; rank < 2; rank++) {
    hosts[rank].session = hosts[rank].endpoint.open(setup(rank, 1, 40));
  }
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

TEST_F(RecordedDatagrams, OfOpsThatAreOverAreReplays) {
  Host hosts[2];
  for (int rank = 0; rank < 2; rank++) {
    hosts[rank].session = hosts[rank].endpoint.open(setup(rank, 1, 40));
  }
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

TEST_F(RecordedDatagrams, OfAnotherRunAreRejected) {
  Host recorded[2];
  Host hosts[2];
  Host sameEpoch[2];
  for (int rank = 0; rank < 2; rank++) {
    recorded[rank].session = recorded[rank].endpoint.open(setup(rank, 1, 40));
    hosts[rank].session = hosts[rank].endpoint.open(setup(rank, 2, 50));
    sameEpoch[rank].session = sameEpoch[rank].endpoint.open(setup(rank, 1, 60));
  }
  runOp(recorded, 1);
  for (const Bytes& datagram : recorded[0].heard) {
    hosts[0].endpoint.packetIn(now_, datagram.data(), datagram.size());
    sameEpoch[0].endpoint.packetIn(now_, datagram.data(), datagram.size());
  }
  EXPECT_EQ(counted(hosts[0], Counter::kUnknownEpoch),
            recorded[0].heard.size());
  EXPECT_EQ(counted(sameEpoch[0], Counter::kBadTag), recorded[0].heard.size());
  for (Host* const host : {&hosts[0], &sameEpoch[0]}) {
    EXPECT_EQ(host->endpoint.shared().arena.heldBytes(), 0u);
    EXPECT_EQ(host->session->opsHeld(), 0u);
    ubt::OutPacket out;
    EXPECT_EQ(host->endpoint.packetOut(now_, &out), nullptr);  // no answer
  }
  runOp(hosts, 1);
  runOp(sameEpoch, 1);
}

TEST_F(RecordedDatagrams, TruncatedAnywhereAreRejected) {
  Host hosts[2];
  for (int rank = 0; rank < 2; rank++) {
    hosts[rank].session = hosts[rank].endpoint.open(setup(rank, 1, 40));
  }
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
  // A data packet's tag covers its header: it is its length that is wrong,
  // or, for results, its op that nobody has announced.
  EXPECT_EQ(counted(fresh, Counter::kMalformed) +
                counted(fresh, Counter::kBadTag) +
                counted(fresh, Counter::kDuplicateData) +
                counted(fresh, Counter::kMismatched) +
                counted(fresh, Counter::kUnannounced),
            fed);
  EXPECT_EQ(fresh.endpoint.shared().arena.heldBytes(), 0u);
  EXPECT_EQ(fresh.session->opsHeld(), 0u);
}

}  // namespace
}  // namespace gloo
