// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/attendance.h"

namespace ubt {

Attendance::Attendance(int rank, int size, int heard)
    : ranks_(size), heard_(heard) {
  ranks_[rank].done = true;
}

bool Attendance::enter(TimePoint now, int rank) {
  if (hasEntered(rank)) {
    return false;
  }
  ranks_[rank].at = lastEntry_ = now;
  entered_++;
  return true;
}

void Attendance::passThrough(TimePoint now, int rank, Stage stage) {
  bool& through = ranks_[rank].through[indexOf(stage)];
  Half& half = halves_[indexOf(stage)];
  half.through += !through;
  through = true;
  if (2 * half.through >= heard_ && half.at == kNever) {
    half.at = now;
  }
}

bool Attendance::announce(int rank) {
  const bool news = !ranks_[rank].announced;
  ranks_[rank].announced = true;
  return news;
}

bool Attendance::reportClosed(int rank) {
  const bool news = !ranks_[rank].closed;
  ranks_[rank].closed = true;
  return news;
}

void Attendance::markGone(int rank) {
  ranks_[rank].done = true;
  ranks_[rank].gone = true;
}

int Attendance::firstNotDone() const {
  for (int rank = 0; rank < size(); rank++) {
    if (!ranks_[rank].done) {
      return rank;
    }
  }
  return -1;
}

}  // namespace ubt
