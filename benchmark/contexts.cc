// SPDX-License-Identifier: Apache-2.0
#include "benchmark/contexts.h"

#include <gloo/common/error.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/rendezvous/prefix_store.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <utility>

#include "rendezvous/ubt_redis_store.h"
#include "transport_ubt/gloo_compat.h"

namespace gloo {
namespace benchmark {

namespace {

rendezvous::UbtRedisStore::Options storeOptions(const Options& options) {
  rendezvous::UbtRedisStore::Options store;
  store.url = options.redisUrl;
  store.prefix = options.prefix;
  store.rank = options.rank;
  store.size = options.size;
  const auto timeout =
      options.joinTimeout.count() > 0 ? options.joinTimeout : options.timeout;
  if (timeout.count() > 0) {
    store.timeout = timeout;
  }
  return store;
}

}  // namespace

Contexts::Contexts(const Options& options,
                   std::shared_ptr<transport::Device> device) {
  auto context =
      std::make_shared<rendezvous::Context>(options.rank, options.size);
  if (options.timeout.count() > 0) {
    context->setTimeout(options.timeout);
  }
  if (!options.redisUrl.empty()) {
    rendezvous::UbtRedisStore store(storeOptions(options));
    context->connectFullMesh(compat::borrowed(store), device);
  } else if (!options.sharedPath.empty()) {
    connectThroughFiles(options, *context, device);
  } else {
    rendezvous::HashStore store;  // for a single process
    context->connectFullMesh(compat::borrowed(store), device);
  }
  first_ = std::move(context);
}

void Contexts::connectThroughFiles(const Options& options,
                                   rendezvous::Context& context,
                                   std::shared_ptr<transport::Device>& device) {
  if (!std::filesystem::is_directory(options.sharedPath)) {
    GLOO_THROW_IO_EXCEPTION(
        "--shared-path ",
        options.sharedPath,
        ": there is no such directory. Make one that all processes see");
  }
  rendezvous::FileStore files(options.sharedPath);
  rendezvous::PrefixStore store(options.prefix, compat::borrowed(files));
  try {
    context.connectFullMesh(compat::borrowed(store), device);
  } catch (const EnforceNotMet& e) {
    files_ = files.getAllKeyFilePaths();
    if (e.msg().find("already exists") == std::string::npos) {
      throw;
    }
    // Belongs to a running job: do not remove.
    files_.clear();
    GLOO_THROW_IO_EXCEPTION(
        "--shared-path ",
        options.sharedPath,
        " holds the files of a job with --prefix ",
        options.prefix,
        " that is running or crashed. Choose another prefix, or empty the "
        "directory");
  }
  files_ = files.getAllKeyFilePaths();
}

Contexts::~Contexts() {
  for (const auto& file : files_) {
    if (std::remove(file.c_str()) != 0) {
      std::cerr << "Cannot remove the rendezvous file " << file
                << "; remove it before the next run" << std::endl;
    }
  }
}

std::shared_ptr<Context> Contexts::newContext(
    std::shared_ptr<transport::Device> device) {
  // One factory for each: Gloo's can make contexts only for devices with
  // addresses as long as its first device's.
  return rendezvous::ContextFactory(first_).makeContext(device);
}

}  // namespace benchmark
}  // namespace gloo
