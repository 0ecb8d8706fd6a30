// SPDX-License-Identifier: Apache-2.0
//
// Faults at hosts.

#include <algorithm>

#include "transport_ubt/sim/world.h"

namespace ubt::sim {
namespace {

// Time until peers notice that a context's connections are closed.
constexpr Duration kCloseSeenAfter = std::chrono::milliseconds(10);
constexpr Duration kLingersMost = std::chrono::seconds(5);
constexpr Duration kLooksEvery = std::chrono::milliseconds(1);

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
      events_.after(one.at, [this, one] { pause(one); });
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
      hosts_[options_.faults.closure.rank].closing = true;
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
  Host& host = hosts_[rank];
  if (host.crashed) {
    return;
  }
  faults_.happened(Fault::kCrash);
  host.crashed = true;
  for (Caller* caller : host.callers) {
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
      if (hosts_[peer].restarted) {
        return;  // a new process knows nothing of the old one
      }
      for (Session* session : hosts_[peer].sessions) {
        if (session != nullptr) {
          session->peerClosed(
              nowAt(peer), rank, "rank " + std::to_string(rank) + " died");
        }
      }
      pump(peer);
    });
  }
}

// Starts the job's next run on the host, while the other ranks continue the old
// run. Neither run may accept data of the other.
void World::restart(int rank) {
  Host& host = hosts_[rank];
  if (!host.crashed || host.restarted) {
    return;
  }
  faults_.happened(Fault::kRestart);
  anyGone_ = true;
  host.before = std::move(host.endpoint);
  host.endpoint = makeEndpoint(rank);
  host.callers.clear();
  for (const Host::Waiting& waiting : host.inbox) {
    deafTo(*waiting.datagram);
  }
  host.inbox.clear();
  host.inboxBytes = 0;
  host.crashed = false;
  host.restarted = true;
  Session* const session = host.endpoint->open(setupOf(rank, 0, true));
  host.sessions.assign(options_.contexts, nullptr);
  const OpShape shape = inputs_.shapeOf({{0, 0}, 0});
  host.bucket.assign(shape.bytes(), std::byte{0});
  session->enter(nowAt(rank), 0, shape, host.bucket.data());
  pump(rank);
}

void World::pause(const Pause& pause) {
  Host& host = hosts_[pause.rank];
  if (host.crashed) {
    return;
  }
  const TimePoint end = events_.now() + pause.lasting;
  const TimePoint begin = std::max(events_.now(), host.pausedUntil);
  host.stoodStill +=
      std::max(host.clock.shows(end) - host.clock.shows(begin), Duration{0});
  host.pausedUntil = std::max(host.pausedUntil, end);
  faults_.happened(Fault::kPause);
  // After the pause the host looks first at its timers, or at its incoming
  // datagrams.
  if (random_() % 2 == 0) {
    events_.at(end, [this, rank = pause.rank] { pump(rank); });
  } else {
    wake(pause.rank, end);
  }
}

void World::breakMesh(int rank, int peer) {
  Host& host = hosts_[rank];
  if (host.crashed || host.restarted) {
    return;
  }
  for (Session* session : host.sessions) {
    if (session != nullptr) {
      session->peerClosed(
          nowAt(rank),
          peer,
          "the connection to rank " + std::to_string(peer) + " is closed");
    }
  }
  pump(rank);
}

// Closes the first context of a closing rank, once its callers are out.
void World::closeWhenIdle(int rank) {
  Host& host = hosts_[rank];
  if (!host.closing || host.crashed || host.sessions[0] == nullptr ||
      std::any_of(host.callers.begin(), host.callers.end(), [](auto* caller) {
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
  Host& host = hosts_[rank];
  Session* const session = host.sessions[0];
  if (host.crashed || session == nullptr) {
    return;
  }
  if (paused(rank) || (events_.now() < latest && session->lingering())) {
    events_.after(kLooksEvery,
                  [this, rank, latest] { closeContext(rank, latest); });
    return;
  }
  faults_.happened(Fault::kClosure);
  anyGone_ = true;
  session->sendLeave(nowAt(rank));
  pump(rank);
  host.endpoint->close(session);
  host.sessions[0] = nullptr;
  for (int peer = 0; peer < options_.ranks; peer++) {
    if (peer != rank) {
      events_.after(kCloseSeenAfter, [this, peer, rank] {
        Session* const other = hosts_[peer].sessions[0];
        if (other != nullptr) {
          other->peerClosed(
              nowAt(peer),
              rank,
              "the connection to rank " + std::to_string(rank) + " is closed");
          pump(peer);
        }
      });
    }
  }
}

}  // namespace ubt::sim
