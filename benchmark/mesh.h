// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/device.h>

#include <memory>
#include <string>
#include <vector>

#include "benchmark/options.h"

namespace gloo {
namespace benchmark {

// The processes of the benchmark, connected: a first context through Redis or
// files, all others over it. One thread at a time; all ranks make the same
// contexts in the same order.
class Mesh {
 public:
  // Returns when all ranks are connected. Throws what the store throws, and
  // gloo::IoException for a shared path that cannot be used.
  Mesh(const Options& options, std::shared_ptr<transport::Device> device);

  // Removes this rank's files from the shared path.
  ~Mesh();

  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  std::shared_ptr<Context> newContext(
      std::shared_ptr<transport::Device> device);

 private:
  void connectThroughFiles(const Options& options,
                           rendezvous::Context& context,
                           std::shared_ptr<transport::Device>& device);

  std::vector<std::string> files_;
  std::unique_ptr<rendezvous::ContextFactory> factory_;
};

}  // namespace benchmark
}  // namespace gloo
