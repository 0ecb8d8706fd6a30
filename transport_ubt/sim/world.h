// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "transport_ubt/sim/causes.h"
#include "transport_ubt/sim/checker.h"
#include "transport_ubt/sim/hosts.h"
#include "transport_ubt/sim/inputs.h"
#include "transport_ubt/sim/run_digest.h"
#include "transport_ubt/sim/sim_options.h"
#include "transport_ubt/sim/sim_result.h"

namespace ubt::sim {

// A whole job in virtual time: hosts with the real protocol core, callers that
// follow SimOptions, and the checks of docs/semantics.md after every op.
class World {
 public:
  // `digest` may be null. If not, it must outlive this.
  explicit World(const SimOptions& options, RunDigest* digest = nullptr);
  // Uses another arithmetic than plainReduction(); `checkResults` would then
  // call its results wrong. With noData there is no arithmetic.
  World(const SimOptions& options,
        const Reduction& reduction,
        RunDigest* digest = nullptr);
  ~World();

  SimResult run();

 private:
  // One thread of one rank on one context.
  struct Caller {
    int rank = 0;
    int context = 0;
    int thread = 0;
    int op = 0;
    bool inside = false;
    bool over = false;
    OpId id;
    TimePoint enteredAt{};    // by its host's clock
    Duration stillBefore{0};  // Hosts::stoodStill() then
    std::vector<std::byte> bucket;
  };
  // Calls of one rank that have ended.
  struct Left {
    uint64_t ops = 0;
    uint64_t bytes = 0;
  };
  struct Rank {
    explicit Rank(int contexts) : left(contexts) {}

    std::vector<Left> left;  // by context
    std::vector<Caller*> callers;
    bool closing = false;  // ends its first context once its callers are out
    std::vector<std::byte> bucket;  // of the process that replaces a dead one
  };

  void next(Caller* caller);
  void tryEnter(Caller* caller);
  void progress(int rank);
  void poll(Caller* caller);
  void giveUp(Caller* caller, const std::string& why);
  void noteLeft(const Caller& caller);
  bool allOver() const;

  // Faults that end processes, contexts and connections.
  void startFaults();
  void crash(int rank);
  void restart(int rank);
  void breakMesh(int rank, int peer);
  void closeWhenIdle(int rank);
  void closeContext(int rank, TimePoint latest);

  void checkMemory();
  void violation(const std::string& what);

  const SimOptions options_;
  RunDigest* const digest_;
  const Inputs inputs_;
  Causes causes_;
  Checker checker_;
  Hosts hosts_;
  EventQueue& events_;
  std::vector<Rank> ranks_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::vector<std::byte> nothing_;  // every rank's bucket if noData
  std::map<OpKey, std::vector<Outcome>> outcomes_;  // by rank
  FaultCounts faults_;
  std::set<OpKey> returned_;
  SimResult result_;
};

}  // namespace ubt::sim
