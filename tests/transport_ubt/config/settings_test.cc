// SPDX-License-Identifier: Apache-2.0
//
// The effect of each variable. Refused values are in integration/device_faults.
#include "transport_ubt/config/settings.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_directory.h"
#include "transport_ubt/config/setting_table.h"

namespace ubt {
namespace {

Settings with(const char* name, const std::string& value) {
  Settings settings;
  settings.set(name, value);
  return settings;
}

TEST(Settings, ReadsEachVariable) {
  EXPECT_EQ(Settings().groups.str(), "auto");
  for (const char* groups : {"auto", "host", "1", "12"}) {
    EXPECT_EQ(with("groups", groups).groups.str(), groups);
  }
  EXPECT_FALSE(with("bounded", "all").onlyDdp);
  EXPECT_TRUE(with("bounded", "ddp").onlyDdp);
  EXPECT_EQ(with("metrics", "/m").metricsFolder, "/m");
  EXPECT_EQ(with("repair", "none").protocol.repair, RepairPolicy::kNone);
  EXPECT_EQ(with("order", "rank").protocol.order, SumOrder::kRank);
  EXPECT_EQ(with("auth", "aead").protocol.auth, AuthMode::kAead);
  EXPECT_EQ(with("cut_budget", "0.1").protocol.cutBudget, 0.1);
  LoopSet off = with("without", "window/trains").protocol.without;
  EXPECT_TRUE(off.has(Loop::kWindow));
  EXPECT_TRUE(off.has(Loop::kTrains));
  EXPECT_FALSE(off.has(Loop::kQueue));
  EXPECT_EQ(with("loops", "paper").protocol.loops, Loops::kPaper);
  EXPECT_EQ(with("loops", "measured").protocol.loops, Loops::kMeasured);
  EXPECT_EQ(with("hadamard", "on").protocol.hadamard, Hadamard::kAlways);
  EXPECT_EQ(with("warmup_ops", "0").protocol.warmupOps, 0u);
  EXPECT_EQ(with("zero_loss", "0.25").protocol.zeroLoss, 0.25);
  EXPECT_EQ(with("halt_loss", "0").protocol.haltLoss, 0.0);
  EXPECT_EQ(with("skip_loss", "0.05").protocol.skipLoss, 0.05);
  EXPECT_EQ(with("lead_ops", "64").protocol.leadOps, 64u);
  EXPECT_EQ(with("min_bytes", "1099511627776").minBytes, size_t{1} << 40);
  EXPECT_EQ(with("mtu", "1500").mtu, 1500);
  EXPECT_FALSE(with("gso", "off").segmentation);
  EXPECT_EQ(with("arena_bytes", "1048576").arenaBytes, 1048576u);
  EXPECT_EQ(with("window_bytes", "65536").windowBytes, 65536u);
  EXPECT_EQ(with("yield", "5us").idle.yield, std::chrono::microseconds(5));
  EXPECT_EQ(with("nap", "off").idle.nap, Duration{0});
  EXPECT_EQ(with("linger", "90s").linger, std::chrono::seconds(90));
  EXPECT_EQ(with("linger", "off").linger, Duration{0});
  EXPECT_EQ(with("secret", "a b").secret, "a b");
  EXPECT_EQ(with("fault", "loss:0.5").faults.loss, 0.5);
}

TEST(Settings, ReadsExperimentsByName) {
  const Settings settings = with("experiment", "gso:off,lead_ops:9,yield:off");
  EXPECT_FALSE(settings.segmentation);
  EXPECT_EQ(settings.protocol.leadOps, 9u);
  EXPECT_EQ(settings.idle.yield, Duration{0});
  EXPECT_TRUE(settings.has("gso"));
  EXPECT_FALSE(settings.has("nap"));
}

TEST(Settings, RefusesAWrongExperimentAndNamesIt) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      with("experiment", text);
    } catch (const gloo::InvalidOperationException& thrown) {
      return thrown.what();
    }
    return "taken";
  };
  EXPECT_NE(error("gso:no").find("GLOO_UBT_EXPERIMENT=gso:no: expected one of"),
            std::string::npos);
  // A variable of its own is no experiment, and neither is a name alone.
  for (const char* wrong : {"repair:none", "gso", "gso=off", "gos:off", ":"}) {
    EXPECT_NE(error(wrong).find(std::string("GLOO_UBT_EXPERIMENT=") + wrong +
                                ": expected entries such as gso:off"),
              std::string::npos)
        << wrong;
  }
}

// Whoever sets all defaults by hand changes nothing.
TEST(Settings, TheTablesDefaultsAreValues) {
  for (const Setting& setting : settingTable()) {
    const std::string& preset = setting.preset;
    const bool described = preset.find(' ') != std::string::npos ||
                           preset == "none" || preset == "learned" ||
                           preset == "any";
    if (!described) {
      EXPECT_NO_THROW(with(setting.name.c_str(), preset)) << setting.name;
    }
  }
}

TEST(Settings, ReadsOneBoundOrTwo) {
  using std::chrono::microseconds;
  const Settings one = with("bound", "1.5ms");
  EXPECT_EQ(one.protocol.boundScatter, microseconds(1500));
  EXPECT_EQ(one.protocol.boundBroadcast, microseconds(1500));
  const Settings two = with("bound", "20us,1s");
  EXPECT_EQ(two.protocol.boundScatter, microseconds(20));
  EXPECT_EQ(two.protocol.boundBroadcast, std::chrono::seconds(1));
}

TEST(Settings, ReadsAPortOrARange) {
  const Settings one = with("ports", "4000");
  EXPECT_EQ(one.portLow, 4000);
  EXPECT_EQ(one.portHigh, 4000);
  const Settings range = with("ports", "4000-65535");
  EXPECT_EQ(range.portLow, 4000);
  EXPECT_EQ(range.portHigh, 65535);
}

TEST(Settings, MulticastNeedsTagsOverPayloads) {
  for (const char* auth : {"header", "full", "aead"}) {
    Settings settings = with("auth", auth);
    EXPECT_NO_THROW(settings.check()) << auth;
    settings.set("multicast", "auto");
    if (settings.protocol.auth == AuthMode::kHeader) {
      EXPECT_THROW(settings.check(), gloo::InvalidOperationException);
    } else {
      EXPECT_NO_THROW(settings.check()) << auth;
    }
  }
}

TEST(Settings, ReadsTheFirstLineOfASecretFile) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/secret";
  std::ofstream(path) << "correct horse\nbattery\n";
  EXPECT_EQ(with("secret_file", path).secret, "correct horse");
}

TEST(Settings, RefusesAnUnknownNameAndTellsTheNearest) {
  try {
    with("lead_op", "1");
    ADD_FAILURE() << "taken";
  } catch (const gloo::InvalidOperationException& error) {
    EXPECT_NE(std::string(error.what()).find("lead_ops?"), std::string::npos);
  }
}

TEST(Settings, WithABoundByHandThereIsNoWarmUpUnlessAskedFor) {
  setenv("GLOO_UBT_BOUND", "5ms", 1);
  EXPECT_EQ(Settings::fromEnvironment().protocol.warmupOps, 0u);
  setenv("GLOO_UBT_EXPERIMENT", "warmup_ops:3", 1);
  EXPECT_EQ(Settings::fromEnvironment().protocol.warmupOps, 3u);
  unsetenv("GLOO_UBT_BOUND");
  unsetenv("GLOO_UBT_EXPERIMENT");
  EXPECT_EQ(Settings::fromEnvironment().protocol.warmupOps,
            Options().warmupOps);
}

TEST(Settings, RefusesABudgetBesideABoundByHand) {
  setenv("GLOO_UBT_CUT_BUDGET", "0.01", 1);
  EXPECT_EQ(Settings::fromEnvironment().protocol.cutBudget, 0.01);
  setenv("GLOO_UBT_BOUND", "5ms", 1);
  std::string error;
  try {
    Settings::fromEnvironment();
  } catch (const gloo::InvalidOperationException& thrown) {
    error = thrown.what();
  }
  unsetenv("GLOO_UBT_CUT_BUDGET");
  EXPECT_NE(error.find("GLOO_UBT_BOUND=5ms and GLOO_UBT_CUT_BUDGET=0.01"),
            std::string::npos)
      << error;
  Settings::fromEnvironment();
  unsetenv("GLOO_UBT_BOUND");
}

}  // namespace
}  // namespace ubt
