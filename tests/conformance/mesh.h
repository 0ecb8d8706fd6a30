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

// Ranks that are threads of this process, connected with each other.
class Mesh {
 public:
  using ContextPtr = std::shared_ptr<Context>;

  Mesh(const Transport& transport, int ranks);
  ~Mesh();

  // Calls `body` on every rank's own thread, with that rank's context, and
  // waits for all. Returns what went wrong, one line a rank; empty when
  // nothing did. After a failure the mesh must not be used again.
  std::string run(const std::function<void(const ContextPtr&)>& body);

  int ranks() const { return contexts_.size(); }

 private:
  std::vector<ContextPtr> contexts_;
};

// Connecting takes longer than most tests: meshes are kept until the process
// ends, or until `forget`. Not thread-safe.
Mesh& sharedMesh(const Transport& transport, int ranks);
void forgetMesh(const Transport& transport, int ranks);

// All of a rank's pairs.
void makeSynchronous(Context& context);

}  // namespace testing
}  // namespace gloo
