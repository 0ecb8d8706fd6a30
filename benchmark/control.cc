// SPDX-License-Identifier: Apache-2.0
#include "benchmark/control.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <utility>
#include <vector>

namespace gloo {
namespace benchmark {

Control::Control(const std::shared_ptr<Context>& forBarrier,
                 std::shared_ptr<Context> forValues)
    : barrier_(forBarrier),
      context_(std::move(forValues)),
      broadcast_(context_, std::vector<long*>{&value_}, 1) {}

long Control::broadcast(long value) {
  // On other ranks the broadcast itself may already write value_.
  if (context_->rank == 0) {
    value_ = value;
  }
  broadcast_.run();
  return value_;
}

long Control::sum(long value) {
  AllreduceOptions options(context_);
  options.setOutput(&value, 1);
  void (*add)(void*, const void*, const void*, size_t) = &gloo::sum<long>;
  options.setReduceFunction(add);
  allreduce(options);
  return value;
}

}  // namespace benchmark
}  // namespace gloo
