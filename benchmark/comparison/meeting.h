// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/device.h>

#include <chrono>
#include <memory>
#include <string>

namespace gloo {
namespace compare {

// The place where the ranks of a comparison find each other.
class Meeting {
 public:
  struct Options {
    int rank;
    int size;
    std::string redisUrl;
    std::string prefix;
    std::chrono::milliseconds timeout;
  };

  // Returns when all ranks have come. Throws gloo::IoException, which names the
  // missing ranks or Redis' error.
  explicit Meeting(const Options& options);

  // Throws std::runtime_error, on every rank, unless all pass the same text.
  // The error shows two texts that differ.
  void expectSame(const std::string& what, const std::string& text);

  // Connects a new mesh for each name. Throws Gloo's exceptions.
  std::shared_ptr<Context> connect(const std::string& name,
                                   std::shared_ptr<transport::Device> device);

 private:
  const Options options_;
  std::unique_ptr<rendezvous::Store> store_;
};

}  // namespace compare
}  // namespace gloo
