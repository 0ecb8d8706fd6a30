// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"

namespace ubt {

// Tells which ranks are dead, stopped or cut off. A rank's engine answers a
// question at once, whatever its caller does, so a rank of which something is
// needed and that leaves kQuestions in a row unanswered is gone. Questions are
// counted, not seconds: a host that stood still itself asks only one as it goes
// on. Not thread-safe.
class SilenceWatch {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(2);
  static constexpr Duration kNext = std::chrono::seconds(1);
  static constexpr int kQuestions = 8;
  // A rank that was never heard may still be opening its session, because a
  // call of its own timed out before, or because Gloo's connections are busy.
  static constexpr int kQuestionsUnheard = 58;
  // A silence that leaves so many unanswered is long: users should know.
  static constexpr int kLongQuestions = 3;
  // How long such a silence has lasted, at least.
  static constexpr Duration kLong = kFirst + kLongQuestions * kNext;
  // How long the silence of a rank that is gone has lasted, at least, by
  // whether it was ever heard.
  static constexpr int questions(bool heard) {
    return heard ? kQuestions : kQuestionsUnheard;
  }
  static constexpr Duration lasted(bool heard) {
    return kFirst + questions(heard) * kNext;
  }

  enum class Verdict : uint8_t { kWait, kAsk, kGone };

  // REQUIRES ranks > 0.
  explicit SilenceWatch(int ranks) : due_(ranks), ranks_(ranks) {}

  // From now on something is needed of the rank. No-op if it was before.
  void start(int rank, TimePoint now) {
    if (due_.at(rank) == kNever) {
      ranks_[rank] = {now, 0};
      due_.set(rank, now + kFirst);
    }
  }
  void stop(int rank) { due_.set(rank, kNever); }

  // Whether the rank has left some questions in a row unanswered, if not yet
  // kQuestions. False of a rank of which nothing is needed. `heardAt`: when
  // anything came from it last, which look() may not know yet.
  bool isSilent(int rank, TimePoint heardAt) const {
    return due_.at(rank) != kNever &&
           unanswered(rank, heardAt) >= kLongQuestions;
  }
  // Whether the rank's silence is long; `heardAt` as above.
  bool isLong(int rank, TimePoint heardAt) const {
    return unanswered(rank, heardAt) > kLongQuestions;
  }

  TimePoint earliest() const { return due_.earliest(); }
  // Ranks to look at now.
  std::vector<int> due(TimePoint now) {
    std::vector<int> ranks;
    due_.forDue(now, [&](int rank) {
      ranks.push_back(rank);
      due_.set(rank, now + kNext);
    });
    return ranks;
  }

  // What to do about a rank that is due. `heardAt`: when anything came from it
  // last; TimePoint{}: never.
  Verdict look(int rank, TimePoint now, TimePoint heardAt) {
    Rank& state = ranks_[rank];
    if (heardAt > state.since) {
      state = {heardAt, 0};
    }
    if (now - state.since < kFirst) {
      due_.set(rank, state.since + kFirst);
      return Verdict::kWait;
    }
    if (state.unanswered >= questions(heardAt != TimePoint{})) {
      return Verdict::kGone;
    }
    state.unanswered++;
    return Verdict::kAsk;
  }

  // Whether the question that look() has just asked for is the first in a long
  // silence.
  bool becameLong(int rank) const {
    return ranks_[rank].unanswered == kLongQuestions + 1;
  }

 private:
  struct Rank {
    TimePoint since{};   // it has been silent
    int unanswered = 0;  // questions
  };

  int unanswered(int rank, TimePoint heardAt) const {
    return heardAt > ranks_[rank].since ? 0 : ranks_[rank].unanswered;
  }

  Deadlines due_;
  std::vector<Rank> ranks_;
};

}  // namespace ubt
