// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/algorithm_list.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/environment_variable.h"

namespace gloo {
namespace compare {
namespace {

using Names = std::vector<std::string>;

Names chosen(const Names& names, int ranks) {
  Names found;
  for (const auto& spec : chooseAlgorithms(names, ranks)) {
    found.push_back(spec.name);
  }
  return found;
}

void expectError(const std::string& name,
                 int ranks,
                 const std::string& culprit,
                 const std::string& remedy) {
  try {
    chooseAlgorithms({name}, ranks);
    FAIL() << name << " was accepted";
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_NE(std::string::npos, text.find(culprit)) << text;
    EXPECT_NE(std::string::npos, text.find(remedy)) << text;
  }
}

TEST(AlgorithmList, ByDefaultAllThatCanWork) {
  EXPECT_EQ((Names{"ring",
                   "ring_chunked",
                   "halving_doubling",
                   "bcube",
                   "transpose",
                   "optireduce"}),
            chosen({}, 4));
  EXPECT_EQ((Names{"ring",
                   "ring_chunked",
                   "halving_doubling",
                   "transpose",
                   "optireduce"}),
            chosen({}, 3));
}

TEST(AlgorithmList, InTheOrderGivenWithTheFullName) {
  EXPECT_EQ((Names{"transpose", "optireduce+gso=off", "ring"}),
            chosen({"transpose", "optireduce+gso=off", "ring"}, 4));
}

TEST(AlgorithmList, SettingsCountForThatAlgorithm) {
  const auto specs =
      chooseAlgorithms({"optireduce:none+warmup_ops=3", "optireduce"}, 4);
  EXPECT_EQ("none", specs[0].repair);
  EXPECT_EQ("broadcast", specs[1].repair);
  EXPECT_EQ(17, specs[1].warmupRuns - specs[0].warmupRuns);
}

TEST(AlgorithmList, SettingsDecideWhetherItCanWork) {
  const test::EnvironmentVariable groups("GLOO_UBT_GROUPS", "3");
  EXPECT_EQ((Names{"hierarchical_optireduce+groups=2"}),
            chosen({"hierarchical_optireduce+groups=2"}, 4));
  expectError("hierarchical_optireduce", 4, "GLOO_UBT_GROUPS=3", "4 ranks");
  expectError("hierarchical_transpose", 4, "GLOO_UBT_GROUPS=3", "4 ranks");
}

TEST(AlgorithmList, ErrorsNameTheCulpritAndTheRemedy) {
  expectError("rign", 4, "'rign'", "did you mean ring?");
  expectError("rign", 4, "'rign'", "halving_doubling");
  expectError("bcube", 3, "bcube", "power of 2");
  expectError("optireduce", 1, "optireduce", "at least 2 ranks");
  expectError("optireduce+gzo=off", 4, "'gzo'", "did you mean gso?");
  expectError("ring+gso=off", 4, "ring takes no settings", "optireduce");
  EXPECT_THROW(chooseAlgorithms({"ring", "ring"}, 4), std::invalid_argument);
}

}  // namespace
}  // namespace compare
}  // namespace gloo
