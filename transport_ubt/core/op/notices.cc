// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/notices.h"

#include <algorithm>
#include <chrono>

namespace ubt {
namespace {

// The least pause between notices.
constexpr Duration kNotice = std::chrono::milliseconds(2);

}  // namespace

template <typename Act>
void Notices::forOthers(const Act& act) const {
  for (int rank = 0; rank < op_.ranks.size(); rank++) {
    if (rank != op_.ranks.rank()) {
      act(rank);
    }
  }
}

void Notices::toOwners(TimePoint now,
                       const ControlRecord& record,
                       bool urgent) const {
  forOthers([&](int rank) {
    if (op_.ranks.takesSlots(rank)) {
      op_.setup.host->control(now, rank, record, urgent);
    }
  });
}

// Answers to notices may wait for others to share their datagram.
void Notices::schedule(Retries* retries, TimePoint now, int rank) {
  if (!op_.attendance.hasGone(rank)) {
    retries->schedule(
        rank, now, std::max(kNotice, op_.setup.host->retryAfter(now, rank)));
  }
}

ControlRecord Notices::announcement() const {
  return ControlRecord::announce(op_.setup.id, op_.setup.shape);
}

void Notices::announce(TimePoint now) {
  forOthers([&](int rank) {
    send(now, rank, announcement());
    if (!op_.attendance.hasSeenAnnouncement(rank)) {
      schedule(&announcement_, now, rank);
    }
  });
}

void Notices::tellShape(TimePoint now, const OpShape& shape) {
  forOthers([&](int rank) {
    send(now, rank, ControlRecord::announce(op_.setup.id, shape));
  });
}

void Notices::tellHalf(TimePoint now, Stage stage) {
  ControlRecord record = about(ControlType::kHalf);
  record.stage = stage;
  toOwners(now, record, false);
}

ControlRecord Notices::closedRecord() const {
  ControlRecord record = about(ControlType::kClosed);
  record.slots = op_.cut.late;
  return record;
}

void Notices::tellClosed(TimePoint now) {
  toOwners(now, closedRecord(), op_.cut.late > 0);
}

void Notices::tellClosed(TimePoint now, int rank) {
  if (const TimePoint next = closed_.at(rank); now >= next || next == kNever) {
    send(now, rank, closedRecord());
    schedule(&closed_, now, rank);
  }
}

void Notices::tellLost(
    TimePoint now, int rank, Stage stage, uint32_t slot, uint32_t slots) {
  ControlRecord record = about(ControlType::kLostSlots);
  record.stage = stage;
  record.slot = slot;
  record.slots = slots;
  send(now, rank, record);
}

void Notices::tellNoMore(TimePoint now, int rank, Stage stage) {
  ControlRecord record = about(ControlType::kNoMore);
  record.stage = stage;
  send(now, rank, record);
}

void Notices::tellOver(TimePoint now, int rank) {
  send(now, rank, about(ControlType::kOver));
}

bool Notices::progressRecord(int rank, ControlRecord* out) const {
  const BitSet& here = op_.received(rank);
  if (op_.call.returned() || here.none()) {
    return false;
  }
  *out = about(ControlType::kProgress);
  out->slot = static_cast<uint32_t>(here.firstClear(0));
  return true;
}

// The others may lack room, too, and wait to hear that this rank has all
// results.
void Notices::tellProgress(TimePoint now) {
  forOthers([&](int rank) {
    ControlRecord record;
    if (progressRecord(rank, &record)) {
      send(now, rank, record);
    }
  });
  progressToAll_.schedule(
      0, now, op_.setup.host->retryAfter(now, op_.ranks.rank() == 0 ? 1 : 0));
}

ControlRecord Notices::doneRecord(ControlType type) const {
  ControlRecord record = about(type);
  record.slots = op_.cut.results;
  record.number = op_.call.failed() ? 0 : op_.resultsHash;
  return record;
}

void Notices::tellDone(TimePoint now) {
  forOthers([&](int rank) {
    op_.setup.host->control(now, rank, doneRecord(ControlType::kDone), false);
    if (!op_.attendance.isDone(rank)) {
      schedule(&doneQuery_, now, rank);
    }
  });
}

TimePoint Notices::earliest() const {
  return announces()           ? announcement_.earliest()
         : op_.call.returned() ? doneQuery_.earliest()
                               : kNever;
}

void Notices::repeatDue(TimePoint now) {
  if (announces()) {
    announcement_.forDue(now, [&](int rank) {
      send(now, rank, announcement());
      schedule(&announcement_, now, rank);
    });
  }
  if (op_.call.returned()) {
    doneQuery_.forDue(now, [&](int rank) {
      send(now, rank, doneRecord(ControlType::kDoneQuery));
      schedule(&doneQuery_, now, rank);
    });
  }
}

}  // namespace ubt
