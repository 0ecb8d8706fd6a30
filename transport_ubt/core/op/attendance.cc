// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/attendance.h"

namespace ubt {

Attendance::Attendance(int rank, int size) : ranks_(size) {
  ranks_[rank].done = true;
}

bool Attendance::enter(int rank) {
  const bool news = !ranks_[rank].entered;
  ranks_[rank].entered = true;
  entered_ += news;
  return news;
}

bool Attendance::announce(int rank) {
  const bool news = !ranks_[rank].announced;
  ranks_[rank].announced = true;
  return news;
}

void Attendance::finish(TimePoint now, int rank) {
  finished_ += !ranks_[rank].done;
  ranks_[rank].done = true;
  if (2 * finished_ > size() && mostFinishedAt_ == kNever) {
    mostFinishedAt_ = now;
  }
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
