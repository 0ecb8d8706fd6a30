// SPDX-License-Identifier: Apache-2.0
#include "benchmark/runner.h"

#include <gloo/common/logging.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

namespace gloo {
namespace benchmark {

namespace {

using std::chrono::nanoseconds;

// A measurement that was too short is repeated with this many times more
// iterations.
constexpr double kLengthen = 1.2;
constexpr long kIterationsMax = 1000000000;

// The sizes of a sweep: 1, 2 and 5 times these.
constexpr size_t kSweepFirst = 100;
constexpr size_t kSweepLast = 1000000;

std::vector<size_t> sizesOf(const Options& options) {
  if (options.elements > 0) {
    return {static_cast<size_t>(options.elements)};
  }
  std::vector<size_t> sizes;
  for (size_t i = kSweepFirst; i <= kSweepLast; i *= 10) {
    sizes.insert(sizes.end(), {i, 2 * i, 5 * i});
  }
  return sizes;
}

Samples timeIterations(Benchmark& benchmark, long iterations) {
  Samples samples;
  samples.reserve(static_cast<size_t>(std::min(iterations, 1000000L)));
  for (long i = 0; i < iterations; i++) {
    const auto start = std::chrono::steady_clock::now();
    benchmark.run();
    samples.push_back(std::chrono::steady_clock::now() - start);
  }
  return samples;
}

}  // namespace

Runner::Runner(const Options& options)
    : options_(options),
      devices_(createDevices(options)),
      contexts_(options, devices_.front()),
      control_(contexts_.newContext(devices_.front())),
      table_(std::cout, options) {}

int Runner::run(const Entry& entry) {
  if (isPrinter()) {
    std::vector<std::string> descriptions;
    for (const auto& device : devices_) {
      descriptions.push_back(device->str());
    }
    table_.printHeader(descriptions);
  }
  bool correct = true;
  for (const size_t elements : sizesOf(options_)) {
    try {
      correct = measure(entry, elements) == 0;
    } catch (const EnforceNotMet& e) {
      if (options_.sync && e.msg().find("sync_") != std::string::npos) {
        throw UsageError(entry.name +
                         ": Gloo has its unbound buffers for asynchronous "
                         "pairs only; drop --sync");
      }
      throw;
    }
    if (!correct) {
      break;
    }
  }
  if (isPrinter()) {
    table_.printFooter();
  }
  control_.barrier();
  return correct ? 0 : 1;
}

std::unique_ptr<Benchmark> Runner::create(const Entry& entry,
                                          size_t elements,
                                          size_t thread) {
  auto context = contexts_.newContext(devices_[thread % devices_.size()]);
  context->base = options_.base;
  auto benchmark = entry.factory(context, options_);
  benchmark->initialize(elements);
  if (options_.sync) {
    for (int i = 0; i < context->size; i++) {
      auto& pair = context->getPair(i);
      if (pair) {
        pair->setSync(true, options_.busyPoll);
      }
    }
  }
  return benchmark;
}

long Runner::measure(const Entry& entry, size_t elements) {
  Set set;
  try {
    return measure(entry, elements, &set);
  } catch (...) {
    // Messages of other ranks may still arrive in buffers that Gloo's
    // algorithms free too early. So the buffers have to outlive the other
    // threads of the process.
    for (auto& benchmark : set) {
      (void)benchmark.release();
    }
    throw;
  }
}

long Runner::measure(const Entry& entry, size_t elements, Set* benchmarks) {
  Set& set = *benchmarks;
  Mismatches mismatches(options_.rank, options_.showAllErrors);
  for (int i = 0; i < options_.threads; i++) {
    set.push_back(create(entry, elements, static_cast<size_t>(i)));
    if (options_.verify) {
      set.back()->run();
      set.back()->verify(mismatches);
      control_.barrier();
    }
  }
  // The same number on all ranks, whatever their settings.
  const auto warmup = iterate(
      set, fromRank0(set.front()->warmupIterations(options_.warmupIterations)));
  const auto samples = options_.iterationCount > 0
                           ? iterate(set, options_.iterationCount)
                           : measureForTime(set, warmup);
  if (isPrinter()) {
    table_.printRow(elements,
                    set.front()->elementSize(),
                    Distribution<nanoseconds>(samples));
  }
  const std::string remark = set.front()->remark();
  if (isPrinter() && !remark.empty()) {
    std::cout.flush();
    std::cerr << "note: " << entry.name << " of " << elements << " elements is "
              << remark << std::endl;
  }
  const auto wrong = static_cast<long>(
      control_.sum({static_cast<double>(mismatches.count())})[0]);
  if (wrong > 0) {
    printErrors(mismatches, wrong);
  }
  return wrong;
}

Samples Runner::measureForTime(Set& set, const Samples& warmup) {
  // Rank 0 decides for all ranks. Without warm-up, begins with one iteration.
  const auto wanted = options_.iterationTime;
  const auto median = warmup.empty()
                          ? wanted
                          : Distribution<nanoseconds>(warmup).percentile(0.5);
  long iterations =
      fromRank0(std::max<long>(1, wanted / std::max(median, nanoseconds(1))));
  for (;;) {
    auto samples = iterate(set, iterations);
    nanoseconds total{0};
    for (const auto sample : samples) {
      total += sample;
    }
    const bool done =
        total / options_.threads > wanted || iterations >= kIterationsMax;
    const long lengthened =
        std::max(iterations + 1, static_cast<long>(kLengthen * iterations));
    const long next =
        fromRank0(done ? 0 : std::min(lengthened, kIterationsMax));
    if (next == 0) {
      return samples;
    }
    iterations = next;
  }
}

Samples Runner::iterate(Set& set, long iterations) {
  std::vector<Samples> perThread(set.size());
  std::vector<std::exception_ptr> failures(set.size());
  const auto work = [&](size_t i) {
    try {
      perThread[i] = timeIterations(*set[i], iterations);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  control_.barrier();
  std::vector<std::thread> threads;
  for (size_t i = 1; i < set.size(); i++) {
    threads.emplace_back(work, i);
  }
  work(0);
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
  control_.barrier();
  Samples all;
  for (const auto& samples : perThread) {
    all.insert(all.end(), samples.begin(), samples.end());
  }
  return all;
}

void Runner::printErrors(const Mismatches& mismatches, long total) {
  if (isPrinter()) {
    table_.printErrorHeader();
    std::cout << total << " wrong elements on all ranks.";
    if (!options_.showAllErrors) {
      std::cout << " The first " << Mismatches::kShown
                << " of each rank follow; --show-all-errors prints all.";
    }
    std::cout << "\n" << std::endl;
  }
  // One rank after the other, so that the processes' outputs do not mix.
  for (int i = 0; i < options_.size; i++) {
    control_.barrier();
    if (i == options_.rank) {
      for (const auto& text : mismatches.texts()) {
        std::cout << text << "\n";
      }
      std::cout.flush();
    }
  }
  control_.barrier();
}

}  // namespace benchmark
}  // namespace gloo
