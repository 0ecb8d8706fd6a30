// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/pacing/delivery_window.h"

#include <algorithm>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

constexpr uint64_t kSlotsMin = 4;
// The window begins with the capacity that most switches have for a port, or
// with kStartSlots of each sender.
constexpr uint64_t kStartBytes = 448 << 10;
constexpr uint64_t kStartSlots = 4;
// Loss is judged over at least this number of slots: of fewer, one lost slot
// would be a large share.
constexpr uint64_t kSlotsJudged = 128;
// A sample of the rate covers this number of rounds.
constexpr int kSampleRounds = 8;
// Data that fills the link alone arrives at this part of the best rate or more.
// With many senders, short pauses are common even then.
constexpr double kAlone = 0.6;

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

DeliveryWindow::DeliveryWindow(uint64_t bytesMin,
                               uint64_t bytesMax,
                               bool adapts)
    : bytesMin_(bytesMin),
      bytesMax_(bytesMax),
      adapts_(adapts),
      start_(bytesMin) {
  UBT_REQUIRE(0 < bytesMin && bytesMin <= bytesMax);
}

uint64_t DeliveryWindow::startOf(uint64_t bytesMax,
                                 int senders,
                                 size_t slotBytes) {
  return std::min(bytesMax,
                  std::max(kStartBytes, kStartSlots * senders * slotBytes));
}

void DeliveryWindow::start(uint64_t bytes, size_t slotBytes) {
  bytesMin_ = std::clamp<uint64_t>(kSlotsMin * slotBytes, bytesMin_, bytesMax_);
  slotBytes_ = std::max<uint64_t>(slotBytes_, slotBytes);
  start_ = std::clamp(bytes, std::max(start_, bytesMin_), bytesMax_);
}

void DeliveryWindow::overtaken(uint64_t bytes) {
  lost_ -= std::min(lost_, bytes);
}

Duration DeliveryWindow::round() const {
  return roundTrip_.known() ? Duration(-roundTrip_.get()) + hosts_ : hosts_;
}

uint64_t DeliveryWindow::bytes() const {
  if (!adapts_) {
    return start_;
  }
  const double whole =
      rate_.known() ? kSpare * (rateTimesRound() + static_cast<double>(turn_))
                    : static_cast<double>(start_);
  const double need = kNeed * rateTimesRound();
  const double fits =
      need + (whole - need) * queue_.part() * queueMarks_.part();
  const uint64_t most = ceiling();
  return std::clamp(static_cast<uint64_t>(
                        std::min(fits * traffic_.part() * trafficMarks_.part(),
                                 static_cast<double>(most))),
                    bytesMin_,
                    most);
}

double DeliveryWindow::rateTimesRound() const {
  return rate_.known() ? rate_.bytesPerSecond() * seconds(round()) : 0;
}

uint64_t DeliveryWindow::need() const {
  return static_cast<uint64_t>(kNeed * rateTimesRound());
}

uint64_t DeliveryWindow::ceiling() const {
  return std::max(
      bytesMin_,
      static_cast<uint64_t>(static_cast<double>(bytesMax_) * buffer_.part()));
}

void DeliveryWindow::arrived(TimePoint now, uint64_t bytes, bool congested) {
  rate_.arrived(bytes);
  if (arrivedAt_ != kNever) {
    passing_ += now - arrivedAt_;
  }
  arrivedAt_ = now;
  came_ += bytes;
  marked_ += congested ? bytes : 0;
  lookIfPassed();
}

// While nothing comes, no arrival judges a window.
void DeliveryWindow::lost(uint64_t bytes) {
  lost_ += bytes;
  if (came_ == 0) {
    lookIfPassed();
  }
}

void DeliveryWindow::lookIfPassed() {
  const uint64_t before = bytes();
  if (came_ + lost_ <
      std::max({before, recovering_, kSlotsJudged * slotBytes_})) {
    return;
  }
  if (recovering_ == 0) {
    windowPassed();
    recovering_ = bytes() < before ? before : 0;
  } else {
    recovering_ = 0;
  }
  came_ = lost_ = marked_ = 0;
  overflowed_ = false;
  passing_ = Duration{0};
}

void DeliveryWindow::windowPassed() {
  const LossResponse::Window window{
      came_,
      lost_,
      static_cast<double>(came_ + lost_) / std::max<uint64_t>(1, slotBytes_),
      std::max({passing_, round(), Duration{1}})};
  const bool alone = rate_.known() &&
                     static_cast<double>(came_) >=
                         kAlone * seconds(window.took) * rate_.bytesPerSecond();
  const bool lossy =
      window.share() > (alone ? kQueueTolerated : kTrafficTolerated);
  // Loss says nothing about the other causes.
  if (!lossy) {
    queue_.windowPassed(window);
    traffic_.windowPassed(window);
    buffer_.windowPassed(window);
  } else if (overflowed_) {
    buffer_.windowPassed(window);
  } else if (!alone || !wasLossy_) {
    (alone ? queue_ : traffic_).windowPassed(window);
  }
  wasLossy_ = lossy;
  marksPassed(window, alone);
}

void DeliveryWindow::marksPassed(const LossResponse::Window& window,
                                 bool alone) {
  if (came_ == 0) {
    return;  // only data that comes can be marked
  }
  LossResponse::Window marks = window;
  const double like = LossResponse::kReduction * static_cast<double>(marked_);
  const bool many = like > (alone ? kQueueTolerated : kTrafficTolerated) *
                               static_cast<double>(came_);
  marks.lost = many ? static_cast<uint64_t>(like) : 0;
  marks.came = came_ - marks.lost;
  if (!many || alone) {
    queueMarks_.windowPassed(marks);
  }
  if (!many || !alone) {
    trafficMarks_.windowPassed(marks);
  }
}

void DeliveryWindow::drained(TimePoint now) {
  if (roundTrip_.known()) {
    rate_.drained(now, kSampleRounds * round());
  }
}

void DeliveryWindow::pause() {
  arrivedAt_ = kNever;
  rate_.pause();
}

}  // namespace ubt
