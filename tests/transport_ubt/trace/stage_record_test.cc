// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/trace/stage_record.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "transport_ubt/trace/trace_file.h"

namespace ubt {
namespace {

using std::chrono::microseconds;

TimePoint at(int us) {
  return TimePoint(microseconds(us));
}

constexpr microseconds kBegan{1700000000000000};

OpTrace someTrace() {
  OpTrace trace(3);
  trace.slots = 3;
  trace.startedAt = at(1000);
  trace.entered = {at(900), at(1000), kNever};
  trace.through[0] = at(4000);
  trace.arrived(at(1500), 0);
  trace.arrived(at(1540), 0);
  trace.arrived(at(1541), 2);
  trace.arrived(at(1600), 0);
  trace.calledAt = at(990);
  trace.closedAt = at(4100);
  trace.results = {at(5000), kNever, at(5200)};
  trace.returnedAt = at(5210);
  return trace;
}

TEST(StageRecord, IsReadAsItWasWritten) {
  const OpId id{7, 3, TagSpace::kClass};
  std::stringstream text(lineOf(77, id, 36, 1, someTrace(), kBegan) + "\n");
  const auto records = readRecords(&text);
  ASSERT_EQ(records.size(), 1u);
  const StageRecord& record = records[0];
  EXPECT_EQ(record.context, 77u);
  EXPECT_EQ(record.op, "1.7.3");
  EXPECT_EQ(record.bytes, 36u);
  EXPECT_EQ(record.rank, 1);
  EXPECT_EQ(record.slots, 3u);
  ASSERT_EQ(record.senders.size(), 3u);
  EXPECT_TRUE(record.senders[0].entered);
  EXPECT_EQ(record.senders[0].enteredAt, microseconds(-100));
  EXPECT_EQ(record.senders[0].throughAt, microseconds(3000));
  EXPECT_FALSE(record.senders[2].entered);
  EXPECT_EQ(record.senders[2].throughAt, StageRecord::kUnknown);
}

TEST(StageRecord, TellsTheTimesOfTheCall) {
  const std::string line = lineOf(1, {}, 36, 1, someTrace(), kBegan);
  for (const char* const part : {"\"began_unix_us\":1700000000000000",
                                 "\"called_us\":-10",
                                 "\"closed_us\":3100",
                                 "\"results_us\":[4000,null,4200]",
                                 "\"returned_us\":4210"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
}

TEST(StageRecord, SlotsThatArriveTogetherAreOneArrival) {
  std::stringstream text(lineOf(1, {}, 36, 1, someTrace(), kBegan));
  const auto sender = readRecords(&text)[0].senders[0];
  ASSERT_EQ(sender.arrivals.size(), 2u);
  EXPECT_EQ(sender.arrivals[0].slots, 2u);
  EXPECT_EQ(sender.arrivals[0].at, at(540));
  EXPECT_EQ(sender.completeAt(3), microseconds(600));
  EXPECT_EQ(sender.completeAt(4), StageRecord::kUnknown);
  EXPECT_EQ(sender.after(microseconds(540), 3), 1u);
  EXPECT_EQ(sender.after(microseconds(539), 3), 3u);
}

TEST(StageRecord, OtherTextIsNamed) {
  for (const char* const text : {"", "{", "{}", "[1]"}) {
    std::stringstream in(lineOf(1, {}, 36, 1, someTrace(), kBegan) + "\n" +
                         text + "\n");
    try {
      readRecords(&in);
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).rfind("line 2 is no record", 0), 0u);
    }
  }
}

TEST(StageRecord, ARankThatIsNoneIsNoRecord) {
  std::string line = lineOf(1, {}, 36, 1, someTrace(), kBegan);
  line.replace(line.find("\"rank\":1"), 8, "\"rank\":3");
  std::stringstream in(line);
  EXPECT_THROW(readRecords(&in), std::invalid_argument);
}

TEST(TraceFile, HasALineForEachOp) {
  const std::string folder = testing::TempDir();
  TraceFile file(folder, 5, 1, microseconds(7));
  file.add({1, 0, {}}, 36, someTrace());
  file.add({2, 0, {}}, 36, OpTrace(3));  // its clock never started
  file.add({3, 0, {}}, 36, someTrace());
  EXPECT_TRUE(file.ok());
  EXPECT_EQ(file.path(), folder + "/5-rank1.jsonl");
  std::ifstream in(file.path());
  EXPECT_EQ(readRecords(&in).size(), 2u);
  std::ifstream again(file.path());
  std::string first;
  std::getline(again, first);
  EXPECT_NE(first.find("\"began_unix_us\":1007"), std::string::npos) << first;
}

TEST(TraceFile, SaysThatItCannotWrite) {
  TraceFile file("/nowhere", 5, 1, Duration{0});
  file.add({1, 0, {}}, 36, someTrace());
  EXPECT_FALSE(file.ok());
}

}  // namespace
}  // namespace ubt
