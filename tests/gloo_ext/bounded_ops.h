// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gloo_ext/statistics.h"

namespace gloo_ext {

// A call of rank 0 in a context of that size, without losses. Rank r has the
// address 10.0.0.r.
inline BoundedOp boundedOp(int size) {
  BoundedOp op;
  op.size = size;
  std::vector<std::string> addresses(size);
  for (int rank = 0; rank < size; rank++) {
    addresses[rank] = "10.0.0." + std::to_string(rank) + ":1000";
  }
  op.addresses = std::make_shared<const std::vector<std::string>>(addresses);
  op.type = ubt::ElementType::kFloat32;
  op.bytes = 1 << 20;
  op.took = std::chrono::milliseconds(5);
  op.report.bounded = true;
  op.report.scatter.resize(size);
  op.report.broadcast.resize(size);
  return op;
}

// Some bytes of each kind.
inline ubt::StageBytes stageBytes() {
  ubt::StageBytes bytes;
  bytes.expected = 100;
  bytes.received = 60;
  bytes.repaired = 10;
  bytes.absent = 20;
  bytes.late = 11;
  bytes.refused = 7;
  bytes.lost = 2;
  return bytes;
}

inline BoundedOp warmupOp(int size) {
  BoundedOp op = boundedOp(size);
  op.report.bounded = false;
  return op;
}

}  // namespace gloo_ext
