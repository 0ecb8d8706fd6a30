// SPDX-License-Identifier: Apache-2.0
#include "benchmark/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ostream>

namespace gloo {
namespace benchmark {

namespace {

constexpr int kLine = 100;
constexpr char kRow[] = "{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>19}{:>13}\n";

}  // namespace

Table::Table(std::ostream& out, const Options& options)
    : out_(out), options_(options) {}

void Table::printTitle(const std::string& title) {
  out_ << fmt::format("{:=>{}}\n{:^{}}\n\n", "", kLine, title, kLine);
}

void Table::printHeader(const std::vector<std::string>& devices) {
  auto name = options_.benchmark;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  printTitle(name);
  if (devices.size() == 1) {
    out_ << fmt::format("{:<13}{}\n", "Device:", devices.front());
  } else {
    out_ << "Devices:\n";
    for (const auto& device : devices) {
      out_ << "  - " << device << "\n";
    }
  }
  out_ << fmt::format(
      "{:<13}processes={}, inputs={}, threads={}{}, verify={}\n\n",
      "Options:",
      options_.size,
      options_.inputs,
      options_.threads,
      options_.benchmark == "allreduce_bcube"
          ? fmt::format(", base={}", options_.base)
          : "",
      options_.verify);
  printTitle("BENCHMARK RESULTS");
  const char* unit = options_.showNanos ? "(ns)" : "(us)";
  const auto timed = [unit](const char* what) {
    return fmt::format("{} {}", what, unit);
  };
  out_ << fmt::format(kRow,
                      "size (B)",
                      "elements",
                      timed("min"),
                      timed("p50"),
                      timed("p99"),
                      timed("max"),
                      "bandwidth (GB/s)",
                      "iterations");
  out_.flush();
}

void Table::printRow(size_t elements,
                     size_t elementSize,
                     const Distribution<std::chrono::nanoseconds>& latency) {
  const auto time = [this](std::chrono::nanoseconds value) {
    return value.count() / (options_.showNanos ? 1 : 1000);
  };
  const size_t bytes = elements * elementSize;
  // Threads run in parallel.
  const double seconds =
      std::chrono::duration<double>(latency.sum()).count() / options_.threads;
  const double moved =
      static_cast<double>(bytes) * static_cast<double>(latency.size());
  constexpr double kGigabyte = 1 << 30;
  out_ << fmt::format(
      kRow,
      bytes,
      elements,
      time(latency.min()),
      time(latency.percentile(0.50)),
      time(latency.percentile(0.99)),
      time(latency.max()),
      fmt::format("{:.3f}", moved / std::max(seconds, 1e-9) / kGigabyte),
      latency.size());
  out_.flush();
}

void Table::printErrorHeader() {
  out_ << "\n";
  printTitle("VERIFY ERRORS");
  out_.flush();
}

void Table::printFooter() {
  out_ << fmt::format("\n{:=>{}}\n", "", kLine);
  out_.flush();
}

}  // namespace benchmark
}  // namespace gloo
