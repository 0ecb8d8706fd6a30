// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/key_exchange.h"

#include <gtest/gtest.h>

#include <set>

namespace ubt {
namespace {

constexpr int kRanks = 3;

struct Job {
  Job() {
    for (const KeyExchange& exchange : exchanges) {
      all.push_back(exchange.publicKey());
    }
  }
  std::vector<PeerKeys> keysOf(int rank, const std::string& secret) {
    return exchanges[rank].derive(rank, all, secret);
  }

  KeyExchange exchanges[kRanks];
  std::vector<PublicKey> all;
};

TEST(KeyExchange, PeersShareAKeyPerDirectionAndUse) {
  Job job;
  std::set<AuthKey> tags;
  std::set<SealKey> seals;
  for (int rank = 0; rank < kRanks; rank++) {
    const auto mine = job.keysOf(rank, "secret");
    for (int peer = 0; peer < kRanks; peer++) {
      if (peer == rank) {
        continue;
      }
      const auto theirs = job.keysOf(peer, "secret");
      EXPECT_EQ(mine[peer].send, theirs[rank].receive);
      EXPECT_EQ(mine[peer].sendSeal, theirs[rank].receiveSeal);
      EXPECT_EQ(mine[peer].sendMask, theirs[rank].receiveMask);
      tags.insert(mine[peer].send);
      tags.insert(mine[peer].sendMask);
      seals.insert(mine[peer].sendSeal);
      // Neither key reveals the other.
      EXPECT_FALSE(std::equal(mine[peer].send.begin(),
                              mine[peer].send.end(),
                              mine[peer].sendSeal.begin()));
    }
  }
  EXPECT_EQ(tags.size(), 12u);
  EXPECT_EQ(seals.size(), 6u);
}

TEST(KeyExchange, AnotherSecretOrContextHasOtherKeys) {
  Job job;
  Job other;
  std::set<SealKey> seals{job.keysOf(0, "one")[1].sendSeal,
                          job.keysOf(0, "two")[1].sendSeal,
                          job.keysOf(0, "")[1].sendSeal,
                          other.keysOf(0, "one")[1].sendSeal};
  EXPECT_EQ(seals.size(), 4u);
  // The same two ranks, with another third rank.
  const auto before = job.keysOf(0, "one")[1].sendSeal;
  job.all[2] = other.all[2];
  EXPECT_NE(job.keysOf(0, "one")[1].sendSeal, before);
  EXPECT_NE(KeyExchange::epoch(job.all), KeyExchange::epoch(other.all));
}

}  // namespace
}  // namespace ubt
