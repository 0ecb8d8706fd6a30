// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport_ubt/core/base/bit_set.h"
#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/retries.h"
#include "transport_ubt/core/op/op_state.h"
#include "transport_ubt/core/op/stage_run.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Requests slots from other ranks. In a stage that the op repairs, it requests
// missing slots until they are here. In another stage it asks senders whether
// more will come, so that it need not wait for lost slots. Not thread-safe.
class SlotRequests {
 public:
  // `op` must outlive this.
  explicit SlotRequests(OpState* op) : op_(op) {}

  // The clock runs, or the caller has entered: the first questions come after
  // the usual time, at most 50 ms. With bounds by hand: after half of them.
  void scheduleQuestions(TimePoint now);
  // The caller has entered: schedules the first requests in the stages that the
  // op repairs.
  void scheduleRepairs(TimePoint now);
  // The own group's sum is closed: the op waits for other groups' sums.
  void awaitSums(TimePoint now);
  // From now on the op requests contributions, whatever its policy.
  void requestContributions(TimePoint now);

  // A slot of the rank has arrived: the next request waits for a whole pause
  // again.
  void arrived(TimePoint now, int rank, Stage stage);
  // Nothing more of the rank is on its way. Requests the missing slots, if the
  // op repairs the stage.
  void ended(TimePoint now, int rank, Stage stage);
  // The rank has gone.
  void stop(int rank);

  // When it asks next; kNever: not.
  TimePoint earliest() const;
  // Asks the ranks whose time has come.
  void askDue(TimePoint now);

 private:
  // Whether it requests missing slots of a stage until they are here.
  bool repairsContributions() const {
    return !op_->owned.sum().closed() &&
           (op_->repairsScatter() || op_->requestsContributions);
  }
  bool repairsResults() const {
    return op_->call.waits() && op_->needsEveryResult();
  }
  // Other groups' sums: only once the own group's sum is closed.
  bool repairsSums() const {
    return op_->owned.sum().closed() && !op_->owned.exchanged() &&
           op_->needsEveryResult();
  }
  // Whether it asks senders of a stage that it does not repair if more will
  // come. The paper's loops never ask.
  bool mayAsk() const { return op_->mayCut() && !op_->bounds.paper(); }
  // Calls act(run, stage, repairs) for each stage that is open to requests or
  // questions now.
  template <typename Act>
  void forOpen(const Act& act) const;

  void ask(TimePoint now, StageRun* run, Stage stage, bool repairs);
  bool request(TimePoint now, int rank, Stage stage);
  void requestMissing(TimePoint now, int rank, Stage stage, const BitSet& have);
  void schedule(Retries* retries, TimePoint now, int rank);
  void scheduleFirst(Retries* retries, TimePoint at, int rank);
  void restart(Retries* retries, TimePoint now, int rank);

  OpState* const op_;
};

}  // namespace ubt
