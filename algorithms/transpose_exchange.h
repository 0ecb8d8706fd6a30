// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <memory>
#include <optional>

#include "algorithms/rank_agreement.h"
#include "algorithms/transpose_engine.h"

namespace gloo {

// What TransposeAllreduce<T> and HierarchicalTransposeAllreduce<T> do, which
// knows elements only as bytes: in its first run the ranks agree on what they
// bring and how they are grouped, and an engine does the rest.
//
// Threading: one thread at a time. The elements must outlive the object.
class TransposeExchange {
 public:
  // With all ranks in one group.
  TransposeExchange(const std::shared_ptr<Context>& context,
                    TransposeElements elements);

  // In groups that the ranks' wishes come to.
  TransposeExchange(const std::shared_ptr<Context>& context,
                    TransposeElements elements,
                    const GroupWish& wish);

  // Throws IoException when a peer fails or the context's timeout passes, or
  // if the ranks bring different numbers or sizes of elements, which the first
  // run finds out, or what agreedGroups() throws; the object cannot be
  // used after that.
  void run();

 private:
  void agree();

  const std::shared_ptr<Context> context_;
  const TransposeEngine::Slots slots_;
  TransposeElements elements_;                // until there is an engine
  std::unique_ptr<TransposeEngine> engine_;   // with one group from the start
  std::unique_ptr<RankAgreement> agreement_;  // of the first run only
};

}  // namespace gloo
