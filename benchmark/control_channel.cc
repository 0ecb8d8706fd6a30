// SPDX-License-Identifier: Apache-2.0
#include "benchmark/control_channel.h"

#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>

#include <numeric>
#include <stdexcept>
#include <utility>

namespace gloo {
namespace benchmark {

namespace {

using Function = void (*)(void*, const void*, const void*, size_t);

std::vector<double> combine(const std::shared_ptr<Context>& context,
                            std::vector<double> values,
                            Function function) {
  AllreduceOptions options(context);
  options.setOutput(values.data(), values.size());
  options.setReduceFunction(function);
  allreduce(options);
  return values;
}

}  // namespace

ControlChannel::ControlChannel(std::shared_ptr<Context> context)
    : context_(std::move(context)) {}

int ControlChannel::rank() const {
  return context_->rank;
}

int ControlChannel::size() const {
  return context_->size;
}

void ControlChannel::barrier() {
  BarrierOptions options(context_);
  gloo::barrier(options);
}

double ControlChannel::fromRank0(double value) {
  BroadcastOptions options(context_);
  options.setOutput(&value, 1);
  options.setRoot(0);
  broadcast(options);
  return value;
}

std::vector<double> ControlChannel::max(std::vector<double> values) {
  return combine(
      context_, std::move(values), static_cast<Function>(&gloo::max<double>));
}

std::vector<double> ControlChannel::concatenate(std::vector<double> values) {
  std::vector<double> counts(size());
  counts[rank()] = values.size();
  counts = sum(std::move(counts));
  const std::vector<size_t> sizes(counts.begin(), counts.end());
  std::vector<double> all(
      std::accumulate(sizes.begin(), sizes.end(), size_t{0}));
  if (all.empty()) {
    return all;
  }
  AllgathervOptions options(context_);
  options.setInput(values.data(), values.size());
  options.setOutput(all.data(), sizes);
  allgatherv(options);
  return all;
}

void ControlChannel::expectSame(const std::string& what,
                                const std::string& text) {
  const auto lengths = concatenate({static_cast<double>(text.size())});
  const auto letters = concatenate({text.begin(), text.end()});
  auto begin = letters.begin();
  for (int rank = 0; rank < size(); rank++) {
    const std::string other(begin, begin + static_cast<long>(lengths[rank]));
    begin += static_cast<long>(lengths[rank]);
    if (other != text) {
      throw std::runtime_error("rank " + std::to_string(this->rank()) +
                               " has " + what + " '" + text + "', but rank " +
                               std::to_string(rank) + " has '" + other +
                               "'. Start all ranks with the same options");
    }
  }
}

std::vector<double> ControlChannel::sum(std::vector<double> values) {
  return combine(
      context_, std::move(values), static_cast<Function>(&gloo::sum<double>));
}

}  // namespace benchmark
}  // namespace gloo
