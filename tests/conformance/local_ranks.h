// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/device_factory.h"

namespace gloo {
namespace testing {

// Connected ranks that are threads of this process.
class LocalRanks {
 public:
  using ContextPtr = std::shared_ptr<Context>;

  LocalRanks(const Transport& transport, int ranks);
  ~LocalRanks();

  // Calls `body` in a thread per rank, with that rank's context, and waits for
  // all. Returns the errors, one line per rank; empty if there are none. After
  // a failure the mesh must not be used again.
  std::string run(const std::function<void(const ContextPtr&)>& body);

  int ranks() const { return contexts_.size(); }

 private:
  std::vector<ContextPtr> contexts_;
};

// To connect takes longer than most tests, so meshes are kept until the process
// ends or forgetRanks() is called. Not thread-safe.
LocalRanks& sharedRanks(const Transport& transport, int ranks);
void forgetRanks(const Transport& transport, int ranks);

// Makes all of a rank's pairs synchronous.
void makeSynchronous(Context& context);

}  // namespace testing
}  // namespace gloo
