// SPDX-License-Identifier: Apache-2.0
#include "gloo_ext/report_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace gloo_ext {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

const char* nameOf(ubt::ElementType type) {
  switch (type) {
    case ubt::ElementType::kFloat32:
      return "float32";
    case ubt::ElementType::kFloat64:
      return "float64";
    case ubt::ElementType::kFloat16:
      return "float16";
    case ubt::ElementType::kBfloat16:
      return "bfloat16";
  }
  return "";
}

const char* nameOf(ubt::EndedBy rule) {
  switch (rule) {
    case ubt::EndedBy::kComplete:
      return "complete";
    case ubt::EndedBy::kCut:
      return "cut";
    case ubt::EndedBy::kBound:
      return "bound";
  }
  return "";
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / whole;
}

Json stageJson(const std::vector<ubt::StageBytes>& stage) {
  Json peers = Json::array();
  for (const ubt::StageBytes& bytes : stage) {
    peers.push_back({{"expected", bytes.expected},
                     {"received", bytes.received},
                     {"repaired", bytes.repaired},
                     {"absent", bytes.absent},
                     {"late", bytes.late},
                     {"refused", bytes.refused},
                     {"cut", bytes.cut},
                     {"lost", bytes.lost}});
  }
  return peers;
}

// By rank, in microseconds.
Json lateJson(const std::vector<ubt::Duration>& late) {
  Json ranks = Json::array();
  for (const ubt::Duration each : late) {
    ranks.push_back(microseconds(each));
  }
  return ranks;
}

// [offset, count] in elements.
Json rangesJson(const std::vector<ubt::OpReport::Range>& ranges) {
  Json pairs = Json::array();
  for (const ubt::OpReport::Range& range : ranges) {
    pairs.push_back({range.offset, range.count});
  }
  return pairs;
}

Json safeguardsJson(const ubt::OpReport::Safeguards& safeguards) {
  return {{"loss_average", safeguards.lossAverage},
          {"zero_loss", safeguards.zeroLoss},
          {"skip_loss", safeguards.skipLoss},
          {"halt_loss", safeguards.haltLoss}};
}

// Where this replica differs from the others. That is the filled range, or the
// whole shard if the filled values are coefficients. `elements`: the bucket's.
std::vector<ubt::OpReport::Range> driftRanges(const ubt::OpReport& report,
                                              uint64_t elements) {
  std::vector<ubt::OpReport::Range> ranges;
  uint64_t end = 0;  // end of the last range
  for (const ubt::OpReport::Range& filled : report.filled) {
    const uint64_t shard = filled.offset / report.shardElements;
    const uint64_t begin = shard * report.shardElements;
    if (report.forms.empty() || report.forms[shard] == ubt::Form::kPlain) {
      ranges.push_back(filled);
    } else if (begin >= end) {
      end = std::min(begin + report.shardElements, elements);
      ranges.push_back({begin, end - begin});
    }
  }
  return ranges;
}

// 1234567 as "1,234,567".
std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(at, ",");
  }
  return text;
}

// Rounded to `digits` digits, never in exponent form: "1234", not "1.2e+03".
std::string rounded(double number, int digits) {
  if (number >= std::pow(10, digits - 1)) {
    return std::to_string(std::llround(number));
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%.*g", digits, number);
  return text;
}

// The value of a label.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    out += letter == '\n' ? "\\n" : std::string(1, letter);
    if (letter == '\\' || letter == '"') {
      out.insert(out.size() - 1, "\\");
    }
  }
  return out;
}

// By rank in the largest context; peers that it lacks have no rank there. A
// rank may have had several addresses, one after the other.
std::map<std::string, Statistics::Peer> byRank(
    const std::vector<Statistics::Peer>& peers) {
  int largest = 0;
  for (const Statistics::Peer& peer : peers) {
    largest = std::max(largest, peer.size);
  }
  std::map<std::string, Statistics::Peer> ranks;
  for (const Statistics::Peer& peer : peers) {
    Statistics::Peer& sum =
        ranks[peer.size == largest ? std::to_string(peer.rank) : "other"];
    sum.absentOps += peer.absentOps;
    sum.late += peer.late;
    sum.absentBytes += peer.absentBytes;
    sum.lateBytes += peer.lateBytes;
    sum.cutBytes += peer.cutBytes;
    sum.lostBytes += peer.lostBytes;
  }
  return ranks;
}

}  // namespace

std::string opJson(const BoundedOp& op) {
  const ubt::OpReport& report = op.report;
  const uint64_t elements = op.bytes / ubt::elementSize(op.type);
  return Json{
      {"tag", report.op.tag},
      {"count", report.op.count},
      {"rank", op.rank},
      {"size", op.size},
      {"type", nameOf(op.type)},
      {"bytes", op.bytes},
      {"bounded", report.bounded},
      {"ended_by", nameOf(report.endedBy)},
      {"scatter_expired", report.scatterExpired},
      {"exchange_expired", report.exchangeExpired},
      {"skipped", report.skipped},
      {"zeroed_elements", report.zeroedElements},
      {"safeguards", safeguardsJson(report.safeguards)},
      {"took_us", microseconds(op.took)},
      {"bound_scatter_us", microseconds(report.boundScatter)},
      {"bound_exchange_us", microseconds(report.boundExchange)},
      {"bound_broadcast_us", microseconds(report.boundBroadcast)},
      {"waited_us", microseconds(report.waited)},
      {"limit_us", microseconds(report.limit)},
      {"pairs_expected", report.pairsExpected},
      {"pairs_missing", report.pairsMissing},
      {"loss_fraction", share(report.pairsMissing, report.pairsExpected)},
      {"drift_elements", report.driftElements},
      {"shard_elements", report.shardElements},
      {"shard_owners", report.shardOwners},
      {"own_shard", {report.ownShard.offset, report.ownShard.count}},
      {"filled", rangesJson(driftRanges(report, elements))},
      {"partial", rangesJson(report.partial)},
      {"transformed_shards",
       std::count(
           report.forms.begin(), report.forms.end(), ubt::Form::kTransformed)},
      {"late_us", lateJson(report.lateBy)},
      {"scatter", stageJson(report.scatter)},
      {"broadcast", stageJson(report.broadcast)},
  }
      .dump();
}

std::string totalsJson(const Statistics::Totals& totals) {
  Json peers = Json::array();
  for (const Statistics::Peer& peer : totals.peers) {
    peers.push_back({{"rank", peer.rank},
                     {"address", peer.address},
                     {"absent_ops", peer.absentOps},
                     {"late_us", microseconds(peer.late)},
                     {"expected_bytes", peer.expectedBytes},
                     {"absent_bytes", peer.absentBytes},
                     {"late_bytes", peer.lateBytes},
                     {"cut_bytes", peer.cutBytes},
                     {"lost_bytes", peer.lostBytes},
                     {"refused_bytes", peer.refusedBytes},
                     {"repaired_bytes", peer.repairedBytes}});
  }
  Json bounds = Json::array();
  for (const Statistics::Bound& bound : totals.bounds) {
    bounds.push_back({{"bytes_from", bound.bytesFrom},
                      {"scatter_us", microseconds(bound.scatter)},
                      {"broadcast_us", microseconds(bound.broadcast)}});
  }
  return Json{
      {"exact_ops", totals.exactOps},
      {"warmup_ops", totals.warmupOps},
      {"bounded_ops", totals.boundedOps},
      {"expired_ops", totals.expiredOps},
      {"skipped_ops", totals.skippedOps},
      {"zeroed_elements", totals.zeroedElements},
      {"safeguards", safeguardsJson(totals.safeguards)},
      {"failed_ops", totals.failedOps},
      {"bytes", totals.bytes},
      {"repaired_bytes", totals.repairedBytes},
      {"pairs_expected", totals.pairsExpected},
      {"pairs_missing", totals.pairsMissing},
      {"loss_fraction", share(totals.pairsMissing, totals.pairsExpected)},
      {"drift_elements", totals.driftElements},
      {"p50_us", microseconds(totals.p50)},
      {"p99_us", microseconds(totals.p99)},
      {"bounds", bounds},
      {"peers", peers},
  }
      .dump();
}

std::string prometheusText(const Statistics::Totals& totals,
                           const Process& process) {
  std::string text;
  const std::string self =
      (process.job.empty() ? "" : "job_id=\"" + escaped(process.job) + "\",") +
      "rank=\"" + std::to_string(process.rank) + "\"" +
      (process.child.empty() ? "" : ",child=\"" + process.child + "\"");
  const auto family =
      [&](const std::string& name, const char* type, const char* help) {
        text += "# HELP gloo_ubt_" + name + " " + help + "\n# TYPE gloo_ubt_" +
                name + " " + type + "\n";
      };
  const auto value = [&](const std::string& name,
                         const std::string& labels,
                         const std::string& number) {
    text += "gloo_ubt_" + name + "{" + self + labels + "} " + number + "\n";
  };
  family("running", "gauge", "Whether the process runs; 0: it has ended.");
  value("running", "", process.runs ? "1" : "0");
  family("ops_total", "counter", "Allreduce calls, by kind.");
  const std::array<std::pair<const char*, uint64_t>, 4> kinds = {
      {{"exact", totals.exactOps},
       {"warmup", totals.warmupOps},
       {"bounded", totals.boundedOps},
       {"failed", totals.failedOps}}};
  for (const auto& [kind, count] : kinds) {
    value("ops_total",
          ",kind=\"" + std::string(kind) + "\"",
          std::to_string(count));
  }
  const auto counter = [&](const char* name, const char* help, uint64_t count) {
    family(name, "counter", help);
    value(name, "", std::to_string(count));
  };
  counter("expired_ops_total",
          "Bounded calls with a stage that ended before all had arrived.",
          totals.expiredOps);
  counter("skipped_ops_total",
          "Calls that became zero on all ranks, because too much was missing.",
          totals.skippedOps);
  counter("zeroed_elements_total",
          "Elements of this rank's shards that became zero, because too much "
          "was missing.",
          totals.zeroedElements);
  counter("repaired_bytes_total",
          "Bytes that arrived on request.",
          totals.repairedBytes);
  counter("pairs_expected_total",
          "(contributor, element) pairs that bounded calls should have summed.",
          totals.pairsExpected);
  counter("pairs_missing_total",
          "The pairs of these that this rank's results lack.",
          totals.pairsMissing);
  counter("drift_elements_total",
          "Elements that this rank filled with zeros, so that replicas differ.",
          totals.driftElements);
  family("loss_average",
         "gauge",
         "Share of the other ranks' contributions that recent bounded calls "
         "lack.");
  value("loss_average", "", std::to_string(totals.safeguards.lossAverage));
  family("loss_limit",
         "gauge",
         "The share above which a safeguard acts; 0: never.");
  const std::array<std::pair<const char*, double>, 3> limits = {
      {{"zero", totals.safeguards.zeroLoss},
       {"skip", totals.safeguards.skipLoss},
       {"halt", totals.safeguards.haltLoss}}};
  for (const auto& [safeguard, limit] : limits) {
    value("loss_limit",
          ",safeguard=\"" + std::string(safeguard) + "\"",
          std::to_string(limit));
  }
  const auto peers = byRank(totals.peers);
  const auto ofPeers = [&](const char* name,
                           const char* help,
                           const std::string& more,
                           const auto& number) {
    if (help != nullptr) {
      family(name, "counter", help);
    }
    for (const auto& [rank, peer] : peers) {
      value(
          name, ",peer=\"" + rank + "\"" + more, std::to_string(number(peer)));
    }
  };
  using Peer = Statistics::Peer;
  ofPeers("late_seconds_total",
          "Time by which a peer's calls came after those of most ranks.",
          "",
          [](const Peer& peer) {
            return std::chrono::duration<double>(peer.late).count();
          });
  ofPeers("absent_ops_total",
          "Calls that left a peer out because it had not called.",
          "",
          [](const Peer& peer) { return peer.absentOps; });
  const char* const leftOut = "left_out_bytes_total";
  ofPeers(leftOut,
          "Bytes of a peer that calls did not wait for: it had not called "
          "(absent), they came later (late), or not at all (cut).",
          ",cause=\"absent\"",
          [](const Peer& peer) { return peer.absentBytes; });
  ofPeers(leftOut, nullptr, ",cause=\"late\"", [](const Peer& peer) {
    return peer.lateBytes;
  });
  ofPeers(leftOut, nullptr, ",cause=\"cut\"", [](const Peer& peer) {
    return peer.cutBytes;
  });
  ofPeers("lost_bytes_total",
          "Bytes of a peer that the network lost.",
          "",
          [](const Peer& peer) { return peer.lostBytes; });
  family("op_seconds", "gauge", "Time of recent bounded calls.");
  value("op_seconds",
        ",quantile=\"0.5\"",
        std::to_string(microseconds(totals.p50) / 1e6));
  value("op_seconds",
        ",quantile=\"0.99\"",
        std::to_string(microseconds(totals.p99) / 1e6));
  return text;
}

std::string summary(const Statistics::Totals& totals) {
  const double missing = share(totals.pairsMissing, totals.pairsExpected);
  return "optireduce: " + grouped(totals.boundedOps) + " ops, " +
         rounded(100 * missing, 2) + " % missing, p50/p99 " +
         rounded(milliseconds(totals.p50), 3) + "/" +
         rounded(milliseconds(totals.p99), 3) + " ms" +
         (totals.skippedOps > 0 ? ", " + grouped(totals.skippedOps) + " skipped"
                                : "");
}

}  // namespace gloo_ext
