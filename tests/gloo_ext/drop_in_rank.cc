// SPDX-License-Identifier: Apache-2.0
//
// One rank of a program that knows only Gloo and runs with the library
// preloaded: drop_in_rank WAY RANK SIZE FOLDER. Ranks meet in the folder.
// Prints events, one a line. With the way "threads", the process is all ranks.

#include <gloo/allreduce.h>
#include <gloo/common/error.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport_ubt/gloo_compat.h"

namespace {

constexpr size_t kElements = 1 << 17;
constexpr std::chrono::seconds kPatience{40};
constexpr int kInHandler = 7;

using ContextPtr = std::shared_ptr<gloo::Context>;

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Sums a 1 from each rank, within `timeout`.
template <typename T = float>
void sum(const ContextPtr& context,
         std::chrono::milliseconds timeout = kPatience) {
  std::vector<T> values(kElements, 1);
  gloo::AllreduceOptions options(context);
  options.setOutput(values.data(), values.size());
  options.setTimeout(timeout);
  void (*const add)(void*, const void*, const void*, size_t) = &gloo::sum<T>;
  options.setReduceFunction(add);
  gloo::allreduce(options);
  say(values[0] == context->size ? "right" : "wrong");
}

// Signals an event that other processes wait for.
void happened(const std::string& path) {
  std::ofstream file(path);
}

void await(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!std::filesystem::exists(path)) {
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error("nobody made " + path);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Rank 0's call has a timeout of its own, and the others come after it.
void shortTimeout(const ContextPtr& context, const std::string& tried) {
  if (context->rank == 0) {
    try {
      sum(context, std::chrono::milliseconds(10));
    } catch (const gloo::IoException& error) {
      say(std::string("threw: ") + error.what());
    }
    happened(tried);
  } else {
    await(tried);
  }
  sum(context);
}

// Ends the process during a call, on the calling thread.
void exitInHandler(const ContextPtr& context) {
  sum(context);
  if (context->rank == 0) {
    signal(SIGALRM, [](int) { _exit(kInHandler); });
    ualarm(100000, 0);
  }
  sum(context, kPatience);  // rank 1 never enters it
}

// Rank 1 comes to the last sum when the test tells it to, after the others have
// ended.
void late(const ContextPtr& context, const std::string& over) {
  sum(context);
  if (context->rank != 1) {
    sum(context);
    return;
  }
  await(over);
  try {
    sum(context);
  } catch (const gloo::IoException& error) {
    say(std::string("threw: ") + error.what());
  }
}

ContextPtr connected(int rank, int size, const std::string& folder) {
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  gloo::rendezvous::FileStore store(folder + "/store");
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->setTimeout(kPatience);
  context->connectFullMesh(gloo::compat::borrowed(store), device);
  return context;
}

// Ranks that share this process, and so the library's only device.
void threads(int size, const std::string& folder) {
  constexpr int kSums = 10;
  std::vector<std::thread> ranks;
  ranks.reserve(size);
  for (int rank = 0; rank < size; rank++) {
    ranks.emplace_back([=] {
      try {
        const ContextPtr context = connected(rank, size, folder);
        for (int i = 0; i < kSums; i++) {
          sum<double>(context);
          sum<float>(context);
        }
      } catch (const std::exception& error) {
        say(std::string("threw: ") + error.what());
      }
    });
  }
  for (std::thread& rank : ranks) {
    rank.join();
  }
}

void run(const std::string& way,
         int rank,
         int size,
         const std::string& folder) {
  if (way == "threads") {
    threads(size, folder);
    return;
  }
  const ContextPtr context = connected(rank, size, folder);
  if (way == "short") {
    shortTimeout(context, folder + "/tried");
  } else if (way == "late") {
    late(context, folder + "/over");
  } else if (way == "handler" && rank == 1) {
    sum(context);
    await(folder + "/over");
  } else if (way == "handler") {
    exitInHandler(context);
  } else {
    throw std::invalid_argument(way);
  }
}

}  // namespace

int main(int, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // required for programs over Gloo's tcp
  try {
    run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argv[4]);
  } catch (const std::exception& error) {
    say(std::string("ended with: ") + error.what());
    return 1;
  }
  return 0;
}
