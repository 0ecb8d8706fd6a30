// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "transport_ubt/core/op.h"
#include "transport_ubt/core/options.h"
#include "transport_ubt/core/stage_bound.h"

namespace ubt {

// How long ops may take, learned apart for each size (powers of two of bytes):
// first as long as it takes, exactly; then by their bounds. Not thread-safe.
class SizeClasses {
 public:
  // `options` must outlive this.
  explicit SizeClasses(const Options& options) : options_(options) {}

  // For an op of this shape that begins now. `lateness`: how late deadlines may
  // be noticed on any rank. `limit`: what the call may take, whatever was
  // learned.
  OpBounds boundsFor(const OpShape& shape, Duration lateness, Duration limit);
  // An op has returned with a result.
  void returned(const Op& op);
  // It is done everywhere: all that is late for it has come.
  void done(const Op& op);

 private:
  struct Learned {
    uint32_t ops = 0;
    StageBound scatter;
    StageBound broadcast;
  };

  const Options& options_;
  std::map<uint32_t, Learned> classes_;
};

}  // namespace ubt
