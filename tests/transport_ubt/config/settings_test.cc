// SPDX-License-Identifier: Apache-2.0
//
// The effect of each variable. Refused values are in integration/device_faults.
#include "transport_ubt/config/settings.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_directory.h"

namespace gloo {
namespace transport {
namespace ubt {
namespace {

Settings with(const char* name, const std::string& value) {
  Settings settings;
  settings.read(name, value);
  return settings;
}

TEST(Settings, ReadsEachVariable) {
  EXPECT_EQ(Settings().groups.str(), "auto");
  for (const char* groups : {"auto", "host", "1", "12"}) {
    EXPECT_EQ(with("GLOO_UBT_GROUPS", groups).groups.str(), groups);
  }
  EXPECT_EQ(with("GLOO_UBT_REPAIR", "none").protocol.repair,
            ::ubt::RepairPolicy::kNone);
  EXPECT_EQ(with("GLOO_UBT_FILL", "zero").protocol.fill, ::ubt::Fill::kZero);
  EXPECT_EQ(with("GLOO_UBT_ORDER", "rank").protocol.order,
            ::ubt::SumOrder::kRank);
  EXPECT_EQ(with("GLOO_UBT_AUTH", "aead").protocol.auth,
            ::ubt::AuthMode::kAead);
  EXPECT_EQ(with("GLOO_UBT_BOUND_MODE", "paper").protocol.boundMode,
            ::ubt::BoundMode::kPaper);
  EXPECT_FALSE(with("GLOO_UBT_WINDOW", "fixed").windowAdapts);
  EXPECT_TRUE(with("GLOO_UBT_WINDOW", "auto").windowAdapts);
  EXPECT_FALSE(with("GLOO_UBT_TRAINS", "fixed").trainsAdapt);
  EXPECT_TRUE(with("GLOO_UBT_TRAINS", "auto").trainsAdapt);
  EXPECT_EQ(with("GLOO_UBT_HADAMARD", "on").protocol.hadamard,
            ::ubt::Hadamard::kAlways);
  EXPECT_EQ(with("GLOO_UBT_WARMUP_OPS", "0").protocol.warmupOps, 0u);
  EXPECT_EQ(with("GLOO_UBT_ZERO_LOSS", "0.25").protocol.zeroLoss, 0.25);
  EXPECT_EQ(with("GLOO_UBT_HALT_LOSS", "0").protocol.haltLoss, 0.0);
  EXPECT_EQ(with("GLOO_UBT_SKIP_LOSS", "0.05").protocol.skipLoss, 0.05);
  EXPECT_EQ(with("GLOO_UBT_LEAD_OPS", "64").protocol.leadOps, 64u);
  EXPECT_FALSE(with("GLOO_UBT_RESULTS_FIRST", "off").protocol.resultsFirst);
  EXPECT_EQ(with("GLOO_UBT_MIN_BYTES", "1099511627776").minBytes,
            size_t{1} << 40);
  EXPECT_EQ(with("GLOO_UBT_MTU", "1500").mtu, 1500);
  EXPECT_FALSE(with("GLOO_UBT_GSO", "off").segmentation);
  EXPECT_EQ(with("GLOO_UBT_ARENA_BYTES", "1048576").arenaBytes, 1048576u);
  EXPECT_EQ(with("GLOO_UBT_WINDOW_BYTES", "65536").windowBytes, 65536u);
  EXPECT_EQ(with("GLOO_UBT_YIELD", "5us").idle.yield,
            std::chrono::microseconds(5));
  EXPECT_EQ(with("GLOO_UBT_NAP", "off").idle.nap, ::ubt::Duration{0});
  EXPECT_EQ(with("GLOO_UBT_LINGER", "90s").linger, std::chrono::seconds(90));
  EXPECT_EQ(with("GLOO_UBT_LINGER", "off").linger, ::ubt::Duration{0});
  EXPECT_EQ(with("GLOO_UBT_SECRET", "a b").secret, "a b");
  EXPECT_EQ(with("GLOO_UBT_FAULT", "loss:0.5").faults.loss, 0.5);
}

TEST(Settings, ReadsWhetherStagesEndEarlyAndHowPatiently) {
  EXPECT_TRUE(with("GLOO_UBT_EARLY", "on").protocol.early);
  EXPECT_EQ(with("GLOO_UBT_EARLY", "on").protocol.earlyShare, 0.0);
  EXPECT_FALSE(with("GLOO_UBT_EARLY", "off").protocol.early);
  EXPECT_TRUE(with("GLOO_UBT_EARLY", "on").protocol.marks);
  EXPECT_TRUE(with("GLOO_UBT_EARLY", "unmarked").protocol.early);
  EXPECT_FALSE(with("GLOO_UBT_EARLY", "unmarked").protocol.marks);
  EXPECT_TRUE(with("GLOO_UBT_EARLY", "12.5%").protocol.early);
  EXPECT_EQ(with("GLOO_UBT_EARLY", "12.5%").protocol.earlyShare, 0.125);
  for (const char* wrong : {"", "10", "0%", "101%", "%", "10%x", "auto"}) {
    EXPECT_THROW(with("GLOO_UBT_EARLY", wrong),
                 ::gloo::InvalidOperationException)
        << wrong;
  }
}

TEST(Settings, ReadsOneBoundOrTwo) {
  using std::chrono::microseconds;
  const Settings one = with("GLOO_UBT_BOUND", "1.5ms");
  EXPECT_EQ(one.protocol.boundScatter, microseconds(1500));
  EXPECT_EQ(one.protocol.boundBroadcast, microseconds(1500));
  const Settings two = with("GLOO_UBT_BOUND", "20us,1s");
  EXPECT_EQ(two.protocol.boundScatter, microseconds(20));
  EXPECT_EQ(two.protocol.boundBroadcast, std::chrono::seconds(1));
}

TEST(Settings, ReadsAPortOrARange) {
  const Settings one = with("GLOO_UBT_PORTS", "4000");
  EXPECT_EQ(one.portLow, 4000);
  EXPECT_EQ(one.portHigh, 4000);
  const Settings range = with("GLOO_UBT_PORTS", "4000-65535");
  EXPECT_EQ(range.portLow, 4000);
  EXPECT_EQ(range.portHigh, 65535);
}

TEST(Settings, MulticastNeedsTagsOverPayloads) {
  for (const char* auth : {"header", "full", "aead"}) {
    Settings settings = with("GLOO_UBT_AUTH", auth);
    EXPECT_NO_THROW(settings.check()) << auth;
    settings.read("GLOO_UBT_MULTICAST", "auto");
    if (settings.protocol.auth == ::ubt::AuthMode::kHeader) {
      EXPECT_THROW(settings.check(), ::gloo::InvalidOperationException);
    } else {
      EXPECT_NO_THROW(settings.check()) << auth;
    }
  }
}

TEST(Settings, ReadsTheFirstLineOfASecretFile) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/secret";
  std::ofstream(path) << "correct horse\nbattery\n";
  EXPECT_EQ(with("GLOO_UBT_SECRET_FILE", path).secret, "correct horse");
}

TEST(Settings, RefusesAnUnknownNameAndTellsTheNearest) {
  try {
    with("GLOO_UBT_LEAD_OP", "1");
    ADD_FAILURE() << "taken";
  } catch (const ::gloo::InvalidOperationException& error) {
    EXPECT_NE(std::string(error.what()).find("GLOO_UBT_LEAD_OPS?"),
              std::string::npos);
  }
}

TEST(Settings, WithABoundByHandThereIsNoWarmUpUnlessAskedFor) {
  setenv("GLOO_UBT_BOUND", "5ms", 1);
  EXPECT_EQ(Settings::fromEnvironment().protocol.warmupOps, 0u);
  setenv("GLOO_UBT_WARMUP_OPS", "3", 1);
  EXPECT_EQ(Settings::fromEnvironment().protocol.warmupOps, 3u);
  unsetenv("GLOO_UBT_BOUND");
  unsetenv("GLOO_UBT_WARMUP_OPS");
  EXPECT_EQ(Settings::fromEnvironment().protocol.warmupOps,
            ::ubt::Options().warmupOps);
}

TEST(Settings, RefusesWhatContradictsABoundByHand) {
  setenv("GLOO_UBT_BOUND", "5ms", 1);
  const auto refused = [](const char* name, const char* value) {
    setenv(name, value, 1);
    std::string error;
    try {
      Settings::fromEnvironment();
    } catch (const ::gloo::InvalidOperationException& thrown) {
      error = thrown.what();
    }
    unsetenv(name);
    return error.find(std::string("GLOO_UBT_BOUND=5ms and ") + name + "=" +
                      value) != std::string::npos;
  };
  EXPECT_TRUE(refused("GLOO_UBT_EARLY", "on"));
  EXPECT_TRUE(refused("GLOO_UBT_EARLY", "10%"));
  EXPECT_TRUE(refused("GLOO_UBT_BOUND_MODE", "paper"));
  EXPECT_FALSE(refused("GLOO_UBT_EARLY", "off"));
  unsetenv("GLOO_UBT_BOUND");
  EXPECT_FALSE(refused("GLOO_UBT_BOUND_MODE", "paper"));
}

}  // namespace
}  // namespace ubt
}  // namespace transport
}  // namespace gloo
