// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/op_failure.h"

namespace ubt {

void OpFailure::set(const Blame& blame) {
  if (!any()) {
    text_ = blame.text;
  }
  culprit_ = blame.rank < 0 ? culprit_ : blame.rank;
}

void OpFailure::disagree(const Blame& blame, int announcer) {
  const bool another = disagreed_ && blame.rank != culprit_;
  disagreed_ = disagreed_ || !any();
  set({blame.text, another ? announcer : blame.rank});
}

}  // namespace ubt
