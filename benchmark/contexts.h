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

// The connected processes of a benchmark or comparison. The first context
// connects through Redis or files, all others through the first. One thread at
// a time; all ranks make the same contexts in the same order.
class Contexts {
 public:
  // Returns when all ranks are connected. Throws the store's errors, and
  // gloo::IoException for a shared path that cannot be used.
  Contexts(const Options& options, std::shared_ptr<transport::Device> device);

  // Removes this rank's files from the shared path.
  ~Contexts();

  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  std::shared_ptr<Context> newContext(
      std::shared_ptr<transport::Device> device);

 private:
  void connectThroughFiles(const Options& options,
                           rendezvous::Context& context,
                           std::shared_ptr<transport::Device>& device);

  std::vector<std::string> files_;
  std::shared_ptr<Context> first_;
};

}  // namespace benchmark
}  // namespace gloo
