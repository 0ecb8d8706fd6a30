// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ubt {

// Counts up in each direction, separately for data and control. Numbers of
// control datagrams have kControlNumber set, so that no two datagrams share a
// number. The wire carries only the lowest bits and the datagram's type. The
// tag covers all bits.
using PacketNumber = uint64_t;

constexpr PacketNumber kControlNumber = PacketNumber{1} << 63;
constexpr int kNumberBitsOnWire = 24;

// The number with these lowest bits that is nearest to `next`. Neither argument
// has kControlNumber. The result is wrong only if half of the range of the
// lowest bits, some 12 GB of data, was lost in a row or arrived in another
// order.
constexpr PacketNumber nearestNumber(PacketNumber lowestBits,
                                     PacketNumber next) {
  constexpr PacketNumber kRange = PacketNumber{1} << kNumberBitsOnWire;
  const PacketNumber near =
      (next & ~(kRange - 1)) | (lowestBits & (kRange - 1));
  if (near + kRange / 2 <= next) {
    return near + kRange;
  }
  if (near > next + kRange / 2 && near >= kRange) {
    return near - kRange;
  }
  return near;
}

}  // namespace ubt
