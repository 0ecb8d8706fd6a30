// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "transport_ubt/core/learn/halt.h"
#include "transport_ubt/core/learn/op_bounds.h"
#include "transport_ubt/core/learn/op_sample.h"
#include "transport_ubt/core/learn/size_classes.h"
#include "transport_ubt/core/learn/transform_switch.h"
#include "transport_ubt/core/wire/control.h"
#include "transport_ubt/core/wire/options.h"

namespace ubt {

// What one context learns from its ops for later ones: how long stages may
// take, whether to transform contributions, whether to halt the job. Ranks tell
// each other how long their stages took. Not thread-safe.
class Learning {
 public:
  // Of that rank, of so many. `options` must outlive this.
  Learning(const Options& options, int rank, int ranks);

  // For an op of this shape that begins now. `limit`: what the call may take,
  // whatever was learned.
  OpBounds boundsFor(const OpShape& shape,
                     const StageBound::Unrest& unrest,
                     Duration limit) {
    return classesOf(shape.hierarchical()).boundsFor(shape, unrest, limit);
  }

  // An op has returned here with a result. `missing` is the share of what other
  // ranks bring that its result lacks, 0 to 1; none: it was exact, or empty.
  // Returns what to tell the other ranks.
  ControlRecord returned(const OpSample& op, std::optional<double> missing);
  // It is done everywhere: all that is late for it has come.
  void done(const OpSample& op) { classesOf(op.hierarchical).done(op); }
  // A rank tells how long its stages took (ControlType::kTookStage).
  void told(int rank, const ControlRecord& record);

  // In which form this rank wants all ranks to contribute.
  Form wish() const {
    return transform_.wanted() ? Form::kTransformed : Form::kPlain;
  }

  // The running average of `missing`.
  double missing() const { return halt_.loss(); }
  // Whether it is so large that the job should end, and what to tell the user.
  bool haltDue() const { return halt_.due(); }
  std::string whyHalt() const;

 private:
  // Hierarchical ops have three stages, each with other peers than a plain
  // op's: what they learn is theirs.
  SizeClasses& classesOf(bool hierarchical) {
    return classes_[hierarchical ? 1 : 0];
  }

  const Options& options_;
  const int rank_;
  std::array<SizeClasses, 2> classes_;  // of plain and hierarchical ops
  TransformSwitch transform_;
  Halt halt_;
};

}  // namespace ubt
