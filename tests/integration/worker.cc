// SPDX-License-Identifier: Apache-2.0
//
// One rank of a job, which tests start, stop and kill. It joins the others,
// runs bounded allreduces, and prints one line for each event. Each line has
// the time of the event by CLOCK_MONOTONIC, which is the same in all processes.

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/hierarchical_bounded_transpose_allreduce.h"
#include "rendezvous/ubt_redis_store.h"
#include "transport_ubt/device.h"
#include "transport_ubt/gloo_compat.h"

namespace {

struct Flags {
  int rank = 0;
  int size = 1;
  std::string store;  // a directory, if there is no URL
  std::string redis;  // a URL
  std::string host = "127.0.0.1";
  std::string interface;
  std::string type = "float32";
  size_t elements = 100000;
  int ops = 1;
  int pauseMs = 0;        // before each op
  int lateMs = 0;         // before the first op
  int timeoutMs = 10000;  // of the context
  int childMs = 0;        // life of a forked child; 0: no child
  // At the end, or after an error is printed, keeps the context until killed.
  bool stay = false;
  bool exact = false;         // the exact transpose over the reliable transport
  bool hierarchical = false;  // the bounded transpose in groups
};

int64_t nowUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void say(const std::string& line) {
  std::cout << line + " at_us=" + std::to_string(nowUs()) + "\n" << std::flush;
}

// Small integers: their sums are exact in every type and order.
int valueAt(int rank, size_t i) {
  return static_cast<int>((i * 7 + rank * 13) % 31);
}

template <typename T>
bool isSum(const std::vector<T>& values, int ranks) {
  for (size_t i = 0; i < values.size(); i++) {
    int sum = 0;
    for (int rank = 0; rank < ranks; rank++) {
      sum += valueAt(rank, i);
    }
    if (values[i] != static_cast<T>(sum)) {
      return false;
    }
  }
  return true;
}

std::string describe(int op,
                     int64_t tookUs,
                     bool sum,
                     const gloo::BoundedReport& report) {
  std::string line = "op=" + std::to_string(op) +
                     " took_us=" + std::to_string(tookUs) +
                     " sum=" + std::to_string(sum);
  if (report) {
    const auto limit = std::chrono::duration_cast<std::chrono::microseconds>(
                           report->waited + report->limit)
                           .count();
    line += " bounded=" + std::to_string(report->bounded) + " complete=" +
            std::to_string(report->endedBy == ubt::EndedBy::kComplete) +
            " missing=" + std::to_string(report->pairsMissing) +
            " drift=" + std::to_string(report->driftElements) +
            " limit_us=" + std::to_string(limit);
  }
  return line;
}

using Call = std::function<gloo::BoundedReport()>;

template <typename Algorithm, typename T>
Call boundedBy(const std::shared_ptr<gloo::Context>& context,
               const std::vector<T*>& pointers,
               size_t elements) {
  const auto algorithm =
      std::make_shared<Algorithm>(context, pointers, elements);
  return [algorithm] {
    algorithm->run();
    return algorithm->report();
  };
}

template <typename T>
Call callOf(const Flags& flags,
            const std::shared_ptr<gloo::Context>& context,
            const std::vector<T*>& pointers) {
  if (flags.hierarchical) {
    return boundedBy<gloo::HierarchicalBoundedTransposeAllreduce<T>>(
        context, pointers, flags.elements);
  }
  if (!flags.exact) {
    return boundedBy<gloo::BoundedTransposeAllreduce<T>>(
        context, pointers, flags.elements);
  }
  const auto algorithm = std::make_shared<gloo::TransposeAllreduce<T>>(
      context, pointers, flags.elements);
  return [algorithm] {
    algorithm->run();
    return gloo::BoundedReport();
  };
}

template <typename T>
void runOps(const Flags& flags, const std::shared_ptr<gloo::Context>& context) {
  std::vector<T> values(flags.elements);
  const std::vector<T*> pointers{values.data()};
  const auto call = callOf<T>(flags, context, pointers);
  std::this_thread::sleep_for(std::chrono::milliseconds(flags.lateMs));
  for (int op = 0; op < flags.ops; op++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(flags.pauseMs));
    for (size_t i = 0; i < values.size(); i++) {
      values[i] = static_cast<T>(valueAt(flags.rank, i));
    }
    const int64_t start = nowUs();
    const gloo::BoundedReport report = call();
    const int64_t took = nowUs() - start;
    say(describe(op, took, isSum(values, flags.size), report));
  }
}

void sayCounters(gloo::Context& context) {
  const auto* const bounded = gloo::detail::boundedContext(context);
  if (bounded == nullptr) {
    return;
  }
  std::string line = "counters";
  const ubt::Counters counters = bounded->counters();
  for (int i = 0; i < static_cast<int>(ubt::Counter::kCounters); i++) {
    const auto counter = static_cast<ubt::Counter>(i);
    line += std::string(" ") + ubt::counterName(counter) + "=" +
            std::to_string(counters.get(counter));
  }
  say(line);
}

std::unique_ptr<gloo::rendezvous::Store> join(const Flags& flags) {
  if (flags.redis.empty()) {
    return std::make_unique<gloo::rendezvous::FileStore>(flags.store);
  }
  gloo::rendezvous::UbtRedisStore::Options options;
  options.url = flags.redis;
  options.prefix = "worker";
  options.rank = flags.rank;
  options.size = flags.size;
  return std::make_unique<gloo::rendezvous::UbtRedisStore>(options);
}

void runOps(const Flags& flags, const std::shared_ptr<gloo::Context>& context) {
  if (flags.type == "float32") {
    runOps<float>(flags, context);
  } else if (flags.type == "float64") {
    runOps<double>(flags, context);
  } else {
    throw std::invalid_argument("no such type: " + flags.type);
  }
}

// Like a DataLoader's worker, the child has all of the parent's descriptors
// open.
void forkChild(int lifeMs) {
  const pid_t child = fork();
  if (child == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(lifeMs));
    _exit(0);
  }
  say("child=" + std::to_string(child));
}

void run(const Flags& flags) {
  gloo::transport::ubt::attr attr;
  if (flags.interface.empty()) {
    attr.hostname = flags.host;
  }
  attr.iface = flags.interface;
  std::shared_ptr<gloo::transport::Device> device =
      gloo::transport::ubt::CreateDevice(attr);
  say("device=" + device->str());
  const auto store = join(flags);
  auto context =
      std::make_shared<gloo::rendezvous::Context>(flags.rank, flags.size);
  context->setTimeout(std::chrono::milliseconds(flags.timeoutMs));
  context->connectFullMesh(gloo::compat::borrowed(*store), device);
  say("connected");
  if (flags.childMs > 0) {
    forkChild(flags.childMs);
  }
  try {
    runOps(flags, context);
  } catch (const std::exception& error) {
    if (!flags.stay) {
      throw;
    }
    say(std::string("ended with: ") + error.what());
  }
  sayCounters(*context);
  if (flags.stay) {
    say("staying");
    pause();
  }
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // as every program over Gloo's tcp has to do
  Flags flags;
  CLI::App app("One rank of a test's job.");
  app.add_option("--rank", flags.rank);
  app.add_option("--size", flags.size);
  app.add_option("--store", flags.store);
  app.add_option("--redis", flags.redis);
  app.add_option("--host", flags.host);
  app.add_option("--interface", flags.interface);
  app.add_option("--type", flags.type);
  app.add_option("--elements", flags.elements);
  app.add_option("--ops", flags.ops);
  app.add_option("--pause-ms", flags.pauseMs);
  app.add_option("--late-ms", flags.lateMs);
  app.add_option("--timeout-ms", flags.timeoutMs);
  app.add_option("--child-ms", flags.childMs);
  app.add_flag("--stay", flags.stay);
  app.add_flag("--exact", flags.exact);
  app.add_flag("--hierarchical", flags.hierarchical);
  CLI11_PARSE(app, argc, argv);
  int status = 0;
  try {
    run(flags);
  } catch (const std::exception& error) {
    say(std::string("ended with: ") + error.what());
    status = 1;
  }
  say("gone");
  return status;
}
