// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt::sim {

// What may go wrong in a simulated job, one struct each. By default none of it
// does. A rank of -1 is nobody. `at` counts from the job's begin.

// What one rank sends to another is lost; what comes back is not.
struct Cut {
  int from = -1;
  int to = -1;
  Duration at{0};
  Duration lasting{0};

  bool holds(Duration time) const {
    return from >= 0 && time >= at && time < at + lasting;
  }
};

// A host stands still. What comes in waits, and then is there at once.
struct Pause {
  int rank = -1;
  Duration at{0};
  Duration lasting{0};
};

// Only one kind of datagram gets lost: data, or control that holds a record of
// one type. Of sealed control nobody can tell the type, so none is lost.
struct KindLoss {
  static constexpr int kData = 0;
  int kind = -1;  // kData, or a ControlType
  double share = 0;
};

// A datagram comes once more, up to so long after.
struct Replays {
  double share = 0;
  Duration within{0};
};

// Datagrams of more bytes are lost on the path between two ranks.
struct NarrowPath {
  int one = -1;
  int other = -1;
  uint64_t bytesMax = 0;
  Duration at{0};
  Duration lasting{0};
};

// A socket that fails to send loses the datagram, or takes it `later`.
struct SendFailures {
  double share = 0;
  Duration later{0};
};

// The CPU time of a host for each train that arrives, and for each datagram in
// it, and how many bytes may wait for that, or for the end of a pause. A train
// is what waits in a row from one rank. Zero: no time; any number of bytes.
struct Inbox {
  Duration perTrain{0};
  Duration perDatagram{0};
  uint64_t bytesMax = 0;
};

// Hosts' clocks differ by up to `offset`, and run fast or slow by up to a share
// of `rate`. In every `slewEvery` they are slewed: they run faster by `slew`
// for one half of it, and slower for the other.
struct Clocks {
  Duration offset{0};
  double rate = 0;
  double slew = 0;
  Duration slewEvery{0};
};

// A rank that leaves one op out. Only of callers whose tags are always new:
// for others all later ops would be different ones.
struct Skip {
  int rank = -1;
  int op = 0;
};

// A rank ends a context once its callers have returned from what they are in,
// after `at`. If it lingers, it first waits for those that need it.
struct Closure {
  int rank = -1;
  Duration at{0};
  bool lingers = false;
};

// A rank hears of its mesh that the connection to a peer is closed. So does
// the peer, if it is closed for both.
struct MeshBreak {
  int rank = -1;
  int peer = -1;
  Duration at{0};
  bool both = false;
};

// A second rank that vanishes, so long after the first, and whether the first
// one's host runs another process of the job's next run from then on.
struct AfterCrash {
  int second = -1;
  Duration secondAfter{0};
  bool restarts = false;
  Duration restartAfter{0};
};

// Ranks whose bits are set differ from the others.
struct Unlike {
  uint32_t windowRanks = 0;
  uint64_t windowBytes = 64 << 10;
  uint32_t linkRanks = 0;
  double linkShare = 0.5;  // of the others' rate
  uint32_t policyRanks = 0;
  RepairPolicy repair = RepairPolicy::kBroadcast;
  Fill fill = Fill::kLocal;
  SumOrder order = SumOrder::kArrival;
  BoundMode boundMode = BoundMode::kMedian;
  bool early = true;
  bool resultsFirst = true;
  uint32_t warmupOps = 20;
  uint32_t leadOps = 4;
};

struct Faults {
  std::array<Cut, 2> cuts;
  std::array<Pause, 3> pauses;
  KindLoss kindLoss;
  Replays replays;
  double corruption = 0;  // probability that a datagram has a wrong byte
  NarrowPath narrowPath;
  SendFailures sends;
  Inbox inbox;
  Clocks clocks;
  Skip skip;
  Closure closure;
  MeshBreak meshBreak;
  AfterCrash afterCrash;
  Unlike unlike;
  bool sharedArena = false;  // ranks 0 and 1 have one limit together

  // Whether a datagram of the job may get lost.
  bool loseDatagrams() const {
    return cuts[0].from >= 0 || cuts[1].from >= 0 || kindLoss.share > 0 ||
           corruption > 0 || narrowPath.one >= 0 ||
           (sends.share > 0 && sends.later == Duration{0}) ||
           inbox.bytesMax > 0;
  }
  // Whether what a rank sends may come later than the network's delay.
  bool delay() const {
    return pauses[0].rank >= 0 || sends.share > 0 ||
           inbox.perTrain + inbox.perDatagram > Duration{0} ||
           unlike.windowRanks != 0 || unlike.linkRanks != 0 ||
           unlike.policyRanks != 0 || sharedArena || closure.rank >= 0 ||
           meshBreak.rank >= 0 || skip.rank >= 0;
  }
};

}  // namespace ubt::sim
