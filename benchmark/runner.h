// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "benchmark/contexts.h"
#include "benchmark/control_channel.h"
#include "benchmark/devices.h"
#include "benchmark/registry.h"
#include "benchmark/samples.h"
#include "benchmark/table.h"

namespace gloo {
namespace benchmark {

// Measures one benchmark together with the other ranks' runners. Verifies a
// first iteration, warms up, then runs for the requested time or number of
// iterations. Rank 0 prints. One thread.
class Runner {
 public:
  // Returns when all ranks are connected. Throws like Contexts and
  // createDevices().
  explicit Runner(const Options& options);

  // Returns the exit status of the process: 0, or 1 if any rank found a wrong
  // element. Throws the benchmark's errors.
  int run(const Entry& entry);

 private:
  using Set = std::vector<std::unique_ptr<Benchmark>>;  // one per thread

  // Measures one size. Returns the number of wrong elements on all ranks.
  long measure(const Entry& entry, size_t elements);
  long measure(const Entry& entry, size_t elements, Set* benchmarks);
  std::unique_ptr<Benchmark> create(const Entry& entry,
                                    size_t elements,
                                    size_t thread);
  Samples iterate(Set& set, long iterations);
  Samples measureForTime(Set& set, const Samples& warmup);
  long fromRank0(long value) {
    return static_cast<long>(control_.fromRank0(static_cast<double>(value)));
  }
  void printErrors(const Mismatches& mismatches, long total);
  bool isPrinter() const { return options_.rank == 0; }

  const Options options_;
  const Devices devices_;
  Contexts contexts_;
  ControlChannel control_;
  Table table_;
};

}  // namespace benchmark
}  // namespace gloo
