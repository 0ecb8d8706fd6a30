// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/pacing/timer_lateness.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/sim/faults.h"

namespace ubt::sim {

// All options of one simulated job. The same options give the same run, bit by
// bit.
struct SimOptions {
  uint64_t seed = 1;

  // The job.
  int ranks = 4;
  // Number of groups of equal size. Most ops run in them, with oneShape all.
  // 1: none does.
  int groups = 1;
  int contexts = 1;
  int threads = 1;  // callers per context and rank, each with own tags
  int ops = 30;     // ops of each caller
  uint32_t elementsMax = 40000;
  bool oneShape = false;  // every op has elementsMax float32 elements
  size_t slotBytes = 1440;
  size_t arenaBytes = 8 << 20;
  uint64_t windowBytes = 256 << 10;  // maximum; the minimum:
  uint64_t windowBytesMin = 8 << 10;
  Options protocol;
  // Whether sums of inputs depend on the order of addition. If not, inputs are
  // small integers.
  bool roughInputs = false;
  // Whether results are checked, and whether SimResult::error is filled in.
  // Both take time.
  bool checkResults = true;
  bool measureError = false;
  // Buckets hold no data and nothing is summed, for jobs whose data would not
  // fit this machine. REQUIRES !checkResults and !measureError.
  bool noData = false;
  // Varies the times of events, but not the data.
  uint64_t timingSeed = 0;

  // The network. Every rank has a link to one switch.
  double loss = 0;  // loss probability of a datagram, from lossAt for lossFor
  Duration lossAt{0};
  Duration lossFor = std::chrono::hours(1);
  double duplicate = 0;  // probability of a duplicate
  double reorder = 0;    // probability of an extra delay, up to reorderBy
  Duration reorderBy = std::chrono::microseconds(300);
  // Probability that a stranger's datagram comes along with a datagram: from
  // another epoch or job, for another rank, or of an unknown version.
  double strangers = 0;
  Duration delay = std::chrono::microseconds(20);
  // Extra delay of the path from one rank to another: median pathDelay, 99th
  // percentile pathTail times pathDelay. It is lognormal, and drawn anew for
  // each pair of ranks in every pathEvery.
  Duration pathDelay{0};
  double pathTail = 1;
  Duration pathEvery = std::chrono::milliseconds(10);
  double bytesPerSecond = 1.25e9;
  uint64_t queueBytes = 512 << 10;
  // If the switch's queue to a host is longer than this, data is marked as
  // congested (ECN). Zero: never.
  uint64_t markBytes = 0;
  uint64_t socketBytes = 128 << 10;  // bytes that a socket holds for its link
  // Data for one peer and the control behind it travel as one train of at most
  // this many bytes. Zero: each datagram travels alone.
  uint64_t trainBytes = 0;
  // One bit for each rank that multicast does not reach, from deafAt on, for
  // deafTime.
  uint32_t deafRanks = 0;
  Duration deafAt{0};
  Duration deafTime = std::chrono::hours(1);
  // The link of each host stands still now and then, for stallLeast to
  // stallMost. stallGap: the mean time between two stalls; zero: never.
  Duration stallGap{0};
  Duration stallLeast{0};
  Duration stallMost{0};
  // Once per burstEvery, the hosts of burstSources ranks send to the host of
  // another rank, each with burstShare of the link rate. Zero: no bursts.
  Duration burstEvery{0};
  Duration burstLeast{0};
  Duration burstMost{0};
  int burstSources = 1;
  double burstShare = 0;
  // From partitionAt on, for partitionFor, nothing gets from or to rank 0.
  Duration partitionAt{0};
  Duration partitionFor{0};

  // Whether connections of exact algorithms are TCP's (TcpFlow), or ideal.
  bool tcp = false;

  // The ranks.
  double lateOps = 0;  // probability that a caller enters late
  int lateRank = -1;   // if not -1, only callers of this rank do
  Duration lateBy = std::chrono::milliseconds(200);
  // Every other thread begins late by lateBy. At odd ranks it is the other
  // half.
  bool opposite = false;
  // How often a host sends and looks at its timers, apart from its callers'
  // actions. Zero: whenever a datagram comes in.
  Duration wakesEvery{0};
  // How late a host believes that it may notice a deadline. It does not measure
  // it.
  Duration lateness = TimerLateness::kUnmeasured;
  int slow = -1;  // this rank takes slowBy for each incoming datagram
  Duration slowBy{0};
  int neverEnters = -1;  // this rank's callers never call
  int crashes = -1;      // this rank vanishes at crashAt
  // When the rank vanishes. Its peers hear of it a little later.
  Duration crashAt{0};
  Duration crashSeenAfter = std::chrono::milliseconds(5);
  Duration crashSeenSpread{0};  // extra delay of that per rank
  // How late rank 0 joins. Before that it hears nothing.
  Duration deafFor{0};
  int disagrees = -1;       // this rank contributes twice the elements
  int otherwise = -1;       // this rank differs in whether it seals
  bool mixedForms = false;  // every other rank never transforms
  bool errorEnds = false;   // a caller that gets an error ends its context

  Faults faults;

  // The options of one rank's context.
  Options protocolOf(int rank) const;
  uint64_t windowOf(int rank) const;
  double bytesPerSecondOf(int rank) const;

  // How long a rank's caller computes before an op: a moment, or longer. It
  // depends on the seeds and on these alone, so algorithms meet the same late
  // ranks.
  Duration computing(int rank, int caller, int op) const;

  // Whether the time of an op at this rank counts. That of the late rank does
  // not.
  bool isTimed(int rank) const { return rank != lateRank; }

  // The groups of an op with this shape.
  RankGroups groupsOf(const OpShape& shape) const {
    return RankGroups::equal(ranks, shape.hierarchical() ? groups : 1);
  }

  // Whether this rank may contribute a transformed shard.
  bool mayTransform(int rank) const {
    return protocol.hadamard != Hadamard::kNever &&
           !(mixedForms && rank % 2 == 1);
  }

  // Whether a datagram of the job may get lost, apart from full queues of
  // links.
  bool losesDatagrams() const;
  // Whether a rank may halt the job because too much data is missing, such as
  // sums of groups that are not repaired.
  bool mayHalt() const;
  // Whether the arena is smaller than a user may make it.
  bool arenaIsSmall() const { return arenaBytes < (1 << 20); }
  // Whether calls may time out because the arena is full. This takes several
  // threads, or lost datagrams.
  bool mayLackRoom() const;
  // The ranks that repair nothing, one bit each.
  uint64_t withoutRepair() const;
  // The ranks that may drop results which another rank needs, one bit each.
  // Without repair a rank keeps only the slots that fit its arena. Another rank
  // may need all of them, if only because it still warms up: ranks may end
  // warm-up with different ops.
  uint64_t mayDropResults() const;

  // Whether all data that ranks send after they entered arrives within the
  // bounds. Then every sum holds most ranks. Four cases are excluded. A learned
  // bound may be too short, because only owners that repair results and have no
  // groups wait for a majority then. The paper's loops never wait for one.
  // Without repair, a group's sum that overtakes the announcement is dropped
  // for good. And the data of all callers takes longer than the smallest bounds
  // if the window is small, or if multicast may use a part of it.
  bool mostRanksCome() const {
    // Fewer windows if they are smaller than a user may set.
    const uint64_t windowsMost =
        windowBytes < (64 << 10) || protocol.multicast ? 4 : 16;
    const uint64_t bytes =
        sizeof(double) * elementsMax * uint64_t(threads) * uint64_t(contexts);
    return bytes <= windowsMost * windowBytes && !losesDatagrams() &&
           !faults.delay() && crashes < 0 && disagrees < 0 && otherwise < 0 &&
           deafFor == Duration{0} &&
           (protocol.loops == Loops::kMeasured ||
            protocol.boundScatter > Duration{0}) &&
           (groups == 1 || protocol.repair != RepairPolicy::kNone) &&
           !protocol.zeroesMajority() && arenaBytes >= (1 << 20) &&
           bytesPerSecond >= 1e9 &&
           (protocol.boundScatter > Duration{0}
                ? protocol.warmupOps > 0 ||
                      protocol.boundScatter >= std::chrono::milliseconds(3)
                : groups == 1 && withoutRepair() == 0);
  }

  // Whether every contribution arrives within the bounds unless a queue drops
  // it: no rank is late, and the bounds are generous.
  bool nothingMayBeMissing() const {
    return mostRanksCome() && lateOps == 0 && !opposite && threads == 1 &&
           neverEnters < 0 && windowBytes >= (256 << 10) &&
           protocol.boundScatter >= std::chrono::milliseconds(5) &&
           elementsMax <= 20000;
  }

  // The longest time until a rank's full socket has room.
  Duration fullSocket(int rank) const;
  // How long the slow rank takes for all data that other ranks may send before
  // they have to wait for it: the ops of all callers and of the lead.
  Duration backlogOfSlow() const;

  // The longest time of a call that yields a result. A stall that ends before
  // the timeout is found only by this. `bounds`: the sum over the stages of its
  // op, or of an op that it waits for.
  Duration slowestCall(Duration bounds) const;

  // One line with the name and value of every member.
  std::string str() const;
  // Parses the output of str(), or parts of it. Throws std::invalid_argument
  // that names the part that it does not understand.
  static SimOptions parse(const std::string& text);

  // Draws a job and its faults from a seed.
  static SimOptions fromSeed(uint64_t seed);
};

}  // namespace ubt::sim
