// SPDX-License-Identifier: Apache-2.0
//
// A result that arrives with a wrong byte: ranks notice that they differ, and
// the error names them and the op.

#include <gmock/gmock.h>

#include "tests/sim/run_checked.h"

namespace ubt::sim {
namespace {

SimOptions wrongResultAt(int rank) {
  SimOptions options;
  options.ranks = 4;
  options.ops = 30;
  options.oneShape = true;
  options.elementsMax = 20000;
  options.checkResults = false;
  options.faults.wrongResult = {rank, std::chrono::milliseconds(1)};
  return options;
}

TEST(ReplicaProof, AWrongByteIsAnErrorThatNamesTheRankAndTheOp) {
  for (const int rank : {0, 3}) {
    const SimResult result = runChecked(wrongResultAt(rank));
    ASSERT_EQ(result.faults.get(Fault::kWrongResult), 1u);
    EXPECT_THAT(result.errorTexts,
                ::testing::Contains(::testing::AllOf(
                    ::testing::HasSubstr("allreduce 5 with tag 0"),
                    ::testing::HasSubstr("have different results"),
                    ::testing::HasSubstr("rank " + std::to_string(rank)))));
  }
}

// Without repair replicas may differ, and nobody compares them.
TEST(ReplicaProof, NothingIsProvedWithoutRepair) {
  SimOptions options = wrongResultAt(3);
  options.protocol.warmupOps = 0;
  options.protocol.boundScatter = options.protocol.boundBroadcast =
      std::chrono::milliseconds(50);
  options.protocol.repair = RepairPolicy::kNone;
  const SimResult result = runChecked(options);
  EXPECT_EQ(result.faults.get(Fault::kWrongResult), 1u);
  EXPECT_EQ(result.errors, 0u);
}

}  // namespace
}  // namespace ubt::sim
