// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/ubt_algorithms.h"

#include <algorithm>
#include <chrono>

#include "algorithms/hierarchical_bounded_transpose_allreduce.h"
#include "transport_ubt/core/wire/op_id.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace compare {

namespace {

using ubt::RepairPolicy;
using ubt::Settings;

// Ranks may end the protocol's own warm-up in different ops.
constexpr int kWarmupRunsMore = 5;

const char* policyName(RepairPolicy policy) {
  constexpr const char* kNames[] = {"none", "broadcast", "both"};
  return kNames[static_cast<int>(policy)];
}

double microseconds(ubt::Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

// The contributions missing from the own shard; adjacent slots are joined.
std::vector<RankRange> missingIn(const ubt::OpReport& report) {
  std::vector<RankRange> missing;
  const size_t end = report.ownShard.offset + report.ownShard.count;
  for (size_t rank = 0; rank < report.contributors.size(); rank++) {
    const auto& present = report.contributors[rank];
    for (size_t slot = present.firstClear(0); slot < present.size();) {
      size_t next = slot + 1;
      while (next < present.size() && !present.test(next)) {
        next++;
      }
      const size_t from = report.ownShard.offset + slot * report.slotElements;
      const size_t to = std::min<size_t>(
          end, report.ownShard.offset + next * report.slotElements);
      missing.push_back({static_cast<int>(rank), from, to - from});
      slot = present.firstClear(next);
    }
  }
  return missing;
}

// The shards, and this rank's transformed contributions.
void addShards(const ubt::OpReport& report,
               int rank,
               size_t elements,
               Gaps* gaps) {
  for (size_t shard = 0; shard < report.forms.size(); shard++) {
    const size_t offset = shard * report.shardElements;
    if (offset >= elements) {
      break;
    }
    const size_t count =
        std::min<size_t>(report.shardElements, elements - offset);
    gaps->shards.push_back(
        {offset,
         count,
         ubt::transformSeed(report.op, static_cast<int>(shard)),
         report.forms[shard] == ubt::Form::kTransformed});
    if (report.contributed[shard] == ubt::Form::kTransformed) {
      gaps->transformed.push_back({rank, offset, count});
    }
  }
}

// A contribution that its owner cut is missing from the results of all ranks. A
// result that this rank cut held the contributions of all ranks.
uint64_t cutPairs(const ubt::OpReport& report, int ranks) {
  return report.leftOutBytes() / sizeof(float) * ranks;
}

template <typename Algorithm>
class BoundedUnderTest : public AllreduceUnderTest {
 public:
  BoundedUnderTest(const std::shared_ptr<Context>& context,
                   float* data,
                   size_t count)
      : rank_(context->rank),
        ranks_(context->size),
        elements_(count),
        algorithm_(std::make_unique<Algorithm>(
            context, std::vector<float*>{data}, count)) {}

  void run() override { algorithm_->run(); }

  Outcome outcome() const override {
    Outcome outcome;
    const auto& report = algorithm_->report();
    if (!report) {
      return outcome;  // an exact run
    }
    outcome.bounded = report->bounded;
    outcome.expired = report->expired();
    outcome.boundUs = microseconds(
        report->boundScatter + report->boundExchange + report->boundBroadcast);
    outcome.missingPairs = report->pairsMissing;
    outcome.cutPairs = cutPairs(*report, ranks_);
    outcome.driftElements = report->driftElements;
    if (report->skipped) {
      outcome.gaps.zeros.push_back({0, elements_});
      return outcome;
    }
    outcome.gaps.missing = missingIn(*report);
    for (const auto& range : report->filled) {
      outcome.gaps.zeros.push_back({range.offset, range.count});
    }
    for (const auto& range : report->partial) {
      outcome.gaps.unknown.push_back({range.offset, range.count});
    }
    addShards(*report, rank_, elements_, &outcome.gaps);
    return outcome;
  }

 private:
  const int rank_;
  const int ranks_;
  const size_t elements_;
  std::unique_ptr<Algorithm> algorithm_;
};

// One rank runs exactly and does not use the bounded path.
std::string whyNotAlone(int ranks) {
  return ranks > 1 ? "" : "needs at least 2 ranks";
}

using Plain = BoundedTransposeAllreduce<float>;

template <typename Algorithm>
AlgorithmSpec spec(const std::string& name,
                   const Settings& settings,
                   bool byDefault) {
  const auto createDevice = [settings](const std::string& interface) {
    transport::ubt::attr attr;
    attr.iface = interface;
    attr.settings = settings;
    return transport::ubt::CreateDevice(attr);
  };
  const auto create = [](const std::shared_ptr<Context>& context,
                         float* data,
                         size_t count) -> std::unique_ptr<AllreduceUnderTest> {
    return std::make_unique<BoundedUnderTest<Algorithm>>(context, data, count);
  };
  return {name,
          "ubt",
          policyName(settings.protocol.repair),
          true,
          static_cast<int>(settings.protocol.warmupOps) + kWarmupRunsMore,
          byDefault,
          createDevice,
          create,
          &whyNotAlone};
}

}  // namespace

std::vector<AlgorithmSpec> ubtAlgorithms(const Settings& settings) {
  std::vector<AlgorithmSpec> all = {spec<Plain>("optireduce", settings, true)};
  for (const auto policy :
       {RepairPolicy::kNone, RepairPolicy::kBroadcast, RepairPolicy::kBoth}) {
    auto own = settings;
    own.protocol.repair = policy;
    all.push_back(spec<Plain>(
        std::string("optireduce:") + policyName(policy), own, false));
  }
  all.push_back(spec<HierarchicalBoundedTransposeAllreduce<float>>(
      "hierarchical_optireduce", settings, false));
  all.back().whyNot = [groups = settings.groups](int ranks) {
    const auto why = ranks > 1 ? whyNotGrouped(groups, ranks) : "";
    return why.empty() ? whyNotAlone(ranks) : "cannot work with " + why;
  };
  return all;
}

}  // namespace compare
}  // namespace gloo
