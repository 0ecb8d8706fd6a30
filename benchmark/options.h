// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace gloo {
namespace benchmark {

// A user's options. The flags equal those of Gloo's own benchmark, so that a
// script for it runs unchanged; `--help` explains each.
struct Options {
  // Participation
  int rank = 0;
  int size = 0;

  // Rendezvous: one of Redis and a shared directory
  std::string redisUrl;  // made from host and port if these are given
  std::string prefix = "prefix";
  std::string sharedPath;
  // Of each wait of the store and of a context. No flag. 0: their defaults.
  std::chrono::milliseconds timeout{0};
  // Of the store, in place of `timeout`. No flag. 0: `timeout`.
  std::chrono::milliseconds joinTimeout{0};

  // Transport
  std::string transport = "tcp";
  std::vector<std::string> tcpDevices;  // interfaces; empty: by host name
  bool sync = false;
  bool busyPoll = false;

  // Suite
  std::string benchmark;
  int elements = 0;  // 0: a sweep over sizes
  int inputs = 1;
  int warmupIterations = 5;
  long iterationCount = 0;  // 0: as many as fill iterationTime
  std::chrono::nanoseconds iterationTime = std::chrono::seconds(2);
  int threads = 1;
  bool verify = true;
  bool showAllErrors = false;
  bool showNanos = false;
  bool halfPrecision = false;
  int base = 2;
  int messages = 10000;
  int destinations = 1;
};

// A command line that cannot be run. The text names the error and a remedy.
struct UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `--help` was given; what() is the text.
struct HelpRequest : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Parses a command line without the program's name. Throws UsageError or
// HelpRequest. `benchmarks` are the names to list in the help, one a line. Does
// not check whether the requested benchmark exists.
Options parseOptions(std::vector<std::string> arguments,
                     const std::string& benchmarks);

}  // namespace benchmark
}  // namespace gloo
