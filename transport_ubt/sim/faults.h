// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt::sim {

// The faults of a simulated job, one struct each. By default none occurs. Rank
// -1 means no rank. `at` counts from the start of the job.

// Everything that one rank sends to another is lost. The other direction works.
struct Cut {
  int from = -1;
  int to = -1;
  Duration at{0};
  Duration lasting{0};

  bool holds(Duration time) const {
    return from >= 0 && time >= at && time < at + lasting;
  }
};

// A host stands still. Datagrams that come in wait, and are all there at once
// afterwards.
struct Pause {
  int rank = -1;
  Duration at{0};
  Duration lasting{0};
};

// Loss of only one kind of datagram: data, or control with a record of one
// type. The type of sealed control is not visible, so none of it is lost.
struct KindLoss {
  static constexpr int kData = 0;
  int kind = -1;  // kData, or a ControlType
  int from = -1;  // -1: of all ranks
  double share = 0;
};

// Ranks that break the rules of credit, from `at` on. `stingy` never raises the
// credit that it gives. `greedy` sends as if its own had no limit.
struct FalseCredit {
  int stingy = -1;
  int greedy = -1;
  Duration at{0};
};

// The network marks this share of trains as congested, although no queue is
// long.
struct Marks {
  double share = 0;
};

// A datagram comes a second time, up to `within` later.
struct Replays {
  double share = 0;
  Duration within{0};
};

// The first result that reaches the rank after `at` has a wrong byte that the
// tag does not cover.
struct WrongResult {
  int rank = -1;
  Duration at{0};
};

// Datagrams above bytesMax are lost on the path between two ranks.
struct NarrowPath {
  int one = -1;
  int other = -1;
  uint64_t bytesMax = 0;
  Duration at{0};
  Duration lasting{0};
};

// The socket loses a datagram or, if `later` is set, takes it that much later.
struct SendFailures {
  double share = 0;
  Duration later{0};
};

// The CPU time of a host for each train that arrives and for each datagram in
// it, and how many bytes may wait for the CPU or for the end of a pause. A
// train is a run of waiting datagrams from one rank. Zero: no time, any number
// of bytes.
struct Inbox {
  Duration perTrain{0};
  Duration perDatagram{0};
  uint64_t bytesMax = 0;
  // This rank's host reads its socket only once in pollsEvery. REQUIRES
  // pollsEvery > 0 unless polls is -1.
  int polls = -1;
  Duration pollsEvery{0};
};

// The clocks of hosts differ by up to `offset` and run fast or slow by up to
// the fraction `rate`. They are slewed: in each period of `slewEvery` they run
// faster by `slew` for one half and slower for the other.
struct Clocks {
  Duration offset{0};
  double rate = 0;
  double slew = 0;
  Duration slewEvery{0};
};

// A rank leaves out one op. Only for callers that use a new tag each time; for
// others, all later ops would be different ones.
struct Skip {
  int rank = -1;
  int op = 0;
};

// A rank ends a context after `at`, once its callers have returned from their
// current calls. If it lingers, it first waits for ranks that still need it.
struct Closure {
  int rank = -1;
  Duration at{0};
  bool lingers = false;
};

// A rank's mesh reports that the connection to a peer is closed. If `both`, the
// peer's mesh reports the same.
struct MeshBreak {
  int rank = -1;
  int peer = -1;
  Duration at{0};
  bool both = false;
};

// A second rank vanishes `secondAfter` after the first. If `restarts`, the
// first one's host runs a process of the job's next run, `restartAfter` after
// the crash.
struct AfterCrash {
  int second = -1;
  Duration secondAfter{0};
  bool restarts = false;
  Duration restartAfter{0};
};

// Ranks whose bits are set have other settings than the rest.
struct Unlike {
  uint32_t windowRanks = 0;
  uint64_t windowBytes = 64 << 10;
  uint32_t linkRanks = 0;
  double linkShare = 0.5;  // a fraction of the others' rate
  uint32_t policyRanks = 0;
  RepairPolicy repair = RepairPolicy::kBroadcast;
  SumOrder order = SumOrder::kArrival;
  uint32_t warmupOps = 20;
  uint32_t leadOps = 4;
};

struct Faults {
  std::array<Cut, 2> cuts;
  std::array<Pause, 3> pauses;
  KindLoss kindLoss;
  FalseCredit falseCredit;
  Marks marks;
  Replays replays;
  double corruption = 0;  // probability that a datagram has a wrong byte
  WrongResult wrongResult;
  NarrowPath narrowPath;
  SendFailures sends;
  Inbox inbox;
  Clocks clocks;
  Skip skip;
  Closure closure;
  MeshBreak meshBreak;
  AfterCrash afterCrash;
  Unlike unlike;
  bool sharedArena = false;  // ranks 0 and 1 share one limit

  // Whether a datagram of the job may get lost.
  bool loseDatagrams() const {
    return cuts[0].from >= 0 || cuts[1].from >= 0 || kindLoss.share > 0 ||
           corruption > 0 || narrowPath.one >= 0 ||
           (sends.share > 0 && sends.later == Duration{0}) ||
           inbox.bytesMax > 0;
  }
  // Whether a rank's datagrams may come later than the network's delay.
  bool delay() const {
    return pauses[0].rank >= 0 || sends.share > 0 ||
           inbox.perTrain + inbox.perDatagram > Duration{0} ||
           inbox.polls >= 0 || unlike.windowRanks != 0 ||
           unlike.linkRanks != 0 || unlike.policyRanks != 0 || sharedArena ||
           closure.rank >= 0 || meshBreak.rank >= 0 || skip.rank >= 0;
  }
};

}  // namespace ubt::sim
