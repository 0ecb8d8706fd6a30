// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ubt {

// Counts up per direction, data and control apart: kControlNumber is set in a
// control datagram's number, so that no two datagrams share one. The wire has
// but the lowest bits, and whether it is control; a tag covers all of it.
using PacketNumber = uint64_t;

constexpr PacketNumber kControlNumber = PacketNumber{1} << 63;
constexpr int kNumberBitsOnWire = 24;

// The number with these lowest bits that is nearest to `next`, both without
// kControlNumber: what was sent, unless half of what the bits can tell apart,
// some 12 GB of data, has been lost in a row or overtaken it.
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
