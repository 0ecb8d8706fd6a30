// SPDX-License-Identifier: Apache-2.0
//
// Names and units are those of docs/watching.md.
#include "gloo_ext/report_text.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/gloo_ext/bounded_ops.h"

namespace gloo_ext {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

BoundedOp opThatLostSome() {
  BoundedOp op = boundedOp(2);
  op.rank = 1;
  op.type = ubt::ElementType::kBfloat16;
  op.bytes = 4096;
  op.took = microseconds(1500);
  op.report.op.tag = 4000000000;
  op.report.op.count = 3;
  op.report.endedBy = ubt::EndedBy::kBound;
  op.report.scatterExpired = true;
  op.report.exchangeExpired = true;
  op.report.partial = {{30, 8}};
  op.report.shardOwners = {0, 3};
  op.report.waited = microseconds(10);
  op.report.boundScatter = microseconds(20);
  op.report.boundExchange = microseconds(25);
  op.report.boundBroadcast = microseconds(30);
  op.report.limit = microseconds(40);
  op.report.pairsExpected = 1000;
  op.report.pairsMissing = 25;
  op.report.driftElements = 6;
  op.report.filled = {{10, 4}, {20, 2}};
  op.report.shardElements = 1024;
  op.report.forms = {ubt::Form::kPlain, ubt::Form::kTransformed};
  op.report.lateBy = {std::chrono::milliseconds(1), ubt::Duration{0}};
  op.report.skipped = true;
  op.report.safeguards = {0.25, 0.5, 0.125, 0.75};
  op.report.scatter[0] = stageBytes();
  op.report.broadcast[0].expected = 50;
  return op;
}

// A filled-in coefficient affects its whole shard. Here it is the second shard,
// which has 24 elements less than the first.
TEST(ReportText, OfATransformedShardAllDiffers) {
  BoundedOp op = opThatLostSome();
  op.bytes = 4048;
  op.report.filled = {{10, 4}, {1030, 2}, {1040, 2}};
  const json expected = {{10, 4}, {1024, 1000}};
  EXPECT_EQ(json::parse(opJson(op)).at("filled"), expected);
}

TEST(ReportText, ACallsObjectHoldsTheDocumentedFields) {
  const json got = json::parse(opJson(opThatLostSome()));
  const json expected = {{"tag", 4000000000},
                         {"count", 3},
                         {"rank", 1},
                         {"size", 2},
                         {"type", "bfloat16"},
                         {"bytes", 4096},
                         {"bounded", true},
                         {"ended_by", "bound"},
                         {"scatter_expired", true},
                         {"exchange_expired", true},
                         {"took_us", 1500.0},
                         {"bound_scatter_us", 20.0},
                         {"bound_exchange_us", 25.0},
                         {"bound_broadcast_us", 30.0},
                         {"waited_us", 10.0},
                         {"limit_us", 40.0},
                         {"pairs_expected", 1000},
                         {"pairs_missing", 25},
                         {"loss_fraction", 0.025},
                         {"drift_elements", 6},
                         {"filled", {{10, 4}, {20, 2}}},
                         {"partial", {{30, 8}}},
                         {"shard_owners", {0, 3}},
                         {"transformed_shards", 1},
                         {"late_us", {1000.0, 0.0}},
                         {"safeguards",
                          {{"loss_average", 0.25},
                           {"zero_loss", 0.5},
                           {"skip_loss", 0.125},
                           {"halt_loss", 0.75}}},
                         {"skipped", true}};
  for (const auto& [name, value] : expected.items()) {
    EXPECT_EQ(got.value(name, json()), value) << name;
  }
  ASSERT_EQ(got.at("scatter").size(), 2u);
  const json stage = {{"expected", 100},
                      {"received", 60},
                      {"repaired", 10},
                      {"absent", 20},
                      {"late", 11},
                      {"refused", 7},
                      {"lost", 2}};
  for (const auto& [name, value] : stage.items()) {
    EXPECT_EQ(got["scatter"][0].value(name, json()), value) << name;
    EXPECT_EQ(got["scatter"][1].value(name, json()), 0) << name;
  }
  EXPECT_EQ(got["broadcast"][0].value("expected", json()), 50);
}

TEST(ReportText, NamesTypesAndEnds) {
  const std::map<ubt::ElementType, std::string> types = {
      {ubt::ElementType::kFloat32, "float32"},
      {ubt::ElementType::kFloat64, "float64"},
      {ubt::ElementType::kFloat16, "float16"},
      {ubt::ElementType::kBfloat16, "bfloat16"}};
  for (const auto& [type, name] : types) {
    BoundedOp op = boundedOp(2);
    op.type = type;
    EXPECT_EQ(json::parse(opJson(op)).at("type"), name);
  }
  const std::map<ubt::EndedBy, std::string> ends = {
      {ubt::EndedBy::kComplete, "complete"},
      {ubt::EndedBy::kCut, "cut"},
      {ubt::EndedBy::kBound, "bound"}};
  for (const auto& [end, name] : ends) {
    BoundedOp op = boundedOp(2);
    op.report.endedBy = end;
    EXPECT_EQ(json::parse(opJson(op)).at("ended_by"), name);
  }
}

// Each is one line of a file of lines, and all numbers are finite.
TEST(ReportText, ObjectsAreOneLineAndShareNothingByNothing) {
  const std::string op = opJson(warmupOp(2));
  EXPECT_EQ(op.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(op).at("loss_fraction"), 0.0);
  const std::string totals = totalsJson({});
  EXPECT_EQ(totals.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(totals).at("loss_fraction"), 0.0);
}

Statistics::Totals someTotals() {
  Statistics::Totals totals;
  totals.exactOps = 1;
  totals.warmupOps = 2;
  totals.boundedOps = 3;
  totals.expiredOps = 4;
  totals.failedOps = 5;
  totals.bytes = 6;
  totals.pairsExpected = 80;
  totals.pairsMissing = 10;
  totals.driftElements = 9;
  totals.p50 = microseconds(1500);
  totals.p99 = microseconds(2500);
  totals.skippedOps = 17;
  totals.safeguards = {0.25, 0.5, 0.125, 0.75};
  totals.zeroedElements = 18;
  totals.repairedBytes = 18;
  totals.bounds.push_back({256, microseconds(1), microseconds(2)});
  totals.peers.resize(2);
  totals.peers[1].address = "[::1]:1000";
  totals.peers[1].rank = 20;
  totals.peers[1].size = 30;
  totals.peers[1].absentOps = 21;
  totals.peers[1].late = microseconds(22);
  totals.peers[1].expectedBytes = 11;
  totals.peers[1].absentBytes = 12;
  totals.peers[1].lateBytes = 13;
  totals.peers[1].lostBytes = 14;
  totals.peers[1].refusedBytes = 15;
  totals.peers[1].repairedBytes = 16;
  return totals;
}

TEST(ReportText, TotalsObjectHoldsEachTotal) {
  const json got = json::parse(totalsJson(someTotals()));
  const json expected = {{"exact_ops", 1},
                         {"warmup_ops", 2},
                         {"bounded_ops", 3},
                         {"expired_ops", 4},
                         {"failed_ops", 5},
                         {"bytes", 6},
                         {"pairs_expected", 80},
                         {"pairs_missing", 10},
                         {"loss_fraction", 0.125},
                         {"drift_elements", 9},
                         {"p50_us", 1500.0},
                         {"p99_us", 2500.0},
                         {"skipped_ops", 17},
                         {"safeguards",
                          {{"loss_average", 0.25},
                           {"zero_loss", 0.5},
                           {"skip_loss", 0.125},
                           {"halt_loss", 0.75}}},
                         {"zeroed_elements", 18},
                         {"repaired_bytes", 18}};
  for (const auto& [name, value] : expected.items()) {
    EXPECT_EQ(got.value(name, json()), value) << name;
  }
  ASSERT_EQ(got.at("peers").size(), 2u);
  EXPECT_EQ(got["peers"][1].value("rank", json()), 20);
  EXPECT_EQ(got["peers"][1].value("address", json()), "[::1]:1000");
  ASSERT_EQ(got.at("bounds").size(), 1u);
  const json bound = {
      {"bytes_from", 256}, {"scatter_us", 1.0}, {"broadcast_us", 2.0}};
  for (const auto& [name, value] : bound.items()) {
    EXPECT_EQ(got["bounds"][0].value(name, json()), value) << name;
  }
  const json peer = {{"absent_ops", 21},
                     {"late_us", 22.0},
                     {"expected_bytes", 11},
                     {"absent_bytes", 12},
                     {"late_bytes", 13},
                     {"cut_bytes", 0},
                     {"lost_bytes", 14},
                     {"refused_bytes", 15},
                     {"repaired_bytes", 16}};
  for (const auto& [name, value] : peer.items()) {
    EXPECT_EQ(got["peers"][0].value(name, json()), 0) << name;
    EXPECT_EQ(got["peers"][1].value(name, json()), value) << name;
  }
}

// A textfile as Prometheus reads it: families, each introduced once and
// contiguous, and values by name and labels.
struct Textfile {
  explicit Textfile(const std::string& text) {
    std::istringstream lines(text);
    std::string family;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string first;
      std::string second;
      std::string third;
      words >> first >> second >> third;
      if (first == "#" && second == "HELP") {
        family = third;
        EXPECT_TRUE(helps.insert(family).second) << line;
        EXPECT_GT(line.size(), ("# HELP " + family + " ").size()) << line;
      } else if (first == "#") {
        EXPECT_EQ(second, "TYPE") << line;
        EXPECT_EQ(third, family) << line;
        words >> types[family];
      } else {
        EXPECT_EQ(first.substr(0, first.find('{')), family) << line;
        EXPECT_TRUE(third.empty()) << line;
        EXPECT_TRUE(values.emplace(first, std::stod(second)).second) << line;
      }
    }
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(types.size(), helps.size());
  }

  std::set<std::string> helps;
  std::map<std::string, std::string> types;
  std::map<std::string, double> values;
};

TEST(ReportText, TextfileHasTheFormatOfPrometheus) {
  Statistics::Totals totals = someTotals();
  totals.peers.push_back(totals.peers[1]);
  totals.peers[2].address = "[::1]:1001";  // of the same rank, later
  totals.peers[2].late = std::chrono::milliseconds(1500);
  totals.peers[2].lostBytes = 100;
  totals.peers[0].lostBytes = 3;  // known from a smaller context only
  Textfile file(prometheusText(totals, {"", 7, "", true}));
  for (const auto& [family, type] : file.types) {
    const std::string suffix = "_total";
    const bool isTotal =
        family.size() > suffix.size() &&
        family.compare(family.size() - suffix.size(), suffix.size(), suffix) ==
            0;
    EXPECT_EQ(type, isTotal ? "counter" : "gauge") << family;
  }
  const std::map<std::string, double> expected = {
      {"ops_total{rank=\"7\",kind=\"exact\"}", 1},
      {"ops_total{rank=\"7\",kind=\"warmup\"}", 2},
      {"ops_total{rank=\"7\",kind=\"bounded\"}", 3},
      {"ops_total{rank=\"7\",kind=\"failed\"}", 5},
      {"expired_ops_total{rank=\"7\"}", 4},
      {"pairs_expected_total{rank=\"7\"}", 80},
      {"pairs_missing_total{rank=\"7\"}", 10},
      {"drift_elements_total{rank=\"7\"}", 9},
      {"skipped_ops_total{rank=\"7\"}", 17},
      {"loss_average{rank=\"7\"}", 0.25},
      {"loss_limit{rank=\"7\",safeguard=\"zero\"}", 0.5},
      {"loss_limit{rank=\"7\",safeguard=\"skip\"}", 0.125},
      {"loss_limit{rank=\"7\",safeguard=\"halt\"}", 0.75},
      {"zeroed_elements_total{rank=\"7\"}", 18},
      {"repaired_bytes_total{rank=\"7\"}", 18},
      {"running{rank=\"7\"}", 1},
      {"late_seconds_total{rank=\"7\",peer=\"20\"}", 1.500022},
      {"absent_ops_total{rank=\"7\",peer=\"20\"}", 42},
      {"left_out_bytes_total{rank=\"7\",peer=\"20\",cause=\"absent\"}", 24},
      {"left_out_bytes_total{rank=\"7\",peer=\"20\",cause=\"late\"}", 26},
      {"left_out_bytes_total{rank=\"7\",peer=\"20\",cause=\"cut\"}", 0},
      {"lost_bytes_total{rank=\"7\",peer=\"20\"}", 114},
      {"lost_bytes_total{rank=\"7\",peer=\"other\"}", 3},
      {"op_seconds{rank=\"7\",quantile=\"0.5\"}", 0.0015},
      {"op_seconds{rank=\"7\",quantile=\"0.99\"}", 0.0025}};
  for (const auto& [name, value] : expected) {
    ASSERT_EQ(file.values.count("gloo_ubt_" + name), 1u) << name;
    EXPECT_DOUBLE_EQ(file.values["gloo_ubt_" + name], value) << name;
  }
}

TEST(ReportText, TextfileNamesTheJobAndItsEnd) {
  EXPECT_NE(prometheusText({}, {"a\"b\\c\nd", 7, "-5", false})
                .find("\ngloo_ubt_running{job_id=\"a\\\"b\\\\c\\nd\",rank="
                      "\"7\",child=\"-5\"} 0\n"),
            std::string::npos);
}

std::string summaryOf(uint64_t ops,
                      uint64_t missing,
                      microseconds p50,
                      microseconds p99) {
  Statistics::Totals totals;
  totals.boundedOps = ops;
  totals.pairsExpected = 10000;
  totals.pairsMissing = missing;
  totals.p50 = p50;
  totals.p99 = p99;
  return summary(totals);
}

TEST(ReportText, SummaryIsALineToRead) {
  EXPECT_EQ(summaryOf(1234, 7, microseconds(9600), microseconds(16900)),
            "optireduce: 1,234 ops, 0.07 % missing, p50/p99 9.6/16.9 ms");
  EXPECT_EQ(summaryOf(999, 0, microseconds(100), microseconds(100000)),
            "optireduce: 999 ops, 0 % missing, p50/p99 0.1/100 ms");
}

TEST(ReportText, SummaryTellsOfSkippedCalls) {
  Statistics::Totals totals;
  totals.boundedOps = 40;
  totals.skippedOps = 39;
  EXPECT_EQ(summary(totals),
            "optireduce: 40 ops, 0 % missing, p50/p99 0/0 ms, 39 skipped");
}

TEST(ReportText, SummaryWritesLargeNumbersInFull) {
  EXPECT_EQ(
      summaryOf(1234567, 9970, microseconds(1234600), microseconds(60000000)),
      "optireduce: 1,234,567 ops, 100 % missing, p50/p99 1235/60000 ms");
}

}  // namespace
}  // namespace gloo_ext
