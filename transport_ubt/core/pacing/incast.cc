// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/incast.h"

#include <algorithm>

#include "transport_ubt/core/base/paper_loss.h"
#include "transport_ubt/core/base/require.h"

namespace ubt {

Incast::Incast(int self, int size)
    : self_(self), turns_(size), heard_(size), last_(self) {
  UBT_REQUIRE(size > 1 && self >= 0 && self < size);
}

void Incast::returned(double loss, bool expired) {
  const int most = static_cast<int>(turns_.size()) - 1;
  if (expired || loss > kPaperLossHigh) {
    own_ = std::max(1, own_ / 2);
  } else if (loss == 0) {
    own_ = std::min(most, own_ + 1);
  }
  smallest();
}

void Incast::heard(int rank, int senders) {
  heard_[rank] = senders;
  smallest();
}

void Incast::smallest() {
  senders_ = own_;
  for (const int senders : heard_) {
    senders_ = senders > 0 ? std::min(senders_, senders) : senders_;
  }
}

uint64_t Incast::left(int sender, uint64_t next) const {
  const Turn& turn = turns_[sender];
  return turn.open ? turn.limit - std::min(turn.limit, next) : 0;
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
