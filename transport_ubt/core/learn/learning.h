// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "transport_ubt/core/learn/halt.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/learn/size_classes.h"
#include "transport_ubt/core/learn/stop_learning.h"
#include "transport_ubt/core/learn/transform_switch.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// Learns from the ops of one context for later ones: how long stages may take,
// whether to transform contributions, whether to halt the job. Ranks tell each
// other how long their stages took. Not thread-safe.
class Learning {
 public:
  // For rank `rank` of `ranks`. `options` must outlive this.
  Learning(const Options& options, int rank, int ranks);

  // A call begins, and returns a result.
  void begins(TimePoint now, const OpShape& shape) {
    stops_.begins(now, shape);
  }
  void ends() { stops_.ends(); }

  // The bounds of an op that begins now. `limit` is the longest time that the
  // call may take, whatever was learned. `lateness`: of this host.
  OpBounds boundsFor(const OpShape& shape,
                     const StageBound::Unrest& unrest,
                     Duration lateness,
                     Duration limit) {
    return options_.loops == Loops::kMeasured
               ? stops_.boundsFor(shape, lateness, limit)
               : classesOf(shape.hierarchical())
                     .boundsFor(shape, unrest, limit);
  }

  // An op has returned here with a result. `missing`, 0 to 1, is the fraction
  // of the other ranks' contributions that the result lacks. It has no value if
  // the op was exact or empty. Returns the record for the other ranks.
  ControlRecord returned(const OpSample& op, std::optional<double> missing);
  // The op is done everywhere: all of its late data has come.
  void done(const OpSample& op);
  // A rank reports how long its stages took (ControlType::kTookStage).
  void told(int rank, const ControlRecord& record);

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
  // Hierarchical ops have three stages, with other peers than those of plain
  // ops. So the two kinds learn separately.
  SizeClasses& classesOf(bool hierarchical) {
    return classes_[hierarchical ? 1 : 0];
  }

  const Options& options_;
  const int rank_;
  std::array<SizeClasses, 2> classes_;  // of plain and hierarchical ops
  StopLearning stops_;
  TransformSwitch transform_;
  Halt halt_;
};

}  // namespace ubt
