// SPDX-License-Identifier: Apache-2.0
#include "benchmark/algorithm_name.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/environment_variable.h"

namespace gloo {
namespace compare {
namespace {

using ubt::RepairPolicy;
using ubt::Settings;

Settings settingsOf(const std::string& text) {
  return AlgorithmName::parse(text).over({});
}

std::string errorOf(const std::string& text) {
  try {
    settingsOf(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(AlgorithmName, WithoutSettings) {
  const auto name = AlgorithmName::parse("ring_chunked");
  EXPECT_EQ("ring_chunked", name.algorithm);
  EXPECT_TRUE(name.settings.empty());
}

TEST(AlgorithmName, SettingsAreVariables) {
  const auto name = AlgorithmName::parse("optireduce:none+gso=off+lead_ops=1");
  EXPECT_EQ("optireduce", name.algorithm);
  const auto settings = name.over({});
  EXPECT_EQ(RepairPolicy::kNone, settings.protocol.repair);
  EXPECT_FALSE(settings.segmentation);
  EXPECT_EQ(1U, settings.protocol.leadOps);
}

TEST(AlgorithmName, ChoosesThePapersLoops) {
  EXPECT_EQ(settingsOf("optireduce+loops=paper").protocol.loops,
            ubt::Loops::kPaper);
  EXPECT_EQ(AlgorithmName::parse("optireduce+loops=paper")
                .variables()
                .at("GLOO_UBT_EXPERIMENT"),
            "loops:paper");
}

TEST(AlgorithmName, OthersStay) {
  Settings others;
  others.protocol.leadOps = 2;
  const auto settings = AlgorithmName::parse("optireduce+gso=off").over(others);
  EXPECT_EQ(2U, settings.protocol.leadOps);
}

TEST(AlgorithmName, ABoundByHandNeedsNoWarmup) {
  EXPECT_EQ(0U, settingsOf("optireduce+bound=1ms").protocol.warmupOps);
  EXPECT_EQ(7U,
            settingsOf("optireduce+bound=1ms+warmup_ops=7").protocol.warmupOps);
  const auto fromEnvironment = [] {
    Settings settings;
    settings.set("warmup_ops", "9");
    return settings;
  }();
  EXPECT_EQ(9U,
            AlgorithmName::parse("optireduce+bound=1ms")
                .over(fromEnvironment)
                .protocol.warmupOps);
}

TEST(AlgorithmName, VariablesMeanTheSame) {
  using Variables = std::map<std::string, std::string>;
  EXPECT_EQ(Variables(), AlgorithmName::parse("ring").variables());
  EXPECT_EQ((Variables{{"GLOO_UBT_REPAIR", "none"}, {"GLOO_UBT_GROUPS", "2"}}),
            AlgorithmName::parse("optireduce:none+groups=2").variables());
  EXPECT_EQ((Variables{{"GLOO_UBT_EXPERIMENT", "gso:off,lead_ops:1"}}),
            AlgorithmName::parse("optireduce+gso=off+lead_ops=1").variables());
}

struct Mistake {
  std::string text;
  std::string culprit;
  std::string allowed;
};

TEST(AlgorithmName, ErrorsNameTheCulpritAndTheAllowedValues) {
  for (const auto& [text, culprit, allowed] : std::vector<Mistake>{
           {"optireduce+gso", "'gso' has to be NAME=VALUE", "+"},
           {"optireduce+", "'' has to be NAME=VALUE", "+"},
           {"optireduce+gzo=on", "no setting 'gzo'", "did you mean gso?"},
           {"optireduce+gzo=on", "no setting 'gzo'", "zero_loss"},
           {"optireduce+gso=soon",
            "GLOO_UBT_EXPERIMENT=gso:soon",
            "one of: on, off"},
           {"optireduce+lead_ops=0",
            "GLOO_UBT_EXPERIMENT=lead_ops:0",
            "from 1 to 64"},
           {"optireduce:some", "GLOO_UBT_REPAIR=some", "none, broadcast"},
           {"optireduce+multicast=auto", "MULTICAST", "GLOO_UBT_AUTH=full"},
           {"optireduce:none+repair=both", "repair twice", "leave out one"}}) {
    const auto error = errorOf(text);
    EXPECT_NE(std::string::npos, error.find(text)) << error;
    EXPECT_NE(std::string::npos, error.find(culprit)) << error;
    EXPECT_NE(std::string::npos, error.find(allowed)) << error;
  }
}

}  // namespace
}  // namespace compare
}  // namespace gloo
