// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/barrier_all_to_one.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/context.h>

#include <memory>

namespace gloo {
namespace benchmark {

// What ranks tell each other around a measurement, on contexts of its own so
// that the one measured is not disturbed. One thread at a time; every call is
// made by all ranks.
class Control {
 public:
  Control(const std::shared_ptr<Context>& forBarrier,
          std::shared_ptr<Context> forValues);

  void barrier() { barrier_.run(); }

  // Rank 0's value.
  long broadcast(long value);

  // The sum over the ranks.
  long sum(long value);

 private:
  BarrierAllToOne barrier_;
  std::shared_ptr<Context> context_;
  long value_ = 0;
  BroadcastOneToAll<long> broadcast_;
};

}  // namespace benchmark
}  // namespace gloo
