// SPDX-License-Identifier: Apache-2.0
//
// Strangers send bytes to the ranks' UDP ports while allreduces run. Each
// datagram is dropped and counted under its name. None is answered, and no
// result changes.
//
//   HOSTILE_DATAGRAMS=1000000 bazel test
//   //tests/integration:hostile_datagrams_test

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/bounded_transpose_allreduce.h"
#include "tests/conformance/local_ranks.h"
#include "tests/integration/udp_port.h"
#include "tests/integration/udp_tap.h"
#include "transport_ubt/bounded/key_exchange.h"
#include "transport_ubt/core/wire/packet_header.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace {

using testing::LocalRanks;
using ubt::Counter;
using Bytes = std::vector<std::byte>;

constexpr int kRanks = 3;
constexpr size_t kElements = 50000;
constexpr int kRounds = 100;
constexpr uint64_t kSeed = 20251;

// The number of datagrams in the second test.
uint64_t datagrams() {
  const char* const value = std::getenv("HOSTILE_DATAGRAMS");
  return value == nullptr ? 20000 : std::strtoull(value, nullptr, 10);
}

// Resident memory of this process.
size_t residentBytes() {
  size_t pages = 0;
  std::ifstream file("/proc/self/statm");
  file >> pages >> pages;
  return pages * 4096;
}

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

class HostileDatagrams : public ::testing::TestWithParam<ubt::AuthMode> {
 protected:
  HostileDatagrams()
      : mesh_({"ubt",
               [] {
                 transport::ubt::attr attr("127.0.0.1");
                 attr.settings.minBytes = 0;
                 attr.settings.protocol.auth = GetParam();
                 attr.settings.protocol.order = ubt::SumOrder::kRank;
                 // A flood may fill the socket's buffer. Lost data then comes
                 // again, within the bounds.
                 attr.settings.protocol.repair = ubt::RepairPolicy::kBoth;
                 attr.settings.segmentation = false;  // for UdpTap
                 attr.settings.mtu = 1500;
                 attr.settings.protocol.warmupOps = 0;
                 attr.settings.protocol.boundScatter = std::chrono::seconds(20);
                 attr.settings.protocol.boundBroadcast =
                     std::chrono::seconds(20);
                 return transport::ubt::CreateDevice(attr);
               }},
              kRanks) {
    std::vector<ubt::PublicKey> keys(kRanks);
    const auto error = mesh_.run([&](const LocalRanks::ContextPtr& context) {
      auto* const bounded = detail::boundedContext(*context);
      contexts_[context->rank] = bounded;
      ports_[context->rank] = bounded->hello().port;
      keys[context->rank] = bounded->hello().publicKey;
    });
    EXPECT_EQ(error, "");
    epoch_ = ubt::KeyExchange::epoch(keys);
    std::printf("seed %lu\n", static_cast<unsigned long>(kSeed));
  }

  // A header of this job that is right except for its tag.
  ubt::PacketHeader forged() {
    ubt::PacketHeader header;
    header.type =
        random_() % 2 ? ubt::PacketType::kData : ubt::PacketType::kControl;
    header.sealed = random_() % 2;
    header.source = 1;
    header.context = ubt::PacketHeader::contextOf(epoch_);
    header.number = random_() % 1000;
    if (header.type == ubt::PacketType::kControl) {
      header.number |= ubt::kControlNumber;
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
    bytes[0] = std::byte{0xff};  // not our version
    return bytes;
  }

  // Sends one datagram of each kind to rank 0.
  void attackOnce() {
    stranger_.send(ports_[0], noise(1 + random_() % 2000));
    Bytes truncated = bytesOf(forged(), 0);
    truncated.resize(1 + random_() % (truncated.size() - 1));
    stranger_.send(ports_[0], truncated);
    stranger_.send(ports_[0], bytesOf(forged(), random_() % 1000));
    ubt::PacketHeader header = forged();
    header.context ^= 1 + random_() % 1000;
    stranger_.send(ports_[0], bytesOf(header, 100));
    header = forged();
    header.multicast = true;
    stranger_.send(ports_[0], bytesOf(header, 100));
    header = forged();
    header.source = kRanks + random_() % 1000;
    stranger_.send(ports_[0], bytesOf(header, 100));
  }

  // All ranks sum until `attack`, which runs in its own thread, has returned.
  std::string sumDuring(const std::function<void()>& attack) {
    std::atomic<bool> attacked{false};
    std::thread attacker([&] {
      attack();
      attacked = true;
    });
    std::string error = mesh_.run([&](const LocalRanks::ContextPtr& context) {
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
        // Rank 0 decides for all ranks whether to go on.
        go[0] = context->rank == 0 && !attacked ? 1 : 0;
        TransposeAllreduce<float>(context, {go.data()}, 1).run();
      } while (go[0] > 0);
    });
    attacker.join();
    return error;
  }

  uint64_t counted(int rank, Counter counter) {
    return contexts_[rank]->counters().get(counter);
  }

  LocalRanks mesh_;
  test::UdpPort stranger_;
  std::mt19937_64 random_{kSeed};
  transport::ubt::Context* contexts_[kRanks] = {};
  uint16_t ports_[kRanks] = {};
  uint64_t epoch_ = 0;
};

TEST_P(HostileDatagrams, AreCountedByNameAndChangeNothing) {
  // Packets that ranks send before all sessions are open must arrive first.
  EXPECT_EQ(sumDuring([] {}), "");
  std::vector<ubt::Counters> before;
  for (const auto* const context : contexts_) {
    before.push_back(context->counters());
  }
  const auto came = [&](int rank, Counter counter) {
    return counted(rank, counter) - before[rank].get(counter);
  };
  const auto error = sumDuring([this] {
    for (int round = 0; round < kRounds; round++) {
      attackOnce();
      // No more datagrams at a time than the socket's buffer holds.
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  EXPECT_EQ(error, "");

  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (came(0, Counter::kWrongRank) < 1 * kRounds &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(came(0, Counter::kMalformed), 2u * kRounds);
  EXPECT_EQ(came(0, Counter::kBadTag), 1u * kRounds);
  EXPECT_EQ(came(0, Counter::kUnknownEpoch), 1u * kRounds);
  EXPECT_EQ(came(0, Counter::kNoMulticastKey), 1u * kRounds);
  EXPECT_EQ(came(0, Counter::kWrongRank), 1u * kRounds);
  for (const int other : {1, 2}) {
    EXPECT_EQ(came(other, Counter::kMalformed), 0u);
    EXPECT_EQ(came(other, Counter::kBadTag), 0u);
    EXPECT_EQ(came(other, Counter::kWrongRank), 0u);
  }
  EXPECT_FALSE(stranger_.hasReceived());
}

// An observer repeats datagrams at any later time, or changes one bit. With
// auth=header it changes headers only, because this mode does not cover
// payloads. Meanwhile strangers guess.
TEST_P(HostileDatagrams, RepeatedAndAlteredOnesChangeNothing) {
  test::UdpTap tap(ports_[0]);
  if (!tap.works()) {
    GTEST_SKIP() << "no right to open a packet socket; run as root";
  }
  constexpr size_t kKept = 1000;
  constexpr int kBurst = 16;
  uint64_t repeated = 0;
  uint64_t altered = 0;
  uint64_t guessed = 0;
  size_t before = 0;
  size_t after = 0;
  const auto error = sumDuring([&] {
    std::vector<Bytes> kept;
    Bytes heard;
    while (repeated + altered + guessed < datagrams()) {
      while (tap.next(&heard)) {
        if (heard.empty()) {
          continue;
        }
        if (kept.size() < kKept) {
          kept.push_back(heard);
        } else {
          kept[random_() % kKept] = heard;
        }
      }
      for (int i = 0; i < kBurst && !kept.empty(); i++) {
        Bytes bytes = kept[random_() % kept.size()];
        if (random_() % 2 == 0) {
          const bool covered = GetParam() != ubt::AuthMode::kHeader;
          const size_t end =
              covered ? bytes.size()
                      : std::min(bytes.size(), ubt::PacketHeader::kBytes);
          bytes[random_() % end] ^= static_cast<std::byte>(1 << random_() % 8);
          altered++;
        } else {
          repeated++;
        }
        stranger_.send(ports_[0], bytes);
      }
      attackOnce();
      guessed += 6;
      if (before == 0 && repeated + altered + guessed > datagrams() / 4) {
        before = residentBytes();
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    after = residentBytes();
  });
  EXPECT_EQ(error, "");
  EXPECT_FALSE(stranger_.hasReceived());
  std::printf(
      "%lu repeated, %lu altered, %lu guessed; resident MiB %zu, then "
      "%zu\n",
      static_cast<unsigned long>(repeated),
      static_cast<unsigned long>(altered),
      static_cast<unsigned long>(guessed),
      before >> 20,
      after >> 20);
  EXPECT_LE(after, before + (32 << 20));
  EXPECT_GT(counted(0, Counter::kBadTag), altered / 4);
  EXPECT_GT(counted(0, Counter::kReplayed) +
                counted(0, Counter::kDuplicateData) +
                counted(0, Counter::kLateData) + counted(0, Counter::kBadTag),
            repeated / 2);
}

INSTANTIATE_TEST_SUITE_P(Modes,
                         HostileDatagrams,
                         ::testing::Values(ubt::AuthMode::kHeader,
                                           ubt::AuthMode::kFull,
                                           ubt::AuthMode::kAead));

}  // namespace
}  // namespace gloo
