// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/tcp_flow.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "transport_ubt/core/base/require.h"

namespace ubt::sim {
namespace {

using std::chrono::milliseconds;

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

// RFC 9438.
constexpr double kBeta = 0.7;
constexpr double kC = 0.4;  // of segments, seconds
constexpr double kLeastWindow = 2 * CubicWindow::kMss;

// Linux: net/ipv4/tcp_cubic.c. Slow start ends if a round trip takes longer by
// an eighth, within these limits.
constexpr Duration kHystartLeast = milliseconds(4);
constexpr Duration kHystartMost = milliseconds(16);
constexpr double kHystartFrom = 16 * CubicWindow::kMss;

// Linux: TCP_RTO_MIN. A probe waits two round trips and two ticks. After a
// single packet it waits two round trips and TCP_RTO_MIN, because the receiver
// may delay its acknowledgement.
constexpr Duration kLeastTimeout = milliseconds(200);
constexpr Duration kProbeMore = milliseconds(8);
constexpr uint32_t kBackoffMost = 8;

// Linux passes a connection's data to the link in segments of 1 ms, at its
// pacing rate, and of a third of the window at most.
constexpr double kSegmentSeconds = 1e-3;
constexpr double kPacing = 1.2;
constexpr double kWindowParts = 3;
constexpr double kSegmentMost = 64256;

}  // namespace

void CubicWindow::acknowledged(TimePoint now,
                               double bytes,
                               Duration roundTrip,
                               Duration leastRoundTrip) {
  if (window_ < threshold_) {
    window_ += bytes;
    const Duration more =
        std::clamp(leastRoundTrip / 8, kHystartLeast, kHystartMost);
    if (window_ >= kHystartFrom && roundTrip > leastRoundTrip + more) {
      threshold_ = window_;
    }
    return;
  }
  if (!inEpoch_) {
    inEpoch_ = true;
    epoch_ = now;
    epochWindow_ = reno_ = window_;
    most_ = std::max(most_, window_);
  }
  const double since = seconds(now - epoch_);
  const double most = most_ / kMss;
  const double peak = std::cbrt((most - epochWindow_ / kMss) / kC);
  const double cubic =
      kMss * (kC * std::pow(since + seconds(roundTrip) - peak, 3) + most);
  reno_ += 3 * (1 - kBeta) / (1 + kBeta) * kMss * bytes / window_;
  const double target = std::max(cubic, reno_);
  window_ += std::clamp((target - window_) / window_, 0.0, 0.5) * bytes;
}

void CubicWindow::lost() {
  // An earlier peak that was not reached again makes room for other flows.
  most_ = window_ < most_ ? window_ * (1 + kBeta) / 2 : window_;
  window_ = threshold_ = std::max(kLeastWindow, window_ * kBeta);
  inEpoch_ = false;
}

TcpFlow::TcpFlow(const SimOptions& options,
                 EventQueue* events,
                 Network* network,
                 int from,
                 int to,
                 Then sendable)
    : Flow(options, events, network, from, to, std::move(sendable)),
      idleSince_(events->now()) {
  sampled(std::max<Duration>(network->way(from, to) + network->way(to, from),
                             std::chrono::microseconds(1)));
}

void TcpFlow::write(uint64_t bytes, Then arrived) {
  UBT_REQUIRE(bytes > 0);
  written_ += bytes;
  messages_.push_back({written_, std::move(arrived)});
  sendable_();
}

bool TcpFlow::maySend() const {
  return (!lost_.empty() || next_ < written_) &&
         (inFlight_ == 0 ||
          static_cast<double>(inFlight_) + CubicWindow::kMss <=
              window_.bytes());
}

uint64_t TcpFlow::segmentBytes() const {
  const double paced =
      kPacing * window_.bytes() / seconds(smoothed_) * kSegmentSeconds;
  return static_cast<uint64_t>(
      std::clamp(std::min(paced, window_.bytes() / kWindowParts),
                 kLeastWindow,
                 kSegmentMost));
}

void TcpFlow::send() {
  UBT_REQUIRE(maySend());
  if (!lost_.empty()) {
    const uint64_t begin = *lost_.begin();
    lost_.erase(lost_.begin());
    retransmissions_++;
    flight_[begin].again = true;
    transmit(begin);
    return;
  }
  if (flight_.empty()) {
    window_.idle(events_->now() - idleSince_);
  }
  const uint64_t begin = next_;
  flight_[begin].bytes = std::min(segmentBytes(), written_ - next_);
  next_ += flight_[begin].bytes;
  transmit(begin);
}

void TcpFlow::transmit(uint64_t begin) {
  Segment& segment = flight_[begin];
  const bool first = inFlight_ == 0;
  segment.lost = false;
  segment.number = ++numbers_;
  segment.sentAt = events_->now();
  inFlight_ += segment.bytes;
  network_->offer(from_,
                  to_,
                  onWire(segment.bytes),
                  &lastArrival_,
                  [this, begin, bytes = segment.bytes, number = numbers_] {
                    received(begin, bytes, number);
                  });
  if (first) {
    armTimer();
  }
}

void TcpFlow::received(uint64_t begin, uint64_t bytes, uint64_t number) {
  lastAcknowledgement_ = std::max(lastAcknowledgement_,
                                  events_->now() + network_->way(to_, from_));
  events_->at(lastAcknowledgement_,
              [this, begin, number] { acknowledged(begin, number); });
  if (begin < inOrder_) {
    return;
  }
  outOfOrder_[begin] = bytes;
  for (auto at = outOfOrder_.begin();
       at != outOfOrder_.end() && at->first == inOrder_;
       at = outOfOrder_.erase(at)) {
    inOrder_ += at->second;
  }
  while (!messages_.empty() && messages_.front().end <= inOrder_) {
    const Then arrived = std::move(messages_.front().arrived);
    messages_.pop_front();
    arrived();
  }
}

void TcpFlow::acknowledged(uint64_t begin, uint64_t number) {
  const auto found = flight_.find(begin);
  if (found == flight_.end()) {
    return;  // an earlier transmission was acknowledged
  }
  const Segment segment = found->second;
  const double inFlight = static_cast<double>(inFlight_);
  if (segment.lost) {
    lost_.erase(begin);
  } else {
    inFlight_ -= segment.bytes;
  }
  flight_.erase(found);
  if (!segment.again) {
    sampled(events_->now() - segment.sentAt);
  }
  if (number == probe_ && segment.number == number) {
    reduce();  // the probe has repaired a loss
  }
  backoff_ = 0;
  probed_ = false;
  if (inFlight + kSegmentMost > window_.bytes() / 2 && number > recoverUntil_) {
    window_.acknowledged(events_->now(),
                         static_cast<double>(segment.bytes),
                         smoothed_,
                         leastRoundTrip_);
  }
  findLosses(number);
  if (flight_.empty()) {
    idleSince_ = events_->now();
  }
  armTimer();
  sendable_();
}

void TcpFlow::findLosses(uint64_t number) {
  bool any = false;
  for (auto& [begin, segment] : flight_) {
    if (!segment.lost && segment.number < number) {
      any = any || segment.number > recoverUntil_;
      lose(&segment, begin);
    }
  }
  if (any) {
    reduce();
  }
}

void TcpFlow::reduce() {
  recoverUntil_ = numbers_;
  recoverEnd_ = next_;
  window_.lost();
}

bool TcpFlow::recovers() const {
  return !flight_.empty() && flight_.begin()->first < recoverEnd_;
}

void TcpFlow::lose(Segment* segment, uint64_t begin) {
  segment->lost = true;
  inFlight_ -= segment->bytes;
  lost_.insert(begin);
}

// RFC 6298.
void TcpFlow::sampled(Duration roundTrip) {
  leastRoundTrip_ = std::min(leastRoundTrip_, roundTrip);
  if (smoothed_ == Duration{0}) {
    smoothed_ = roundTrip;
    variation_ = roundTrip / 2;
    return;
  }
  variation_ += (std::chrono::abs(roundTrip - smoothed_) - variation_) / 4;
  smoothed_ += (roundTrip - smoothed_) / 8;
}

Duration TcpFlow::timeout() const {
  return (smoothed_ + std::max(kLeastTimeout, 4 * variation_)) *
         (1 << std::min(backoff_, kBackoffMost));
}

// Restarts the timer, if anything is in flight: of the probe, then of the
// timeout.
void TcpFlow::armTimer() {
  timer_++;
  if (flight_.empty()) {
    return;
  }
  probes_ = !probed_ && backoff_ == 0 && lost_.empty() && !recovers();
  const bool onePacket =
      flight_.size() == 1 && flight_.begin()->second.bytes <= CubicWindow::kMss;
  const Duration probe =
      2 * smoothed_ + (onePacket ? kLeastTimeout : kProbeMore);
  events_->after(probes_ ? std::min(probe, timeout()) : timeout(),
                 [this, generation = timer_] { timerFired(generation); });
}

void TcpFlow::timerFired(uint64_t generation) {
  if (generation != timer_) {
    return;
  }
  if (probes_) {
    // Its arrival shows which segments before it are lost.
    probed_ = true;
    const auto last = std::prev(flight_.end());
    inFlight_ -= last->second.bytes;
    last->second.again = true;
    retransmissions_++;
    transmit(last->first);
    probe_ = numbers_;
    armTimer();
    return;
  }
  timeouts_++;
  if (backoff_++ == 0 && !recovers()) {
    reduce();
  }
  for (auto& [begin, segment] : flight_) {
    if (!segment.lost) {
      lose(&segment, begin);
    }
  }
  recoverUntil_ = numbers_;
  window_.timedOut();
  armTimer();
  sendable_();
}

}  // namespace ubt::sim
