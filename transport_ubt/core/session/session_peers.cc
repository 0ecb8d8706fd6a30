// SPDX-License-Identifier: Apache-2.0
//
// Ranks that fall silent, close their connections or leave, and how a session
// itself leaves.

#include <chrono>

#include "transport_ubt/core/session/session.h"

namespace ubt {

void Session::closePeer(TimePoint now, int peer, const std::string& why) {
  if (state_.peers[peer].closed()) {
    return;
  }
  state_.peers[peer].close();
  questions_.stop(peer);
  silence_.stop(peer);
  state_.multicast.close(peer);
  if (departure_.fail(why)) {
    departure_.blame(peer);
  }
  std::vector<OpId> ids;
  for (auto& [id, op] : state_.ops) {
    if (failure() == why && op->failure().any()) {
      // Most likely this made the peer go.
      departure_.explain(op->failure().text());
    }
    op->peerGone(peer, failure());
    ids.push_back(id);
  }
  for (const OpId& id : ids) {
    forgetIfDone(now, id);
  }
}

// The needed rank that has been silent longest; -1: no silence is long.
int Session::longSilent() const {
  int silent = -1;
  for (int peer = 0; peer < state_.setup.size; peer++) {
    if (peer != state_.setup.rank && awaits(peer) &&
        silence_.isLong(peer, state_.peers[peer].heardAt) &&
        (silent < 0 || lastHeard(peer) < lastHeard(silent))) {
      silent = peer;
    }
  }
  return silent;
}

// This rank closed its connections, because another operation of Gloo timed
// out. Perhaps it waited for the same rank as the ops here.
void Session::closedAll(TimePoint now, const std::string& why) {
  OpFailure::Blame missing;
  for (const auto& [id, op] : state_.ops) {
    if (missing.text.empty() && op->entered() && !op->finished()) {
      missing = op->missingRanks();
      departure_.blame(missing.rank);
    }
  }
  departure_.blame(state_.setup.rank);
  fail(now,
       missing.text.empty()
           ? why
           : why +
                 "; the calls here still wait for these ranks:" + missing.text);
}

// A rank may close its connections because it timed out waiting for another
// one.
void Session::connectionClosed(TimePoint now,
                               int peer,
                               const std::string& why) {
  if (peer == state_.setup.rank) {
    closedAll(now, why);
    return;
  }
  const int silent = longSilent();
  if (silent < 0 || silent == peer || state_.peers[peer].closed() ||
      departure_.hasFailed()) {
    closePeer(now, peer, why);
    return;
  }
  departure_.blame(silent);
  closePeer(now,
            peer,
            "rank " + std::to_string(silent) + " has been silent for " +
                std::to_string(SilenceWatch::kLong / std::chrono::seconds(1)) +
                " s or longer" + silence(silent) + ", and then " + why);
}

void Session::peerLeft(TimePoint now, int peer, uint32_t because) {
  const std::string who = "rank " + std::to_string(peer);
  if (because >= static_cast<uint32_t>(state_.setup.size)) {
    closePeer(now, peer, who + " has destroyed its context");
    return;
  }
  // This rank's own observations are closer to the cause.
  for (const auto& [id, op] : state_.ops) {
    departure_.blame(op->failure().culprit());
  }
  departure_.blame(static_cast<int>(because));
  if (static_cast<int>(because) == peer) {
    closePeer(now,
              peer,
              who + " has given up because of its own error; see its output");
  } else {
    closePeer(
        now,
        peer,
        who + " has given up because of rank " + std::to_string(because) +
            (static_cast<int>(because) == state_.setup.rank ? " (this one)"
                                                            : "") +
            ", which died, hangs, came too late, is cut off or disagrees with "
            "it");
  }
  // The job has failed: other ranks may stop sending, too.
  for (auto& [id, op] : state_.ops) {
    op->giveUp(failure());
  }
}

void Session::sayLeaveToAll(TimePoint now) {
  departure_.leave();
  // A peer that is told ignores this rank from then on, and repeats nothing. So
  // calls here would not get their missing data.
  for (auto& [id, op] : state_.ops) {
    if (departure_.hasFailed()) {
      op->giveUp(failure());
    }
  }
  for (int peer = 0; peer < state_.setup.size; peer++) {
    if (peer != state_.setup.rank) {
      sayLeave(now, peer);
    }
  }
}

void Session::sayLeave(TimePoint now, int peer) {
  state_.control(now, peer, departure_.leaveRecord(), true);
  departure_.sentTo(peer, now);
}

// The peer still sends. If this rank has left, the peer has not heard it.
void Session::answerLeave(TimePoint now, int peer) {
  if (departure_.hasLeft() &&
      now - departure_.sentAt(peer) >= state_.retryAfter(now, peer)) {
    sayLeave(now, peer);
  }
}

// Whether an op here needs something of the peer, even only its done message.
bool Session::awaits(int peer) const {
  return !departure_.hasLeft() && !state_.peers[peer].closed() &&
         state_.ops.any(
             [peer](const Op& op) { return op.entered() && !op.isDone(peer); });
}

void Session::watchSilence(TimePoint now) {
  for (int peer = 0; peer < state_.setup.size; peer++) {
    if (peer != state_.setup.rank && awaits(peer)) {
      silence_.start(peer, now);
    }
  }
}

void Session::lookForSilence(TimePoint now) {
  for (const int peer : silence_.due(now)) {
    if (!awaits(peer)) {
      silence_.stop(peer);
      continue;
    }
    const auto verdict = silence_.look(peer, now, state_.peers[peer].heardAt);
    if (verdict == SilenceWatch::Verdict::kAsk && silence_.becameLong(peer) &&
        state_.setup.silent != nullptr) {
      state_.setup.silent(peer, state_.peers[peer].heard());
    }
    switch (verdict) {
      case SilenceWatch::Verdict::kWait:
        break;
      case SilenceWatch::Verdict::kAsk:
        questions_.ask(now, peer);
        break;
      case SilenceWatch::Verdict::kGone:
        closePeer(now,
                  peer,
                  "rank " + std::to_string(peer) + " has not answered for " +
                      std::to_string(
                          SilenceWatch::lasted(state_.peers[peer].heard()) /
                          std::chrono::seconds(1)) +
                      " s: it has died, was stopped, or is cut off" +
                      silence(peer));
        // Perhaps it is cut off in one direction only, and hears this.
        state_.peers[peer].lastWord(now, departure_.leaveRecord());
        break;
    }
  }
}

}  // namespace ubt
