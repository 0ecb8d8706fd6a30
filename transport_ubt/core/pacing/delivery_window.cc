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
// Loss is judged over at least this number of slots: in fewer, even a large
// share may be chance.
constexpr uint64_t kSlotsJudged = 384;
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
                               LoopSet without)
    : bytesMin_(bytesMin),
      bytesMax_(bytesMax),
      without_(without),
      start_(bytesMin),
      traffic_{
          Loop::kTraffic,
          {kTrafficReturn, kTrafficTolerated, !without.has(Loop::kBaseLoss)}},
      marks_{Loop::kMarks,
             {kTrafficReturn, kMarksTolerated, !without.has(Loop::kBaseLoss)}} {
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
  changed();
}

void DeliveryWindow::overtaken(uint64_t bytes) {
  const uint64_t back = std::min(lost_, bytes);
  if (lost_ > 0) {
    losses_ *= static_cast<double>(lost_ - back) / static_cast<double>(lost_);
  }
  lost_ -= back;
}

Duration DeliveryWindow::round() const {
  return roundTrip_.known() ? Duration(-roundTrip_.get()) + hosts_ : hosts_;
}

// Called for each datagram, although its inputs change about once in a turn.
uint64_t DeliveryWindow::bytes() const {
  if (bytes_ == 0) {
    bytes_ = computeBytes();
  }
  return bytes_;
}

uint64_t DeliveryWindow::computeBytes() const {
  if (without_.has(Loop::kWindow)) {
    return start_;
  }
  const double link = rateTimesRound();
  const double whole = rate_.known()
                           ? kSpare * (link + static_cast<double>(trains_))
                           : static_cast<double>(start_);
  const double need = kNeed * link;
  const double fits = need + (whole - need) * queue_.response.part();
  const uint64_t most = ceiling();
  return std::clamp(
      static_cast<uint64_t>(
          std::min(fits * traffic_.response.part() * marks_.response.part(),
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
  return std::max(bytesMin_,
                  static_cast<uint64_t>(static_cast<double>(bytesMax_) *
                                        buffer_.response.part()));
}

void DeliveryWindow::arrived(TimePoint now, uint64_t bytes, bool congested) {
  rate_.arrived(bytes);
  if (arrivedAt_ != kNever) {  // a longer wait is for a late rank
    passing_ += std::min(now - arrivedAt_, round());
  }
  arrivedAt_ = now;
  came_ += bytes;
  marked_ += congested ? bytes : 0;
  lookIfPassed();
}

// While nothing comes, no arrival judges a window.
void DeliveryWindow::lost(uint64_t bytes, uint64_t losses) {
  lost_ += bytes;
  losses_ += static_cast<double>(losses);
  if (came_ == 0) {
    lookIfPassed();
  }
}

void DeliveryWindow::lookIfPassed() {
  const uint64_t passed = came_ + lost_;
  if (passed < std::max(recovering_, kSlotsJudged * slotBytes_)) {
    return;  // bytes() costs more
  }
  const uint64_t before = bytes();
  if (passed < before) {
    return;
  }
  if (recovering_ == 0) {
    windowPassed();
    changed();
    recovering_ = bytes() < before ? before : 0;
  } else {
    recovering_ = 0;
  }
  came_ = lost_ = marked_ = 0;
  losses_ = 0;
  overflowed_ = false;
  passing_ = Duration{0};
}

void DeliveryWindow::windowPassed() {
  const LossResponse::Window window{
      came_, lost_, losses_, std::max({passing_, round(), Duration{1}})};
  const bool alone = rate_.known() &&
                     static_cast<double>(came_) >=
                         kAlone * seconds(window.took) * rate_.bytesPerSecond();
  Cause& cause = overflowed_ ? buffer_ : alone ? queue_ : traffic_;
  const LossResponse::Verdict verdict = cause.response.judge(window);
  const bool clean = verdict == LossResponse::Verdict::kClean;
  if (clean) {  // loss says nothing about other causes
    queue_.response.passed(window);
    buffer_.response.passed(window);
  }
  if (clean || &cause == &queue_) {  // no other traffic takes a part
    traffic_.response.passed(window);
  }
  if (verdict == LossResponse::Verdict::kUnclear) {
    cause.response.stay(window);
  } else if (!clean && (&cause != &queue_ || !hadLoss_)) {
    reduce(&cause, window);
  }
  hadLoss_ = !clean;
  if (came_ > 0) {
    marksPassed(window.took, alone);
  }
}

void DeliveryWindow::reduce(Cause* cause, const LossResponse::Window& window) {
  if (!without_.has(cause->loop)) {
    cause->response.reduce(window);
  }
}

void DeliveryWindow::marksPassed(Duration took, bool alone) {
  const auto like = static_cast<uint64_t>(LossResponse::kReduction *
                                          static_cast<double>(marked_));
  const double slots =
      static_cast<double>(like) / std::max<uint64_t>(1, slotBytes_);
  const LossResponse::Window window{came_ - like, like, slots, took};
  const LossResponse::Verdict verdict =
      alone ? LossResponse::Verdict::kClean : marks_.response.judge(window);
  switch (verdict) {
    case LossResponse::Verdict::kClean:
      return marks_.response.passed(window);
    case LossResponse::Verdict::kUnclear:
      return marks_.response.stay(window);
    case LossResponse::Verdict::kLossy:
      return reduce(&marks_, window);
  }
}

void DeliveryWindow::drained(TimePoint now) {
  if (roundTrip_.known()) {
    rate_.drained(now, kSampleRounds * round());
    changed();
  }
}

void DeliveryWindow::pause() {
  arrivedAt_ = kNever;
  rate_.pause();
}

}  // namespace ubt
