// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"
#include "transport_ubt/core/session/session_state.h"
#include "transport_ubt/core/wire/control.h"

namespace ubt {

// Asks a peer for credit while this rank has data for it and no credit left.
// The answer repeats the peer's limit, which may have been lost. Not
// thread-safe.
class CreditQuestions {
 public:
  // `session` must outlive this.
  explicit CreditQuestions(SessionState* session)
      : session_(session), dues_(session->setup.size) {}

  // This rank has used up the peer's credit.
  void blocked(TimePoint now, int peer) {
    if (dues_.at(peer) == kNever && session_->hasData(peer)) {
      dues_.set(peer, now + session_->retryAfter(now, peer));
    }
  }
  // Credit of the peer has arrived. An old limit leaves the question open.
  void creditIn(int peer) {
    if (session_->peers[peer].send.available()) {
      stop(peer);
    }
  }
  void stop(int peer) { dues_.set(peer, kNever); }

  TimePoint earliest() const { return dues_.earliest(); }
  void askDue(TimePoint now) {
    dues_.forDue(now, [&](int peer) {
      if (session_->peers[peer].send.available() || !session_->hasData(peer)) {
        stop(peer);
        return;
      }
      ask(now, peer);
      dues_.set(peer, now + kAskAgain * session_->retryAfter(now, peer));
    });
  }
  // Asks the peer now. It always answers, with credit.
  void ask(TimePoint now, int peer) {
    ControlRecord record;
    record.type = ControlType::kBlocked;
    record.number = session_->peers[peer].send.next();
    session_->control(now, peer, record, true);
  }

 private:
  // The pause between questions, in times of the first one.
  static constexpr int kAskAgain = 4;

  SessionState* const session_;
  Deadlines dues_;  // by peer
};

}  // namespace ubt
