// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/wire/op_id.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "transport_ubt/core/wire/options.h"

namespace ubt {
namespace {

OpShape shapeOf(const Options& options) {
  OpShape shape;
  shape.elements = 64;
  shape.fingerprint = options.fingerprint();
  return shape;
}

TEST(OpShape, TellsOnlyTheSettingsThatDiffer) {
  const OpShape usual = shapeOf({});
  EXPECT_EQ(usual.unlike(usual), "64 x float32");

  Options options;
  options.auth = AuthMode::kAead;
  EXPECT_EQ(shapeOf(options).unlike(usual),
            "64 x float32 with GLOO_UBT_AUTH=aead");
  EXPECT_EQ(usual.unlike(shapeOf(options)),
            "64 x float32 with GLOO_UBT_AUTH=header");

  options.auth = AuthMode::kFull;
  options.skipLoss = 0.25;
  options.loops = Loops::kPaper;
  EXPECT_EQ(shapeOf(options).unlike(usual),
            "64 x float32 with GLOO_UBT_AUTH=full, GLOO_UBT_SKIP_LOSS=0.25, "
            "GLOO_UBT_EXPERIMENT=loops:paper");
  EXPECT_EQ(usual.unlike(shapeOf(options)),
            "64 x float32 with GLOO_UBT_AUTH=header, GLOO_UBT_SKIP_LOSS=0, "
            "GLOO_UBT_EXPERIMENT=loops:measured");
}

TEST(OpShape, TellsSharesAsAUserWritesThem) {
  for (const auto& [share, text] : {std::pair(0.01, "GLOO_UBT_SKIP_LOSS=0.01"),
                                    std::pair(0.05, "GLOO_UBT_SKIP_LOSS=0.05"),
                                    std::pair(1.0, "GLOO_UBT_SKIP_LOSS=1")}) {
    Options options;
    options.skipLoss = share;
    EXPECT_EQ(shapeOf(options).unlike(shapeOf({})),
              std::string("64 x float32 with ") + text);
  }
}

TEST(OpShape, TellsAnAlgorithmInGroups) {
  OpShape grouped = shapeOf({});
  grouped.fingerprint |= OpShape::kHierarchical;
  EXPECT_EQ(grouped.unlike(shapeOf({})),
            "64 x float32 with a hierarchical algorithm (GLOO_ALGO)");
}

// A peer may send any number.
TEST(OpShape, TakesAnyFingerprint) {
  OpShape strange;
  strange.fingerprint = 0;
  EXPECT_EQ(strange.unlike(shapeOf({})),
            "0 x float32 with GLOO_UBT_AUTH=unknown");
  strange.fingerprint = ~0U;
  EXPECT_NE(strange.unlike(shapeOf({})), "");
}

}  // namespace
}  // namespace ubt
