// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/gloo_ext/bounded_ops.h"
#include "tests/support/temporary_directory.h"

namespace gloo_ext {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> linesOf(const std::string& path) {
  std::istringstream text(contentOf(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  return lines;
}

size_t countOf(const std::string& what, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    count++;
  }
  return count;
}

Recorder::Setup setupOf(const std::string& folder, std::optional<int> rank) {
  Recorder::Setup setup;
  setup.lines = folder;
  setup.textfile = folder;
  setup.rank = rank;
  return setup;
}

// The standard error output of a recorder of that rank, after some calls.
std::string saidBy(const std::string& folder, int rank, const BoundedOp& op) {
  CaptureStderr();
  Recorder recorder(setupOf(folder, rank));
  for (int i = 0; i < 3; i++) {
    recorder.add(op);
  }
  recorder.finish();
  return GetCapturedStderr();
}

TEST(Recorder, WritesALineForEachCall) {
  const test::TemporaryDirectory folder;
  Recorder recorder(setupOf(folder.path(), 3));
  for (const uint32_t tag : {5, 6}) {
    BoundedOp op = warmupOp(2);
    op.report.op.tag = tag;
    recorder.add(op);
  }
  // Does not wait for the end, because it may never come.
  const auto lines = linesOf(folder.path() + "/rank3.jsonl");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(nlohmann::json::parse(lines[0]).at("tag"), 5);
  EXPECT_EQ(nlohmann::json::parse(lines[1]).at("tag"), 6);
  EXPECT_EQ(recorder.statistics().totals().warmupOps, 2u);
}

TEST(Recorder, KeepsTheLinesOfAnEarlierRun) {
  const test::TemporaryDirectory folder;
  for (int run = 0; run < 2; run++) {
    Recorder(setupOf(folder.path(), 0)).add(boundedOp(2));
  }
  EXPECT_EQ(linesOf(folder.path() + "/rank0.jsonl").size(), 2u);
}

TEST(Recorder, LeavesTheTextfileWithTheTotals) {
  const test::TemporaryDirectory folder;
  Recorder recorder(setupOf(folder.path(), 3));
  recorder.add(boundedOp(2));
  EXPECT_THAT(contentOf(folder.path() + "/rank3.prom"),
              HasSubstr("ops_total{rank=\"3\",kind=\"bounded\"} 1"));
  recorder.statistics().exact();
  recorder.add(boundedOp(2));
  recorder.finish();
  EXPECT_THAT(contentOf(folder.path() + "/rank3.prom"),
              AllOf(HasSubstr("ops_total{rank=\"3\",kind=\"bounded\"} 2"),
                    HasSubstr("running{rank=\"3\"} 0")));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_NE(entry.path().extension(), ".new");
  }
}

TEST(Recorder, LeavesMetricsWithoutLinesOrApartFromThem) {
  const test::TemporaryDirectory folder;
  const test::TemporaryDirectory lines;
  for (const std::string& path : {std::string(), lines.path()}) {
    Recorder::Setup setup = setupOf(folder.path(), 1);
    setup.lines = path;
    setup.job = "a/17";
    Recorder recorder(setup);
    recorder.add(boundedOp(2));
    EXPECT_THAT(contentOf(folder.path() + "/a_17-rank1.prom"),
                HasSubstr("running{job_id=\"a/17\",rank=\"1\"} 1"));
    recorder.finish();
    recorder.add(boundedOp(2));  // by a thread that still runs
    EXPECT_THAT(contentOf(folder.path() + "/a_17-rank1.prom"),
                HasSubstr("running{job_id=\"a/17\",rank=\"1\"} 0"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/rank1.jsonl"));
  }
  EXPECT_EQ(linesOf(lines.path() + "/rank1.jsonl").size(), 2u);
}

TEST(Recorder, WritesWholeLinesFromSeveralThreads) {
  const test::TemporaryDirectory folder;
  {
    Recorder recorder(setupOf(folder.path(), 0));
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; i++) {
      threads.emplace_back([&] {
        for (int op = 0; op < 100; op++) {
          recorder.add(boundedOp(3));
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  const auto lines = linesOf(folder.path() + "/rank0.jsonl");
  EXPECT_EQ(lines.size(), 400u);
  for (const std::string& line : lines) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
}

TEST(Recorder, TakesItsFirstContextsRankIfTheJobNamesNone) {
  const test::TemporaryDirectory folder;
  BoundedOp op = boundedOp(3);
  op.rank = 2;
  Recorder::Setup setup = setupOf(folder.path(), std::nullopt);
  setup.child = "-77";
  Recorder recorder(setup);
  recorder.add(op);
  op.rank = 0;  // in another context
  recorder.add(op);
  recorder.finish();
  EXPECT_EQ(linesOf(folder.path() + "/rank2-77.jsonl").size(), 2u);
  EXPECT_THAT(
      contentOf(folder.path() + "/rank2-77.prom"),
      HasSubstr("ops_total{rank=\"2\",child=\"-77\",kind=\"bounded\"} 2"));
}

TEST(Recorder, WithoutAFolderWritesNothing) {
  const test::TemporaryDirectory folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(saidBy("", 1, boundedOp(2)), "");
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Recorder, ComplainsOnceOfAFolderThatIsNotThere) {
  const test::TemporaryDirectory folder;
  const std::string said = saidBy(folder.path() + "/none", 1, boundedOp(2));
  EXPECT_EQ(countOf("warning", said), 1u) << said;
  EXPECT_THAT(said, HasSubstr(folder.path() + "/none/rank1.jsonl"));
  EXPECT_THAT(said, HasSubstr("GLOO_UBT_REPORT"));
}

TEST(Recorder, ComplainsOnceOfADiskThatIsFull) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_symlink("/dev/full", folder.path() + "/rank1.jsonl");
  const std::string said = saidBy(folder.path(), 1, boundedOp(2));
  EXPECT_EQ(countOf("warning", said), 1u) << said;
  EXPECT_THAT(said, HasSubstr("rank1.jsonl"));
}

TEST(Recorder, OnlyRankZeroSumsUpAndOnlyBoundedCalls) {
  EXPECT_THAT(saidBy("", 0, boundedOp(2)), HasSubstr("optireduce: 3 ops"));
  EXPECT_EQ(saidBy("", 0, warmupOp(2)), "");
  EXPECT_EQ(saidBy("", 1, boundedOp(2)), "");
}

}  // namespace
}  // namespace gloo_ext
