// SPDX-License-Identifier: Apache-2.0
//
// Faults that end processes, contexts and connections, and pauses.

#include <algorithm>

#include "transport_ubt/sim/world.h"

namespace ubt::sim {
namespace {

// Time until peers notice that a context's connections are closed.
constexpr Duration kCloseSeenAfter = std::chrono::milliseconds(10);
constexpr Duration kLingersMost = std::chrono::seconds(5);
constexpr Duration kLooksEvery = std::chrono::milliseconds(1);

std::string closedBy(int peer) {
  return "the connection to rank " + std::to_string(peer) + " is closed";
}

}  // namespace

void World::startFaults() {
  const Faults& faults = options_.faults;
  if (options_.crashes >= 0) {
    events_.after(options_.crashAt, [this] { crash(options_.crashes); });
    if (faults.afterCrash.second >= 0) {
      events_.after(options_.crashAt + faults.afterCrash.secondAfter, [this] {
        faults_.happened(Fault::kSecondCrash);
        crash(options_.faults.afterCrash.second);
      });
    }
    if (faults.afterCrash.restarts) {
      events_.after(options_.crashAt + faults.afterCrash.restartAfter,
                    [this] { restart(options_.crashes); });
    }
  }
  for (const Pause& one : faults.pauses) {
    if (one.rank >= 0) {
      events_.after(one.at, [this, one] { hosts_.pause(one); });
    }
  }
  if (faults.meshBreak.rank >= 0) {
    events_.after(faults.meshBreak.at, [this] {
      const MeshBreak& mesh = options_.faults.meshBreak;
      faults_.happened(Fault::kMeshBreak);
      breakMesh(mesh.rank, mesh.peer);
      if (mesh.both) {
        breakMesh(mesh.peer, mesh.rank);
      }
    });
  }
  if (faults.closure.rank >= 0) {
    events_.after(faults.closure.at, [this] {
      ranks_[options_.faults.closure.rank].closing = true;
      closeWhenIdle(options_.faults.closure.rank);
    });
  }
  const std::pair<bool, Fault> standing[] = {
      {faults.clocks.offset > Duration{0} || faults.clocks.rate > 0 ||
           faults.clocks.slew > 0,
       Fault::kClocks},
      {faults.unlike.windowRanks != 0, Fault::kUnlikeWindow},
      {faults.unlike.linkRanks != 0, Fault::kUnlikeLink},
      {faults.unlike.policyRanks != 0, Fault::kUnlikePolicy},
      {faults.sharedArena, Fault::kSharedArena},
      {options_.neverEnters >= 0, Fault::kNeverEnters},
      {options_.disagrees >= 0, Fault::kDisagrees},
      {options_.otherwise >= 0, Fault::kUnlikeSeal},
  };
  for (const auto& [holds, fault] : standing) {
    if (holds) {
      faults_.happened(fault);
    }
  }
}

void World::crash(int rank) {
  if (!hosts_.crash(rank)) {
    return;
  }
  faults_.happened(Fault::kCrash);
  for (Caller* caller : ranks_[rank].callers) {
    caller->over = true;
    caller->inside = false;
  }
  for (int peer = 0; peer < options_.ranks; peer++) {
    if (peer == rank) {
      continue;
    }
    const Duration seenAfter =
        options_.crashSeenAfter + options_.crashSeenSpread * peer;
    events_.after(seenAfter, [this, peer, rank] {
      if (!hosts_.restarted(peer)) {  // a new process knows no old one
        hosts_.peerClosed(peer, rank, "rank " + std::to_string(rank) + " died");
      }
    });
  }
}

void World::restart(int rank) {
  Session* const session = hosts_.restart(rank);
  if (session == nullptr) {
    return;
  }
  faults_.happened(Fault::kRestart);
  ranks_[rank].callers.clear();
  const OpShape shape = inputs_.shapeOf({{0, 0}, 0});
  ranks_[rank].bucket.assign(shape.bytes(), std::byte{0});
  session->enter(hosts_.nowAt(rank), 0, shape, ranks_[rank].bucket.data());
  hosts_.pump(rank);
}

void World::breakMesh(int rank, int peer) {
  if (!hosts_.crashed(rank) && !hosts_.restarted(rank)) {
    hosts_.peerClosed(rank, peer, closedBy(peer));
  }
}

// Closes the first context of a closing rank, once its callers are out.
void World::closeWhenIdle(int rank) {
  const Rank& own = ranks_[rank];
  if (!own.closing || hosts_.crashed(rank) ||
      hosts_.session(rank, 0) == nullptr ||
      std::any_of(own.callers.begin(), own.callers.end(), [](auto* caller) {
        return caller->context == 0 && !caller->over;
      })) {
    return;
  }
  const TimePoint latest =
      events_.now() +
      (options_.faults.closure.lingers ? kLingersMost : Duration{0});
  events_.after(Duration{0},
                [this, rank, latest] { closeContext(rank, latest); });
}

void World::closeContext(int rank, TimePoint latest) {
  const Session* const session = hosts_.session(rank, 0);
  if (hosts_.crashed(rank) || session == nullptr) {
    return;
  }
  if (hosts_.paused(rank) || (events_.now() < latest && session->lingering())) {
    events_.after(kLooksEvery,
                  [this, rank, latest] { closeContext(rank, latest); });
    return;
  }
  faults_.happened(Fault::kClosure);
  hosts_.close(rank, 0);
  for (int peer = 0; peer < options_.ranks; peer++) {
    if (peer != rank) {
      events_.after(kCloseSeenAfter, [this, peer, rank] {
        Session* const other = hosts_.session(peer, 0);
        if (other != nullptr) {
          other->peerClosed(hosts_.nowAt(peer), rank, closedBy(rank));
          hosts_.pump(peer);
        }
      });
    }
  }
}

}  // namespace ubt::sim
