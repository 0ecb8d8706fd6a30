// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/local_ranks.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>

#include <chrono>
#include <exception>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

#include "transport_ubt/gloo_compat.h"

namespace gloo {
namespace testing {

namespace {

constexpr auto kTimeout = std::chrono::seconds(20);

// Runs body(rank) in one thread per rank. Returns the errors.
std::string onAllRanks(int ranks, const std::function<void(int)>& body) {
  std::vector<std::string> errors(ranks);
  std::vector<std::thread> threads;
  threads.reserve(ranks);
  for (int rank = 0; rank < ranks; rank++) {
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const std::exception& e) {
        errors[rank] = "rank " + std::to_string(rank) + ": " + e.what() + "\n";
      }
    });
  }
  std::string all;
  for (int rank = 0; rank < ranks; rank++) {
    threads[rank].join();
    all += errors[rank];
  }
  return all;
}

std::map<std::pair<std::string, int>, std::unique_ptr<LocalRanks>>& meshes() {
  static std::map<std::pair<std::string, int>, std::unique_ptr<LocalRanks>>
      kMeshes;
  return kMeshes;
}

}  // namespace

LocalRanks::LocalRanks(const Transport& transport, int ranks)
    : contexts_(ranks) {
  rendezvous::HashStore store;
  const auto error = onAllRanks(ranks, [&](int rank) {
    auto context = std::make_shared<rendezvous::Context>(rank, ranks);
    auto device = transport.createDevice();
    context->setTimeout(kTimeout);
    context->connectFullMesh(compat::borrowed(store), device);
    contexts_[rank] = std::move(context);
  });
  if (!error.empty()) {
    throw std::runtime_error("cannot connect the mesh:\n" + error);
  }
}

// Closes all ranks at the same time. Gloo waits for its event loop for each
// connection that it closes, so 64 ranks one by one would take half a minute.
LocalRanks::~LocalRanks() {
  onAllRanks(contexts_.size(), [&](int rank) { contexts_[rank].reset(); });
}

std::string LocalRanks::run(
    const std::function<void(const ContextPtr&)>& body) {
  return onAllRanks(contexts_.size(), [&](int rank) { body(contexts_[rank]); });
}

LocalRanks& sharedRanks(const Transport& transport, int ranks) {
  auto& mesh = meshes()[{transport.name, ranks}];
  if (!mesh) {
    mesh = std::make_unique<LocalRanks>(transport, ranks);
  }
  return *mesh;
}

void forgetRanks(const Transport& transport, int ranks) {
  meshes().erase({transport.name, ranks});
}

void makeSynchronous(Context& context) {
  for (int peer = 0; peer < context.size; peer++) {
    if (peer != context.rank) {
      context.getPair(peer)->setSync(true, false);
    }
  }
}

}  // namespace testing
}  // namespace gloo
