// SPDX-License-Identifier: Apache-2.0
//
// One rank of a bounded allreduce; the ranks meet in a folder they share:
//
//   allreduce RANK SIZE FOLDER
//
// README.md shows the part between the two marks.

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "algorithms/bounded_transpose_allreduce.h"
#include "transport_ubt/device.h"

namespace {

// README: begin
void train(int rank, int size, const char* folder) {
  gloo::transport::ubt::attr attr("localhost");  // or attr.iface = "eth0"
  auto device = gloo::transport::ubt::CreateDevice(attr);
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);  // any Gloo collective works now

  std::vector<float> gradients(1 << 20, 1.0F);
  gloo::BoundedTransposeAllreduce<float> allreduce(
      context, {gradients.data()}, gradients.size());
  for (int step = 0; step < 30; step++) {
    allreduce.run();  // waits for every result; leaves late gradients out
    if (const auto& report = allreduce.report()) {
      std::printf("step %d: bounded %d, missing %llu of %llu\n",
                  step,
                  report->bounded,
                  0ULL + report->pairsMissing,
                  0ULL + report->pairsExpected);
    }
  }
}
// README: end

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "Usage: %s RANK SIZE FOLDER\n", argv[0]);
    return 2;
  }
  try {
    train(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
