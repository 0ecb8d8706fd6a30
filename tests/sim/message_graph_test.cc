// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/message_graph.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace ubt::sim {
namespace {

TEST(MessageGraph, EachRankSendsTheBytesOfTheAlgorithm) {
  constexpr uint64_t kBytes = 1 << 24;
  for (const char* name : MessageGraph::kNames) {
    const MessageGraph graph = MessageGraph::of(name, 16, kBytes, 4);
    std::vector<double> sent(16);
    for (const auto& message : graph.messages()) {
      sent[message.from] += static_cast<double>(message.bytes) / kBytes;
      EXPECT_NE(message.from, message.to);
    }
    const double mean = std::accumulate(sent.begin(), sent.end(), 0.0) / 16;
    // A quarter of the data to three members, its sum to three co-owners, and
    // the result to the three members.
    const double expected =
        std::string(name) == "hierarchical_transpose" ? 9.0 / 4 : 30.0 / 16;
    EXPECT_NEAR(mean, expected, 1e-3) << name;
  }
}

TEST(MessageGraph, EveryGateOpens) {
  for (const char* name : MessageGraph::kNames) {
    for (const int ranks : {4, 8, 64}) {
      const MessageGraph graph = MessageGraph::of(name, ranks, 1 << 20, 4);
      std::vector<uint32_t> opens(graph.gates().size());
      for (const auto& message : graph.messages()) {
        if (message.opens != MessageGraph::kNone) {
          opens[message.opens]++;
        }
      }
      for (const auto& gate : graph.gates()) {
        if (gate.opens != MessageGraph::kNone) {
          opens[gate.opens]++;
        }
      }
      for (size_t gate = 0; gate < opens.size(); gate++) {
        EXPECT_EQ(opens[gate], graph.gates()[gate].arrivals) << name;
      }
    }
  }
}

// Gloo's ring has room for two chunks at a receiver.
TEST(MessageGraph, AChunkLeavesOnceTheChunkBeforeTheLastIsUsed) {
  const MessageGraph graph = MessageGraph::of("ring_chunked", 4, 1 << 20, 1);
  int chunks = 0;
  int notices = 0;
  for (const auto& message : graph.messages()) {
    if (message.from != 0 && message.to != 0) {
      continue;
    }
    const bool forward = message.from == 0 && message.to == 1;
    const bool backward = message.from == 1 && message.to == 0;
    if (forward) {
      EXPECT_EQ(message.bytes, (1u << 20) / 8);
      EXPECT_EQ(message.waitsFor == MessageGraph::kNone, chunks < 2);
      EXPECT_LE(chunks++, notices + 1);
    } else if (backward) {
      EXPECT_EQ(message.bytes, 4u);
      notices++;
    }
  }
  EXPECT_EQ(chunks, 12);
  EXPECT_EQ(notices, 11);
}

TEST(MessageGraph, OneRankSendsNothing) {
  for (const char* name : MessageGraph::kNames) {
    EXPECT_TRUE(MessageGraph::of(name, 1, 1 << 20, 1).messages().empty())
        << name;
  }
}

TEST(MessageGraph, NamesUnsupportedJobs) {
  EXPECT_THROW(MessageGraph::of("rign", 4, 1, 1), std::invalid_argument);
  for (const char* name : {"halving_doubling", "bcube"}) {
    EXPECT_THROW(MessageGraph::of(name, 6, 1, 1), std::invalid_argument);
  }
  EXPECT_THROW(MessageGraph::of("hierarchical_transpose", 6, 1, 4),
               std::invalid_argument);
}

}  // namespace
}  // namespace ubt::sim
