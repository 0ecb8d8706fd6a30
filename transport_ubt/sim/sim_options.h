// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/rank_groups.h"
#include "transport_ubt/core/pacing/timer_lateness.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/sim/faults.h"

namespace ubt::sim {

// One simulated job, in full: the same options give the same run, bit by bit.
struct SimOptions {
  uint64_t seed = 1;

  // The job.
  int ranks = 4;
  // Of as many ranks each, in which most ops run; 1: none does.
  int groups = 1;
  int contexts = 1;
  int threads = 1;  // callers per context and rank, each with its tags
  int ops = 30;     // of each caller
  uint32_t elementsMax = 40000;
  bool oneShape = false;  // every op has elementsMax float32
  size_t slotBytes = 1440;
  size_t arenaBytes = 8 << 20;
  uint64_t windowBytes = 256 << 10;  // at most; at least:
  uint64_t windowBytesMin = 8 << 10;
  bool windowAdapts = true;
  bool trainsAdapt = true;
  Options protocol;
  // Inputs whose sums depend on the order they are added in. Otherwise they
  // are small integers.
  bool roughInputs = false;
  // Whether results are checked, and whether SimResult::error is filled in:
  // both take time.
  bool checkResults = true;
  bool measureError = false;
  // No rank's bucket holds anything, and nothing is summed: for jobs whose data
  // would not fit this machine. REQUIRES neither of those two.
  bool noData = false;
  // Varies when things happen, but not what is computed.
  uint64_t timingSeed = 0;

  // The network: every rank has a link to one switch.
  double loss = 0;  // probability, of each datagram, from lossAt for lossFor
  Duration lossAt{0};
  Duration lossFor = std::chrono::hours(1);
  double duplicate = 0;  // likewise
  double reorder = 0;    // likewise: an extra delay of up to reorderBy
  Duration reorderBy = std::chrono::microseconds(300);
  // Probability that somebody else sends a datagram, too: one of another epoch
  // or job, for another rank, or of no known version.
  double strangers = 0;
  Duration delay = std::chrono::microseconds(20);
  // On top of it, what else the way from one rank to another takes: so much in
  // the middle, pathTail times as much in one of a hundred, drawn anew (of a
  // lognormal distribution) for each pair of ranks in every such time.
  Duration pathDelay{0};
  double pathTail = 1;
  Duration pathEvery = std::chrono::milliseconds(10);
  double bytesPerSecond = 1.25e9;
  uint64_t queueBytes = 512 << 10;
  uint64_t socketBytes = 128 << 10;  // what a socket lets wait for its link
  // A bit for each rank that multicast does not reach, from deafAt on, for
  // deafTime.
  uint32_t deafRanks = 0;
  Duration deafAt{0};
  Duration deafTime = std::chrono::hours(1);
  // Once in every such time burstSources ranks' hosts send to another one's,
  // each that share of the link rate. Zero: nobody does.
  Duration burstEvery{0};
  Duration burstLeast{0};
  Duration burstMost{0};
  int burstSources = 1;
  double burstShare = 0;
  // From partitionAt on, for partitionFor, rank 0 reaches nobody.
  Duration partitionAt{0};
  Duration partitionFor{0};

  // The ranks.
  double lateOps = 0;  // probability that a caller enters late,
  int lateRank = -1;   // one of this rank, if it is one
  Duration lateBy = std::chrono::milliseconds(200);
  // Every other thread begins late by as much; at odd ranks, the others.
  bool opposite = false;
  // A host sends and looks at its timers so often, beside what its callers do;
  // zero: whenever something comes in.
  Duration wakesEvery{0};
  // How late it believes that it may notice a deadline; it measures nothing.
  Duration lateness = TimerLateness::kUnmeasured;
  int slow = -1;  // this rank takes slowBy for each datagram that comes in
  Duration slowBy{0};
  int neverEnters = -1;  // this rank's callers never call
  int crashes = -1;      // this rank vanishes ...
  Duration crashAt{0};   // ... then; its peers hear of it a little later
  Duration crashSeenAfter = std::chrono::milliseconds(5);
  Duration crashSeenSpread{0};  // later by this at each further rank
  Duration deafFor{0};          // rank 0 joins so late: it hears nothing before
  int disagrees = -1;           // this rank brings twice the elements
  int otherwise = -1;           // this rank seals if and only if others do not
  bool mixedForms = false;      // every other rank never transforms
  bool errorEnds = false;       // a caller that gets an error ends its context

  Faults faults;

  // What a rank's context is told.
  Options protocolOf(int rank) const;
  uint64_t windowOf(int rank) const;
  double bytesPerSecondOf(int rank) const;

  // How long that rank's caller computes before an op: a moment, or longer.
  Duration computing(int rank, std::mt19937_64& random) const;

  // Whether the time of an op at that rank counts: it is not the late one's.
  bool isTimed(int rank) const { return rank != lateRank; }

  // In which an op of that shape runs.
  RankGroups groupsOf(const OpShape& shape) const {
    return RankGroups::equal(ranks, shape.hierarchical() ? groups : 1);
  }

  // Whether that rank may contribute a transformed shard.
  bool mayTransform(int rank) const {
    return protocol.hadamard != Hadamard::kNever &&
           !(mixedForms && rank % 2 == 1);
  }

  // Whether a datagram of the job may get lost, links' queues apart.
  bool losesDatagrams() const;
  // Whether so much may be missing that a rank halts the job: as where groups'
  // sums are not repaired and take longer than was learned, or where small ops
  // do not end early, so that who has lost a packet is late for the next op.
  bool mayHalt() const;
  // Smaller than a user may make it.
  bool arenaIsSmall() const { return arenaBytes < (1 << 20); }
  // Whether calls may time out because the arena is full: with several threads,
  // or where datagrams get lost.
  bool mayLackRoom() const;
  // The ranks that repair nothing; a bit each.
  uint64_t withoutRepair() const;
  // Those that may drop results which another rank needs; a bit each. Without
  // repair a rank keeps only the slots that its arena has room for. Another
  // rank may need all of them, even if only while it warms up: not all ranks
  // end that with the same op.
  uint64_t mayDropResults() const;

  // Whether all that ranks send after they entered arrives within the bounds.
  // Then every sum holds most ranks. Three cases are excluded. A bound that was
  // learned may be too short: only owners without groups that repair results
  // wait for a majority then. Without repair, a group's sum that overtakes the
  // announcement is dropped for good. And the data of all callers takes longer
  // than the least bounds if the window is small, or if multicast may use a
  // part of it.
  bool mostRanksCome() const {
    // Of windows that are smaller than any that a user may set: fewer.
    const uint64_t windowsMost =
        windowBytes < (64 << 10) || protocol.multicast ? 4 : 16;
    const uint64_t bytes =
        sizeof(double) * elementsMax * uint64_t(threads) * uint64_t(contexts);
    return bytes <= windowsMost * windowBytes && !losesDatagrams() &&
           !faults.delay() && crashes < 0 && disagrees < 0 && otherwise < 0 &&
           deafFor == Duration{0} &&
           (groups == 1 || protocol.repair != RepairPolicy::kNone) &&
           (protocol.zeroLoss == 0 || protocol.zeroLoss >= 0.5) &&
           arenaBytes >= (1 << 20) && bytesPerSecond >= 1e9 &&
           (protocol.boundScatter > Duration{0}
                ? protocol.warmupOps > 0 ||
                      protocol.boundScatter >= std::chrono::milliseconds(3)
                : groups == 1 && withoutRepair() == 0);
  }

  // Whether every contribution arrives within the bounds, unless a queue drops
  // it: no rank is late, and the bounds are generous.
  bool nothingMayBeMissing() const {
    return mostRanksCome() && lateOps == 0 && !opposite && threads == 1 &&
           neverEnters < 0 && windowBytes >= (256 << 10) &&
           protocol.boundScatter >= std::chrono::milliseconds(5) &&
           elementsMax <= 20000;
  }

  // How long a rank waits at most until its full socket has room.
  Duration fullSocket(int rank) const;
  // How long the slow rank takes for all that other ranks may send it before
  // they have to wait for it: the ops of all callers, and of the lead.
  Duration backlogOfSlow() const;

  // What a call that yields a result takes at most: a stall that ends before
  // the timeout shows nowhere else. `bounds`: of its op's stages, or
  // of those of an op that it waits for, together.
  Duration slowestCall(Duration bounds) const;

  // One line that holds every member, and what it says.
  std::string str() const;
  // Of what str() gave, or parts of it. Throws std::invalid_argument that names
  // what it does not understand.
  static SimOptions parse(const std::string& text);

  // What a job does and meets, drawn from a seed.
  static SimOptions fromSeed(uint64_t seed);
};

}  // namespace ubt::sim
