// SPDX-License-Identifier: Apache-2.0
//
// A session's handling of a tag whose use count was dropped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/transport_ubt/core/one_rank.h"
#include "transport_ubt/core/session/session.h"

namespace ubt {
namespace {

using ::testing::HasSubstr;

class SessionTags : public ::testing::Test {
 protected:
  SessionTags() : rank_(setup()) {}

  static OneRank::Setup setup() {
    OneRank::Setup setup;
    setup.options.tagEntriesMax = 8;
    setup.options.repair = RepairPolicy::kNone;  // calls end by their bounds
    setup.options.haltLoss = 0;
    return setup;
  }
  OpId enter(uint32_t tag) {
    return rank_.session().enter(rank_.now, tag, floats(100), bytesOf(bucket_));
  }
  // An op that returns here and that the other rank finishes.
  void use(uint32_t tag) {
    const OpId id = enter(tag);
    rank_.say(1, {ControlRecord::announce(id, floats(100))});
    rank_.at(rank_.now + std::chrono::milliseconds(200));
    ASSERT_TRUE(rank_.session().finished(id));
    ASSERT_EQ(rank_.session().failure(id), "");
    rank_.session().leave(rank_.now, id);
    rank_.say(1, {ControlRecord::about(ControlType::kDone, id)});
  }

  OneRank rank_;
  std::vector<float> bucket_ = std::vector<float>(100, 1.0F);
};

TEST_F(SessionTags, AnUnknownCountFailsTheJobAndNamesTheRemedy) {
  for (uint32_t tag = 0; tag < 20; tag++) {
    use(1000 * tag);
  }
  rank_.sent();
  const OpId id = enter(500);  // between tags whose counts were dropped
  ASSERT_TRUE(rank_.session().finished(id));
  EXPECT_THAT(rank_.session().failure(id), HasSubstr("tag 500"));
  EXPECT_THAT(rank_.session().failure(id), HasSubstr("rank 0"));
  EXPECT_THAT(rank_.session().failure(id), HasSubstr("count them up"));
  EXPECT_EQ(rank_.session().failure(), rank_.session().failure(id));
  rank_.session().leave(rank_.now, id);
  EXPECT_EQ(rank_.sent().size(), 1u);  // a leave
  EXPECT_FALSE(rank_.session().lingering());
}

TEST_F(SessionTags, OnesThatCountUpWithGapsAreServedForEver) {
  for (uint32_t tag = 0; tag < 200; tag += 2) {
    use(tag);
  }
}

}  // namespace
}  // namespace ubt
