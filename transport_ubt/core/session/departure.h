// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/wire/control.h"

namespace ubt {

// Why a session can begin no further op, which rank is to blame, and which
// peers were told that this rank leaves. The first reason and the first rank
// stand: later ones are consequences.
class Departure {
 public:
  // `ranks`: of the session.
  explicit Departure(int ranks) : sentAt_(ranks) {}

  bool hasFailed() const { return !why_.empty(); }
  // Empty: it has not failed.
  const std::string& why() const { return why_; }
  // False: there was a reason before. REQUIRES a reason that is not empty.
  bool fail(const std::string& why);
  // An op knows better why it failed. REQUIRES hasFailed().
  void explain(const std::string& why) { why_ = why; }
  // As fail(), but there may be no memory: then `spare` replaces the reason.
  void failWithout(const char* why, std::string* spare) noexcept;

  // -1: no rank.
  void blame(int rank) { culprit_ = culprit_ < 0 ? rank : culprit_; }
  int culprit() const { return culprit_; }

  // This rank leaves: it no longer takes datagrams of its peers.
  bool hasLeft() const { return left_; }
  void leave() {
    left_ = true;
    dueAt_ = kNever;
  }
  // It leaves at that time, or before. kNever: no time is set.
  void leaveAt(TimePoint when) { dueAt_ = when; }
  TimePoint dueAt() const { return dueAt_; }

  // The record that tells a peer, and when it was sent.
  ControlRecord leaveRecord() const;
  void sentTo(int peer, TimePoint now) { sentAt_[peer] = now; }
  TimePoint sentAt(int peer) const { return sentAt_[peer]; }

 private:
  std::string why_;
  int culprit_ = -1;
  bool left_ = false;
  TimePoint dueAt_ = kNever;
  std::vector<TimePoint> sentAt_;  // by rank
};

}  // namespace ubt
