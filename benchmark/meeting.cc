// SPDX-License-Identifier: Apache-2.0
#include "benchmark/meeting.h"

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
  const std::string key = "same/" + what;
  if (options_.rank == 0) {
    store_->set(key, std::vector<char>(text.begin(), text.end()));
    return;
  }
  const auto value = store_->get(key);
  const std::string rank0(value.begin(), value.end());
  if (rank0 != text) {
    throw std::runtime_error("rank " + std::to_string(options_.rank) + " has " +
                             what + " '" + text + "', but rank 0 has '" +
                             rank0 +
                             "'. Start all ranks with the same options");
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
