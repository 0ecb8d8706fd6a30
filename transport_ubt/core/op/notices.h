// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/retries.h"
#include "transport_ubt/core/op/op_state.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// The records that tell other ranks of an op's progress here. Some are repeated
// until the rank answers, others are sent at a limited rate. SlotRequests
// requests slots. Not thread-safe.
class Notices {
 public:
  // `op` must outlive this.
  explicit Notices(const OpState& op)
      : op_(op),
        announcement_(op.ranks.size()),
        doneQuery_(op.ranks.size()),
        closed_(op.ranks.size()),
        progressToAll_(1) {}
  // The most bytes that one allocates.
  static size_t bytesFor(int ranks) {
    return 3 * Retries::bytesFor(ranks) + Retries::bytesFor(1);
  }

  // To all ranks: this rank has entered, with this shape. Repeated to ranks
  // that have not seen it.
  void announce(TimePoint now);
  // To all ranks, once: this rank brings that shape, and shapes differ.
  void tellShape(TimePoint now, const OpShape& shape);
  void announcementSeen(int rank) { announcement_.stop(rank); }

  // To owners: half of the stage's senders are complete here.
  void tellHalf(TimePoint now, Stage stage);
  // To owners: this rank has closed its shard.
  void tellClosed(TimePoint now);
  // To a rank whose contribution came too late.
  void tellClosed(TimePoint now, int rank);
  // Slots were lost on their way to the rank, and are not repeated.
  void tellLost(
      TimePoint now, int rank, Stage stage, uint32_t slot, uint32_t slots);
  // Nothing more of this stage is on its way to the rank.
  void tellNoMore(TimePoint now, int rank, Stage stage);
  // The call has returned, so no contribution is repeated.
  void tellOver(TimePoint now, int rank);

  // The record that goes to a rank with its credit; false: none.
  bool progressRecord(int rank, ControlRecord* out) const;
  // To all ranks: this record. This rank waits until they need nothing.
  void tellProgress(TimePoint now);
  // When it is repeated; kNever: it was never told.
  TimePoint progressDue() const { return progressToAll_.earliest(); }

  // To all ranks: the call has returned. Ranks that are not done are asked
  // whether they are, until doneHeard().
  void tellDone(TimePoint now);
  void doneHeard(int rank) { doneQuery_.stop(rank); }
  ControlRecord doneRecord(ControlType type) const;

  // When announcements or questions are repeated; kNever: not.
  TimePoint earliest() const;
  void repeatDue(TimePoint now);

 private:
  // Whether announcements are repeated.
  bool announces() const { return op_.call.entered() && !op_.call.returned(); }
  // Calls act(rank) for each rank but the own.
  template <typename Act>
  void forOthers(const Act& act) const;
  void send(TimePoint now, int rank, const ControlRecord& record) const {
    op_.setup.host->control(now, rank, record, true);
  }
  void toOwners(TimePoint now, const ControlRecord& record, bool urgent) const;
  void schedule(Retries* retries, TimePoint now, int rank);
  ControlRecord announcement() const;
  ControlRecord about(ControlType type) const {
    return ControlRecord::about(type, op_.setup.id);
  }
  ControlRecord closedRecord() const;

  const OpState& op_;
  Retries announcement_;
  Retries doneQuery_;
  Retries closed_;
  Retries progressToAll_;
};

}  // namespace ubt
