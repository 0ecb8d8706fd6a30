// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/policy.h"

#include <gloo/common/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/environment_variable.h"

namespace gloo_ext {
namespace {

using std::chrono::milliseconds;
using test::EnvironmentVariable;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kAlgorithm[] = "GLOO_ALGO";
constexpr char kMinBytes[] = "GLOO_UBT_MIN_BYTES";
constexpr char kHandshake[] = "GLOO_UBT_HANDSHAKE_TIMEOUT";

// The error for the environment.
std::string refusal() {
  try {
    Policy::fromEnvironment();
  } catch (const gloo::InvalidOperationException& error) {
    return error.what();
  }
  return "taken";
}

TEST(Policy, WithoutAnAlgorithmNothingElseIsLookedAt) {
  const EnvironmentVariable minBytes(kMinBytes, "many");
  const EnvironmentVariable handshake(kHandshake, "soon");
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    const EnvironmentVariable algorithm(kAlgorithm, unset);
    EXPECT_EQ(Policy::fromEnvironment().algorithm, Algorithm::kOriginal);
  }
}

TEST(Policy, KnowsEachAlgorithm) {
  const std::map<const char*, Algorithm> algorithms = {
      {"ring", Algorithm::kRing},
      {"bcube", Algorithm::kBcube},
      {"halving_doubling", Algorithm::kHalvingDoubling},
      {"transpose", Algorithm::kTranspose},
      {"hierarchical_transpose", Algorithm::kHierarchicalTranspose},
      {"hierarchical_optireduce", Algorithm::kHierarchicalOptiReduce},
      {"optireduce", Algorithm::kOptiReduce}};
  for (const auto& [name, algorithm] : algorithms) {
    const EnvironmentVariable variable(kAlgorithm, name);
    EXPECT_EQ(Policy::fromEnvironment().algorithm, algorithm) << name;
  }
}

TEST(Policy, NamesTheAlgorithmNearestToAMisspeltOne) {
  const std::map<const char*, const char*> nearest = {
      {"optirduce", "optireduce"},
      {"RING", "ring"},
      {"rin", "ring"},
      {"halving-doubling", "halving_doubling"},
      {"hierarchical", "hierarchical_transpose"},
      {"transpose ", "transpose"}};
  for (const auto& [misspelt, meant] : nearest) {
    const EnvironmentVariable variable(kAlgorithm, misspelt);
    EXPECT_THAT(refusal(),
                AllOf(HasSubstr("GLOO_ALGO=" + std::string(misspelt) + ": "),
                      HasSubstr("did you mean " + std::string(meant) + "?"),
                      HasSubstr("bcube halving_doubling "
                                "hierarchical_optireduce "
                                "hierarchical_transpose "
                                "optireduce ring transpose")));
  }
}

TEST(Policy, ReadsTheGroupsOfAHierarchicalTransposeAlone) {
  const EnvironmentVariable groups("GLOO_UBT_GROUPS", "none");
  {
    const EnvironmentVariable algorithm(kAlgorithm, "transpose");
    EXPECT_EQ(refusal(), "taken");
  }
  const EnvironmentVariable algorithm(kAlgorithm, "hierarchical_transpose");
  EXPECT_EQ(refusal(),
            "GLOO_UBT_GROUPS=none: expected one of: auto, host, or a number of "
            "groups such as 4");
  const EnvironmentVariable host("GLOO_UBT_GROUPS", "host");
  EXPECT_EQ(Policy::fromEnvironment().groups.str(), "host");
}

TEST(Policy, BoundsWhatItsUserChose) {
  const EnvironmentVariable algorithm(kAlgorithm, "optireduce");
  for (const bool onlyDdp : {false, true}) {
    const EnvironmentVariable bounded("GLOO_UBT_BOUNDED",
                                      onlyDdp ? "ddp" : nullptr);
    const Policy policy = Policy::fromEnvironment();
    EXPECT_TRUE(policy.bounds(Choice::kBounded));
    EXPECT_FALSE(policy.bounds(Choice::kExact));
    EXPECT_EQ(policy.bounds(Choice::kDefault), !onlyDdp);
  }
}

TEST(Policy, ReadsTheSettingsOfTheBoundedPath) {
  const EnvironmentVariable algorithm(kAlgorithm, "optireduce");
  {
    const EnvironmentVariable minBytes(kMinBytes, nullptr);
    const EnvironmentVariable handshake(kHandshake, nullptr);
    const Policy policy = Policy::fromEnvironment();
    EXPECT_EQ(policy.bytesMin, size_t{256} << 10);
    EXPECT_EQ(policy.handshakeTimeout, milliseconds(0));
  }
  const EnvironmentVariable minBytes(kMinBytes, "4096");
  const EnvironmentVariable handshake(kHandshake, "1.5s");
  const Policy policy = Policy::fromEnvironment();
  EXPECT_EQ(policy.bytesMin, 4096u);
  EXPECT_EQ(policy.handshakeTimeout, milliseconds(1500));
}

// Zero would mean the context's timeout.
TEST(Policy, AHandshakeTimeoutIsNeverRoundedToNone) {
  const EnvironmentVariable algorithm(kAlgorithm, "optireduce");
  const EnvironmentVariable handshake(kHandshake, "1us");
  EXPECT_EQ(Policy::fromEnvironment().handshakeTimeout, milliseconds(1));
}

TEST(Policy, RefusesAHandshakeTimeoutThatIsNone) {
  const EnvironmentVariable algorithm(kAlgorithm, "optireduce");
  for (const char* value : {"", "soon", "5", "5 s", "-1s", "0s", "5minutes"}) {
    const EnvironmentVariable handshake(kHandshake, value);
    EXPECT_THAT(
        refusal(),
        AllOf(HasSubstr(std::string(kHandshake) + "=" + value),
              HasSubstr("a positive duration such as 500us, 20ms or 1s")));
  }
}

}  // namespace
}  // namespace gloo_ext
