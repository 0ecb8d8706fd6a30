// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/deadlines.h"

namespace ubt {

// Finds ranks that are dead, stopped or cut off. A rank's engine answers
// questions at once, whatever its caller does. So a needed rank that leaves
// kQuestions in a row unanswered is gone. It counts questions rather than
// seconds, because a host that stood still itself asks only one question when
// it goes on. Not thread-safe.
class SilenceWatch {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(2);
  static constexpr Duration kNext = std::chrono::seconds(1);
  static constexpr int kQuestions = 8;
  // For a rank that was never heard. It may still be opening its session,
  // because an earlier call timed out there, or because Gloo's connections are
  // busy.
  static constexpr int kQuestionsUnheard = 58;
  // A silence with this number of unanswered questions is long: warn the user.
  static constexpr int kLongQuestions = 3;
  // The shortest duration of a long silence.
  static constexpr Duration kLong = kFirst + kLongQuestions * kNext;
  // The shortest silence of a rank that is gone. `heard`: it was heard before.
  static constexpr int questions(bool heard) {
    return heard ? kQuestions : kQuestionsUnheard;
  }
  static constexpr Duration lasted(bool heard) {
    return kFirst + questions(heard) * kNext;
  }

  enum class Verdict : uint8_t { kWait, kAsk, kGone };

  // REQUIRES ranks > 0.
  explicit SilenceWatch(int ranks) : due_(ranks), ranks_(ranks) {}

  // From now on the rank is needed. No-op if it is already.
  void start(int rank, TimePoint now) {
    if (due_.at(rank) == kNever) {
      ranks_[rank] = {now, 0};
      due_.set(rank, now + kFirst);
    }
  }
  void stop(int rank) { due_.set(rank, kNever); }

  // Whether a needed rank has left some questions in a row unanswered, perhaps
  // fewer than kQuestions. `heardAt`: its last datagram, which look() may not
  // know yet.
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

  // The next step for a rank that is due. `heardAt`: its last datagram;
  // TimePoint{}: there was none.
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

  // Whether look() has just asked for the first question of a long silence.
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
