// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/link/peer_link.h"
#include "transport_ubt/core/session/credit_questions.h"
#include "transport_ubt/core/session/given_credit.h"
#include "transport_ubt/core/session/send_turns.h"
#include "transport_ubt/core/session/session_state.h"

namespace ubt {

// Chooses a session's next datagram. Ranks take turns; in its turn a rank gets
// a train of data and then control. The own rank's turn is that of multicast.
// Not thread-safe.
class Transmitter {
 public:
  // All must outlive this.
  Transmitter(SessionState* session,
              GivenCredit* credit,
              CreditQuestions* questions)
      : session_(session),
        credit_(credit),
        questions_(questions),
        turns_(session->setup.size) {}

  // The caller has entered an op. Ranks begin an op at about the same time.
  // Each serves the next rank first, then the one after it. While they keep in
  // step, no two senders meet at a receiver.
  void opEntered() {
    turns_.start((session_->setup.rank + 1) % session_->setup.size);
  }

  // See Session::packetOut() and burstOut().
  bool next(TimePoint now, OutPacket* out);
  bool nextOfBurst(TimePoint now, OutPacket* out);

 private:
  const Op* goesFirst() const;
  bool takesData(int rank) const;
  bool turnOut(TimePoint now, const Op* first, OutPacket* out);
  bool mayBurst(TimePoint now) const;
  bool peerOut(TimePoint now, int rank, const Op* first, OutPacket* out);
  bool dataOut(int rank, OutPacket* out);
  bool controlOut(TimePoint now, int rank, OutPacket* out);
  bool multicasts(const Op& op) const;
  bool multicastOut(TimePoint now, OutPacket* out);
  bool multicastDataOut(TimePoint now, OutPacket* out);
  void multicastBlocked(TimePoint now);

  SessionState* const session_;
  GivenCredit* const credit_;
  CreditQuestions* const questions_;
  SendTurns turns_;
};

}  // namespace ubt
