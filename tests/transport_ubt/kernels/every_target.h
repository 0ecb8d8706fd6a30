// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <string>

namespace ubt {
namespace testing {

// Runs a test once for each instruction set of this processor. The set is in
// force for the lifetime of the test.
class EveryTarget : public ::testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

inline std::string targetName(const ::testing::TestParamInfo<int64_t>& info) {
  return hwy::TargetName(info.param);
}

#define UBT_INSTANTIATE_EVERY_TARGET(fixture)                   \
  INSTANTIATE_TEST_SUITE_P(                                     \
      Processor,                                                \
      fixture,                                                  \
      ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), \
      ::ubt::testing::targetName)

}  // namespace testing
}  // namespace ubt
