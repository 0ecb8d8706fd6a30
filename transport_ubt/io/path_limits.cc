// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/path_limits.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ubt {

PathLimits::PathLimits(UdpSocket* socket, NameOf nameOf)
    : socket_(socket), nameOf_(std::move(nameOf)) {}

PathLimits::Takes PathLimits::takes(const SocketAddress& to) const {
  for (const Limit& limit : limits_) {
    if (limit.host.sameHost(to)) {
      return limit.takes;
    }
  }
  return Takes::kTrains;
}

bool PathLimits::takesTrains(const SocketAddress& to) const {
  return socket_->segmentation() && takes(to) == Takes::kTrains;
}

void PathLimits::loseTrains(const SocketAddress& to) {
  if (takes(to) == Takes::kTrains) {
    limit(to, Takes::kSingles);
  }
}

void PathLimits::limit(const SocketAddress& to, Takes takes) {
  const auto known =
      std::find_if(limits_.begin(), limits_.end(), [&](const Limit& limit) {
        return limit.host.sameHost(to);
      });
  if (known == limits_.end()) {
    limits_.push_back({to, takes});
  } else {
    known->takes = takes;
  }
}

UdpSocket::Sent PathLimits::send(const SocketAddress& to,
                                 const iovec* pieces,
                                 size_t count,
                                 size_t segmentBytes,
                                 size_t datagrams) {
  const Takes form = takes(to);
  if (form != Takes::kTrains && datagrams > 1) {
    return UdpSocket::Sent::kRefused;
  }
  if (form == Takes::kFragments) {
    const auto sent = socket_->sendInFragments(to, pieces, count);
    return sent == UdpSocket::Sent::kRefused ? UdpSocket::Sent::kFailed : sent;
  }
  const auto sent =
      socket_->send(to, pieces, count, segmentBytes, datagrams > 1);
  if (sent == UdpSocket::Sent::kRefused) {
    refused(to, errno);
  }
  return sent;
}

void PathLimits::refused(const SocketAddress& to, int error) {
  limit(to, Takes::kFragments);
  socket_->warn(
      "the path to " + nameOf_(to) + " refuses datagrams (errno " +
      std::to_string(error) + ", " + std::generic_category().message(error) +
      "): its MTU is smaller than the interface's, or it takes no trains. From "
      "now on that host gets single datagrams, which may be fragmented and "
      "take more time. Set GLOO_UBT_MTU to a size that all paths carry");
}

}  // namespace ubt
