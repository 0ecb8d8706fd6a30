// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <memory>
#include <optional>

#include "algorithms/rank_agreement.h"
#include "algorithms/transpose_engine.h"

namespace gloo {

// The common part of TransposeAllreduce<T> and
// HierarchicalTransposeAllreduce<T>, where elements are only bytes. In its
// first run the ranks agree on their elements and groups. An engine does the
// rest.
//
// Threading: one thread at a time. The elements must outlive the object.
class TransposeExchange {
 public:
  // With all ranks in one group.
  TransposeExchange(const std::shared_ptr<Context>& context,
                    TransposeElements elements);

  // In groups that follow from the ranks' wishes.
  TransposeExchange(const std::shared_ptr<Context>& context,
                    TransposeElements elements,
                    const GroupWish& wish);

  // Throws IoException when a peer fails or the context's timeout passes. The
  // first run also throws IoException if the ranks bring different numbers or
  // sizes of elements, and the exceptions of agreedGroups(). The object cannot
  // be used after an exception.
  void run();

 private:
  void agree();

  const std::shared_ptr<Context> context_;
  const TransposeEngine::Slots slots_;
  TransposeElements elements_;                // until there is an engine
  std::unique_ptr<TransposeEngine> engine_;   // with one group from the start
  std::unique_ptr<RankAgreement> agreement_;  // for the first run only
};

}  // namespace gloo
