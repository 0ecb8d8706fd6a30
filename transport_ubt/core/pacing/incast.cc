// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/incast.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt {

Incast::Incast(int self, int size) : self_(self), turns_(size), last_(self) {
  UBT_REQUIRE(size > 1 && self >= 0 && self < size);
}

void Incast::returned(double loss, bool expired) {
  const int most = static_cast<int>(turns_.size()) - 1;
  if (expired || loss > kLossHigh) {
    senders_ = std::max(1, senders_ / 2);
  } else if (loss == 0) {
    senders_ = std::min(most, senders_ + 1);
  }
}

uint64_t Incast::left(int sender, uint64_t next) const {
  const Turn& turn = turns_[sender];
  return turn.open ? turn.end - std::min(turn.end, next) : 0;
}

bool Incast::isOver(TimePoint now, const Sender& sender, Turn* turn) {
  if (sender.next > turn->next) {
    turn->next = sender.next;
    turn->heardAt = now;
  }
  return sender.owed == 0 || sender.next >= turn->end ||
         now >= turn->heardAt + sender.patience;
}

}  // namespace ubt
