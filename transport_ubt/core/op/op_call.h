// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/require.h"
#include "transport_ubt/core/op/op_failure.h"
#include "transport_ubt/core/op/op_report.h"

namespace ubt {

// The local caller's call of an op. It enters, finishes with a result or a
// failure, and returns. An op may fail before its caller enters. Not
// thread-safe.
class OpCall {
 public:
  void enter() { entered_ = true; }
  bool entered() const { return entered_; }

  // It has its result.
  void finish(EndedBy endedBy) {
    finished_ = true;
    endedBy_ = endedBy;
  }
  // It cannot have one.
  void fail(const OpFailure::Blame& blame) {
    failure_.set(blame);
    finished_ = true;
  }
  // It cannot have one, because shapes differ (OpFailure::disagree()).
  void disagree(const OpFailure::Blame& blame, int announcer) {
    failure_.disagree(blame, announcer);
    finished_ = true;
  }
  bool finished() const { return finished_; }
  bool waits() const { return entered_ && !finished_; }
  EndedBy endedBy() const { return endedBy_; }
  bool failed() const { return failure_.any(); }
  const OpFailure& failure() const { return failure_; }

  // REQUIRES finished(), and that it has not returned.
  void leave() {
    UBT_REQUIRE(finished_ && !returned_);
    returned_ = true;
  }
  bool returned() const { return returned_; }

 private:
  bool entered_ = false;
  bool finished_ = false;
  bool returned_ = false;
  EndedBy endedBy_ = EndedBy::kComplete;
  OpFailure failure_;
};

}  // namespace ubt
