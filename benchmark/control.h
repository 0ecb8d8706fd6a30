// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/barrier_all_to_one.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/context.h>

#include <memory>

namespace gloo {
namespace benchmark {

// Messages between ranks before and after a measurement. They use separate
// contexts and so do not disturb the measured one. One thread at a time; all
// ranks make every call.
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
