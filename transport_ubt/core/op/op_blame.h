// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/op/op_failure.h"
#include "transport_ubt/core/op/op_state.h"
#include "transport_ubt/core/op/replica_proof.h"

namespace ubt {

// Why an op's call fails: the text of its error, and the rank to blame.

// The ranks that an op waits for, and which one to blame. Ranks of one kind are
// named, the first of these kinds:
// 1. Ranks that have not entered. Ranks that owe contributions are named, too.
// 2. Ranks that owe contributions.
// 3. Ranks that owe results. They may wait for ranks of the kinds above.
// 4. Ranks that lack results, because this rank has no room to keep them.
// To blame is the rank of that kind that has been silent longest. The others
// may wait for it, too.
OpFailure::Blame missingRanks(const OpState& op);

// The text of a warning: the op's call has waited for long. Empty: it waits for
// no rank.
std::string warningOfWait(const OpState& op);

// The op's call has reached its timeout.
OpFailure::Blame blameForTimeout(const OpState& op, TimePoint now);

// A rank brings another shape than the one that began the op.
OpFailure::Blame blameForShapes(const OpState& op,
                                int rank,
                                const OpShape& shape);

// Replicas differ. The text is empty if all hashes that ranks have told are
// equal. The rank to blame is another one, though this one may be wrong.
OpFailure::Blame blameForResults(const OpState& op,
                                 const ReplicaProof& replicas);

}  // namespace ubt
