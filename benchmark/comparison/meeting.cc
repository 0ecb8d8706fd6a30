// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/meeting.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/prefix_store.h>

#include <stdexcept>
#include <vector>

#include "rendezvous/ubt_redis_store.h"

namespace gloo {
namespace compare {

Meeting::Meeting(const Options& options) : options_(options) {
  rendezvous::UbtRedisStore::Options store;
  store.url = options.redisUrl;
  store.prefix = options.prefix;
  store.rank = options.rank;
  store.size = options.size;
  store.timeout = options.timeout;
  store_ = std::make_unique<rendezvous::UbtRedisStore>(store);
}

void Meeting::expectSame(const std::string& what, const std::string& text) {
  const auto key = [&](int rank) {
    return "same/" + what + "/" + std::to_string(rank);
  };
  store_->set(key(options_.rank), std::vector<char>(text.begin(), text.end()));
  for (int rank = 0; rank < options_.size; rank++) {
    const auto value = store_->get(key(rank));
    const std::string other(value.begin(), value.end());
    if (other != text) {
      throw std::runtime_error("rank " + std::to_string(options_.rank) +
                               " has " + what + " '" + text + "', but rank " +
                               std::to_string(rank) + " has '" + other +
                               "'. Start all ranks with the same options");
    }
  }
}

std::shared_ptr<Context> Meeting::connect(
    const std::string& name, std::shared_ptr<transport::Device> device) {
  auto context =
      std::make_shared<rendezvous::Context>(options_.rank, options_.size);
  context->setTimeout(options_.timeout);
  rendezvous::PrefixStore store("mesh/" + name, *store_);
  context->connectFullMesh(store, device);
  return context;
}

}  // namespace compare
}  // namespace gloo
