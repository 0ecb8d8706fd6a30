// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/ubt_algorithms.h"

#include <memory>
#include <string>

#include "algorithms/bounded_transpose_allreduce.h"
#include "transport_ubt/device.h"

namespace gloo {
namespace compare {

namespace {

// One report's missing contributions to the own shard, as ranges: neighbouring
// slots that lack the same rank are one.
std::vector<MissingRange> missingOf(const ubt::OpReport& report) {
  std::vector<MissingRange> missing;
  for (size_t rank = 0; rank < report.contributors.size(); rank++) {
    const ubt::BitSet& slots = report.contributors[rank];
    size_t slot = slots.firstClear(0);
    while (slot < slots.size()) {
      const size_t end = slots.firstSet(slot);
      const size_t from = slot * report.slotElements;
      const size_t to =
          std::min<size_t>(end * report.slotElements, report.ownShard.count);
      missing.push_back({static_cast<int>(rank),
                         static_cast<size_t>(report.ownShard.offset) + from,
                         to - from});
      slot = slots.firstClear(end);
    }
  }
  return missing;
}

class BoundedUnderTest : public AllreduceUnderTest {
 public:
  BoundedUnderTest(const std::shared_ptr<Context>& context,
                   float* data,
                   size_t count)
      : algorithm_(context, {data}, count) {}

  void run() override { algorithm_.run(); }

  Outcome outcome() const override {
    Outcome outcome;
    const BoundedReport& report = algorithm_.report();
    if (!report || !report->bounded) {
      return outcome;
    }
    outcome.bounded = true;
    outcome.expired =
        report->scatterExpired || report->endedBy != ubt::EndedBy::kComplete;
    outcome.boundUs =
        std::chrono::duration<double, std::micro>(
            report->boundScatter + report->boundBroadcast)
            .count();
    outcome.missingPairs = report->pairsMissing;
    outcome.missing = missingOf(*report);
    for (const auto& range : report->filled) {
      outcome.filled.push_back({range.offset, range.count});
    }
    return outcome;
  }

 private:
  BoundedTransposeAllreduce<float> algorithm_;
};

AlgorithmSpec spec(const std::string& name,
                   const std::optional<ubt::RepairPolicy>& repair) {
  // The same for every size: a bound is learned within it.
  const auto configured = transport::ubt::Settings::fromEnvironment();
  const auto policy = repair.value_or(configured.protocol.repair);
  const char* const names[] = {"none", "broadcast", "both"};
  AlgorithmSpec spec;
  spec.name = name;
  spec.transport = "ubt";
  spec.repair = names[static_cast<int>(policy)];
  spec.isBounded = true;
  spec.warmupRuns = configured.protocol.warmupOps + 5;
  spec.createDevice = [policy](const std::string& interface) {
    transport::ubt::attr attr;
    attr.iface = interface;
    attr.settings.protocol.repair = policy;
    return transport::ubt::CreateDevice(attr);
  };
  spec.create = [](const std::shared_ptr<Context>& context,
                   float* data,
                   size_t count) -> std::unique_ptr<AllreduceUnderTest> {
    return std::make_unique<BoundedUnderTest>(context, data, count);
  };
  return spec;
}

}  // namespace

std::vector<AlgorithmSpec> ubtAlgorithms() {
  return {
      spec("optireduce", std::nullopt),
      spec("optireduce:none", ubt::RepairPolicy::kNone),
      spec("optireduce:broadcast", ubt::RepairPolicy::kBroadcast),
      spec("optireduce:both", ubt::RepairPolicy::kBoth),
  };
}

}  // namespace compare
}  // namespace gloo
