// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "transport_ubt/core/learn/halt.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/learn/stop_strategy.h"
#include "transport_ubt/core/learn/transform_switch.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace ubt {

// Learns from the ops of one context for later ones: when stages may end,
// whether to transform contributions, whether to halt the job. Not thread-safe.
class Learning {
 public:
  // For a context of `ranks` ranks. `options` must outlive this.
  Learning(const Options& options, int ranks);

  // A call begins, and returns a result.
  void begins(TimePoint now, const OpShape& shape) {
    stops_->begins(now, shape);
  }
  void ends() { stops_->ends(); }

  // The bounds of an op that begins now. `limit` is the longest time that the
  // call may take, whatever was learned. `lateness`: of this host.
  OpBounds boundsFor(const OpShape& shape, Duration lateness, Duration limit) {
    return stops_->boundsFor(shape, lateness, limit);
  }

  // An op has returned here with a result. `missing`, 0 to 1, is the fraction
  // of the other ranks' contributions that the result lacks. It has no value if
  // the op was exact or empty.
  void returned(const OpSample& op, std::optional<double> missing);
  // The op is done everywhere: all of its late data has come.
  void done(const OpSample& op) { stops_->done(op); }

  // The form that this rank prefers for all contributions.
  Form wish() const {
    return transform_.wanted() ? Form::kTransformed : Form::kPlain;
  }

  // The running average of `missing`.
  double missing() const { return halt_.loss(); }
  // Whether it is so large that the job should end, and the reason for the
  // user.
  bool haltDue() const { return halt_.due(); }
  std::string whyHalt() const;

 private:
  const Options& options_;
  const std::unique_ptr<StopStrategy> stops_;
  TransformSwitch transform_;
  Halt halt_;
};

}  // namespace ubt
