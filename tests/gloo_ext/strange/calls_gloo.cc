// SPDX-License-Identifier: Apache-2.0
//
// Calls gloo::allreduce twice. The context's members hold the argument as the
// number of ranks ("calls_gloo 4"), or an invalid number ("-1").

#include <gloo/allreduce.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

int main(int, char** argv) {
  alignas(64) static int memory[256];
  std::fill(std::begin(memory), std::end(memory), std::atoi(argv[1]));
  memory[0] = memory[2] = 0;  // the rank, in either layout
  const std::shared_ptr<gloo::Context> context(
      reinterpret_cast<gloo::Context*>(memory), [](gloo::Context*) {});
  const gloo::AllreduceOptions options(context);
  gloo::allreduce(options);
  gloo::allreduce(options);
  return 0;
}
