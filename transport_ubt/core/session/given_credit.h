// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/pacing/incast.h"
#include "transport_ubt/core/session/credit_grants.h"
#include "transport_ubt/core/session/session_state.h"
#include "transport_ubt/core/wire/cursor.h"

namespace ubt {

// Decides how much credit this rank gives each peer, and when it tells the
// peer. With the paper's loops, senders take turns (Incast). Not thread-safe.
class GivenCredit {
 public:
  // `session` must outlive this.
  explicit GivenCredit(SessionState* session);

  // Data of a peer has arrived: it hears new credit once it has used up enough.
  void consider(TimePoint now, int peer);
  // Multicast of an owner has arrived: it hears that, and its credit, within
  // Multicast::kAnswerWithin.
  void answerMulticast(TimePoint now, int owner);
  // Writes the peer's credit, the credit for its multicast, and the progress of
  // ops.
  void write(int peer, WriteCursor* out);

  // Used by the paper's loops. With others, dueAt() is kNever, limitIn()
  // returns `number`, and the other functions do nothing.
  //
  // A peer may have begun to send, or to wait.
  void passTurns(TimePoint now);
  // When a turn ends unless data comes; kNever: no turn is open.
  TimePoint dueAt() const { return incast_ ? incast_->dueAt() : kNever; }
  void deadlinePassed(TimePoint now) {
    if (now >= dueAt()) {
      passTurns(now);
    }
  }
  // The caller has entered an op.
  void opEntered(TimePoint now);
  void opReturned(const OpSample& op);
  // Takes the peer's incast from a credit's number, and returns the limit.
  uint64_t limitIn(int peer, uint64_t number);

 private:
  CreditGrants::Load loadOf(int peer) const;
  uint64_t heldBeside(int peer) const;
  uint64_t shareOf(int peer, const CreditGrants::Load& load) const;
  uint64_t multicastShare() const;
  void writeHears(int owner, WriteCursor* out);
  Incast::Sender senderOf(TimePoint now, int peer) const;
  uint64_t incastOut() const;

  SessionState* const session_;
  const CreditGrants grants_;
  std::optional<Incast> incast_;
};

}  // namespace ubt
