// SPDX-License-Identifier: Apache-2.0
//
// Draws a job and its faults from a seed.

#include <algorithm>
#include <random>

#include "transport_ubt/core/pacing/train_length.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/sim/sim_options.h"

namespace ubt::sim {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Seed {
 public:
  explicit Seed(uint64_t seed) : random_(seed) { o_.seed = seed; }

  // Each class of faults is off in at least half of all seeds. In fewer than
  // half, faults are on that may make calls fail, with one cause at a time. In
  // all other seeds no call may throw.
  SimOptions draw() {
    drawJob();
    drawPolicy();
    drawGroups();
    if (!chance(0.1)) {  // else nothing goes wrong
      drawUnlike();
      drawNetwork();
      drawHosts();
      if (chance(0.35)) {
        drawEnd();
      } else {
        excludeFailures();
      }
    }
    drawLoops();
    drawTrains();
    return o_;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(double p) {
    return std::uniform_real_distribution<>()(random_) < p;
  }
  bool on() { return chance(0.5); }
  int someRank() { return static_cast<int>(below(o_.ranks)); }
  int rankBut(int rank) {
    return (rank + 1 + static_cast<int>(below(o_.ranks - 1))) % o_.ranks;
  }
  uint32_t someRanks() {
    return static_cast<uint32_t>(below(uint64_t{1} << o_.ranks));
  }

  void drawJob() {
    o_.ranks = 2 + static_cast<int>(below(7));
    o_.contexts = chance(0.2) ? 2 : 1;
    o_.threads = chance(0.3) ? 2 + static_cast<int>(below(5)) : 1;
    o_.ops = 10 + static_cast<int>(below(30));
    o_.elementsMax = chance(0.2) ? 20 : 500 + below(chance(0.1) ? 30000 : 5000);
    // A greeting refuses slots below 256 bytes.
    const size_t slots[] = {256, 512, 1440, 1440, 8192};
    o_.slotBytes = slots[below(o_.elementsMax > 6000 ? 3 : 5) +
                         (o_.elementsMax > 6000 ? 2 : 0)];
    o_.windowBytes = chance(0.3) ? 16 << 10 : 256 << 10;
    o_.roughInputs = chance(0.5);
    o_.errorEnds = chance(0.5);
    for (const Loop loop : {Loop::kWindow, Loop::kTrains}) {
      if (!chance(0.8)) {
        o_.protocol.without.add(loop);
      }
    }
    o_.arenaBytes = 8 << 20;
    o_.faults.sharedArena = chance(0.2);
  }

  void drawPolicy() {
    Options& protocol = o_.protocol;
    protocol.repair = static_cast<RepairPolicy>(below(3));
    below(2);  // of a setting that is gone: each seed keeps its job
    protocol.order = static_cast<SumOrder>(below(2));
    protocol.auth = static_cast<AuthMode>(below(3));
    below(2);
    protocol.warmupOps = static_cast<uint32_t>(below(6));
    if (chance(0.5)) {
      protocol.boundScatter = milliseconds(5 + below(20));
      protocol.boundBroadcast = milliseconds(5 + below(20));
      protocol.warmupOps = static_cast<uint32_t>(below(2) * 3);
    }
    protocol.leadOps = 1 + static_cast<uint32_t>(below(8));
    if (chance(0.2)) {
      protocol.leadBytes = 1 + below(100000);
    }
    protocol.timeout = chance(0.5) ? seconds(5) : seconds(20);
    if (chance(0.2)) {
      protocol.skipLoss = chance(0.5) ? 0.001 : 0.05;
    }
    if (chance(0.3)) {
      protocol.zeroLoss = chance(0.5) ? 0 : 0.05;
    }
    chance(0.8);  // as above
    if (chance(0.2)) {
      below(100);
    }
    chance(0.8);
    chance(0.8);
    protocol.hadamard = static_cast<Hadamard>(below(3));
    o_.mixedForms = chance(0.3);
    protocol.multicast = chance(0.5);
    if (protocol.multicast && on()) {
      o_.deafRanks = someRanks();
      if (chance(0.5)) {
        o_.deafAt = milliseconds(below(200));
        o_.deafTime = milliseconds(below(200));
      }
    }
  }

  void drawUnlike() {
    Unlike& unlike = o_.faults.unlike;
    if (on()) {
      unlike.windowRanks = someRanks();
      unlike.windowBytes = chance(0.5) ? 16 << 10 : 1 << 20;
    }
    if (on()) {
      unlike.linkRanks = someRanks();
    }
    if (on()) {
      unlike.policyRanks = someRanks();
    }
    unlike.repair =
        chance(0.7) ? o_.protocol.repair : static_cast<RepairPolicy>(below(3));
    below(2);  // as above
    unlike.order = static_cast<SumOrder>(below(2));
    below(2);
    chance(0.5);
    chance(0.5);
    unlike.warmupOps = o_.protocol.boundScatter > Duration{0}
                           ? o_.protocol.warmupOps
                           : static_cast<uint32_t>(below(6));
    unlike.leadOps = 1 + static_cast<uint32_t>(below(8));
  }

  void drawNetwork() {
    Faults& faults = o_.faults;
    if (on()) {
      const double losses[] = {0.001, 0.001, 0.01, 0.01, 0.05, 0.3};
      o_.loss = losses[below(6)];
      if (chance(0.2)) {
        o_.lossAt = milliseconds(below(200));
        o_.lossFor = milliseconds(1 + below(200));
      }
    }
    o_.duplicate = on() ? 0.02 : 0;
    o_.reorder = on() ? 0.05 : 0;
    o_.reorderBy = microseconds(1 + below(1000));
    o_.strangers = chance(0.2) ? 0.05 : 0;
    o_.delay = microseconds(5 + below(200));
    if (chance(0.3)) {
      o_.bytesPerSecond = 6.25e7;
      o_.queueBytes = 64 << 10;
      if (on()) {
        o_.burstEvery = milliseconds(1 + below(200));
        o_.burstLeast = o_.burstEvery / 10;
        o_.burstMost = o_.burstLeast * (1 + below(4));
        o_.burstSources =
            1 + static_cast<int>(below(std::min(2, o_.ranks - 1)));
        o_.burstShare = 0.1 + 0.1 * below(10);
      }
    }
    if (chance(0.1)) {
      o_.partitionAt = milliseconds(10 + below(50));
      o_.partitionFor = milliseconds(1 + below(100));
    }
    if (on()) {
      for (Cut& cut : faults.cuts) {
        cut.from = someRank();
        cut.to = rankBut(cut.from);
        cut.at = milliseconds(below(100));
        cut.lasting = milliseconds(1 + below(chance(0.5) ? 20 : 500));
      }
    }
    if (chance(0.3)) {
      faults.kindLoss.kind =
          chance(0.2) ? KindLoss::kData
                      : 1 + static_cast<int>(
                                below(static_cast<int>(ControlType::kNoMore)));
      faults.kindLoss.share = chance(0.5) ? 0.05 : 0.4;
    }
    if (on()) {
      faults.replays.share = 0.02;
      faults.replays.within = milliseconds(1 + below(5000));
    }
    faults.corruption = chance(0.3) ? 0.01 : 0;
    if (chance(0.3)) {
      faults.narrowPath.one = someRank();
      faults.narrowPath.other = rankBut(faults.narrowPath.one);
      faults.narrowPath.bytesMax = 200 + below(1200);
      faults.narrowPath.at = milliseconds(below(100));
      faults.narrowPath.lasting = milliseconds(1 + below(500));
    }
  }

  void drawHosts() {
    Faults& faults = o_.faults;
    if (on()) {
      o_.lateOps = 0.1;
      o_.lateBy = milliseconds(1 + below(250));
    }
    o_.opposite = chance(0.2);
    if (chance(0.1)) {
      o_.slow = someRank();
      o_.slowBy = microseconds(5 + below(100));
    }
    if (chance(0.1)) {
      o_.deafFor = microseconds(below(100000));
    }
    if (on()) {
      for (Pause& pause : faults.pauses) {
        pause.rank = someRank();
        pause.at = milliseconds(below(200));
        pause.lasting = milliseconds(1 + below(chance(0.5) ? 20 : 300));
      }
    }
    if (chance(0.3)) {
      faults.sends.share = 0.01;
      faults.sends.later = microseconds(below(2) * (1 + below(2000)));
    }
    if (chance(0.3)) {
      faults.inbox.perDatagram = microseconds(1 + below(10));
      faults.inbox.perTrain = microseconds(chance(0.5) ? 1 + below(40) : 0);
      faults.inbox.bytesMax = chance(0.5) ? 32 << 10 << below(4) : 0;
    }
    if (on()) {
      faults.clocks.offset = hours(2);
      faults.clocks.rate = 1e-4;
      faults.clocks.slew = chance(0.5) ? 5e-4 : 0;
      faults.clocks.slewEvery = milliseconds(10 + below(5000));
    }
  }

  void drawGroups() {
    if (chance(0.4)) {
      do {
        o_.groups = 2 + static_cast<int>(below(o_.ranks - 1));
      } while (o_.ranks % o_.groups != 0);
    }
  }

  // A fault that may make calls fail.
  void drawEnd() {
    Faults& faults = o_.faults;
    if (!chance(0.2)) {
      o_.protocol.haltLoss = 0;
    }
    switch (below(10)) {
      case 0:
      case 1:
        o_.crashes = someRank();
        o_.crashAt = microseconds(below(60000));
        o_.crashSeenAfter = microseconds(below(20000));
        o_.crashSeenSpread = microseconds(below(2) * below(20000));
        if (on()) {
          faults.afterCrash.second = rankBut(o_.crashes);
          faults.afterCrash.secondAfter = microseconds(below(30000));
        }
        faults.afterCrash.restarts = on();
        faults.afterCrash.restartAfter = microseconds(below(100000));
        break;
      case 2:
        o_.neverEnters = someRank();
        break;
      case 3:
        (chance(0.5) ? o_.disagrees : o_.otherwise) = someRank();
        break;
      case 4:
        faults.closure.rank = someRank();
        faults.closure.at = microseconds(below(60000));
        faults.closure.lingers = on();
        break;
      case 5:
        faults.meshBreak.rank = someRank();
        faults.meshBreak.peer = rankBut(faults.meshBreak.rank);
        faults.meshBreak.at = microseconds(below(60000));
        faults.meshBreak.both = on();
        break;
      case 6:
        faults.skip.rank = someRank();
        faults.skip.op = static_cast<int>(below(o_.ops));
        o_.threads = std::max(o_.threads, 2);
        break;
      case 7:
        faults.pauses[0].rank = someRank();
        faults.pauses[0].at = milliseconds(below(50));
        faults.pauses[0].lasting = milliseconds(1000 + below(14000));
        break;
      case 8:
        faults.cuts[0].from = someRank();
        faults.cuts[0].to = rankBut(faults.cuts[0].from);
        faults.cuts[0].at = milliseconds(below(50));
        faults.cuts[0].lasting = milliseconds(1000 + below(14000));
        break;
      case 9:
        o_.arenaBytes = 64 << 10;
        if (chance(0.3)) {
          o_.protocol.haltLoss = 0.02;
        }
        break;
    }
  }

  // These come last, so that a seed's other options do not depend on them.
  void drawLoops() {
    o_.protocol.cutBudget = chance(0.8) ? 0.025 : chance(0.5) ? 0 : 0.2;
  }

  void drawTrains() {
    if (chance(0.5)) {
      o_.trainBytes = TrainLength::kBytesMax;
    }
  }

  void excludeFailures() {
    if (o_.mayHalt()) {
      o_.protocol.haltLoss = 0;
    }
    if (chance(0.2)) {
      o_.arenaBytes = 64 << 10;
      o_.faults.sharedArena = false;
    }
    if (o_.mayLackRoom() || o_.mayDropResults() != 0) {
      o_.arenaBytes = 8 << 20;
    }
  }

  std::mt19937_64 random_;
  SimOptions o_;
};

}  // namespace

SimOptions SimOptions::fromSeed(uint64_t seed) {
  return Seed(seed).draw();
}

}  // namespace ubt::sim
