// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/path_limits.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ubt {

PathLimits::PathLimits(UdpSocket* socket, NameOf nameOf)
    : socket_(socket), nameOf_(std::move(nameOf)) {}

std::vector<PathLimits::Limit>::const_iterator PathLimits::find(
    const SocketAddress& host) const {
  return std::find_if(limits_.begin(), limits_.end(), [&](const Limit& limit) {
    return limit.host.sameHost(host);
  });
}

PathLimits::Takes PathLimits::takes(const SocketAddress& to) const {
  const auto known = find(to);
  return known == limits_.end() ? Takes::kTrains : known->takes;
}

bool PathLimits::takesTrains(const SocketAddress& to) const {
  return socket_->segmentation() && takes(to) == Takes::kTrains;
}

void PathLimits::trainsGetLost(const SocketAddress& to) {
  if (takes(to) == Takes::kTrains) {
    limitOf(to).takes = Takes::kSingles;
  }
}

void PathLimits::forget(const SocketAddress& host) {
  if (const auto known = find(host); known != limits_.end()) {
    limits_.erase(known);
  }
}

PathLimits::Limit& PathLimits::limitOf(const SocketAddress& to) {
  const auto at = find(to) - limits_.cbegin();
  if (at == limits_.cend() - limits_.cbegin()) {
    limits_.push_back({to, Takes::kTrains, false});
  }
  return limits_[at];
}

UdpSocket::Sent PathLimits::send(const SocketAddress& to,
                                 const iovec* pieces,
                                 size_t count,
                                 size_t segmentBytes,
                                 size_t datagrams) {
  const Takes form = takes(to);
  const bool train = datagrams > 1;
  if (form != Takes::kTrains && train) {
    return UdpSocket::Sent::kRefused;
  }
  if (form == Takes::kFragments) {
    const auto sent = socket_->sendInFragments(to, pieces, count);
    return sent == UdpSocket::Sent::kRefused ? UdpSocket::Sent::kFailed : sent;
  }
  const auto sent = socket_->send(to, pieces, count, segmentBytes, train);
  if (sent == UdpSocket::Sent::kRefused) {
    refused(to, train ? Takes::kSingles : Takes::kFragments, errno);
  }
  return sent;
}

void PathLimits::refused(const SocketAddress& to, Takes takes, int error) {
  Limit& limit = limitOf(to);
  limit.takes = takes;
  if (limit.refused) {
    return;
  }
  limit.refused = true;
  socket_->warn(
      "the path to " + nameOf_(to) + " refuses datagrams (errno " +
      std::to_string(error) + ", " + std::generic_category().message(error) +
      "): its MTU is smaller than the interface's, or it takes no trains. From "
      "now on that host gets single datagrams, which may be fragmented and "
      "take more time. Set GLOO_UBT_MTU to a size that all paths carry");
}

}  // namespace ubt
