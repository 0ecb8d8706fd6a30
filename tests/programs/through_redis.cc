// SPDX-License-Identifier: Apache-2.0
//
// A program of Gloo's: ranks meet in Redis.
//
//   through_redis RANK SIZE HOST PORT

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/rendezvous/redis_store.h>

#include <cstdlib>
#include <iostream>

#include "tests/programs/create_device.h"
#include "tests/programs/everything.h"
#include "transport_ubt/gloo_compat.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: " << argv[0] << " RANK SIZE HOST PORT\n";
    return 2;
  }
  const int rank = std::atoi(argv[1]);
  const int size = std::atoi(argv[2]);
  try {
    auto device = createDevice();
    gloo::rendezvous::RedisStore redis(argv[3], std::atoi(argv[4]));
    gloo::rendezvous::PrefixStore store("job", gloo::compat::borrowed(redis));
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    context->connectFullMesh(gloo::compat::borrowed(store), device);
    doEverything(context);
    std::cout << "done by " << device->str() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "rank " << rank << ": " << error.what() << "\n";
    return 1;
  }
  return 0;
}
