// SPDX-License-Identifier: Apache-2.0
#include "benchmark/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

namespace gloo {
namespace benchmark {

namespace {

// As they were typed, where that is not what Options holds.
struct Typed {
  std::string redisHost;
  int redisPort = 6379;
  std::string tcpDevices;
  std::string sync;
  std::string busyPoll;
  std::string iterationTime;
  bool noVerify = false;
  // Flags of Gloo that have no meaning here.
  bool gpuDirect = false;
  std::string ignored;
};

constexpr char kDescription[] =
    "Measures Gloo's collectives, and this project's, between processes.\n"
    "Start it once per rank, with the same arguments except --rank:\n\n"
    "  benchmark --size 2 --rank 0 --shared-path /tmp/gloo --transport tcp \\\n"
    "      --tcp-device lo --elements 1000000 allreduce_ring_chunked &\n"
    "  benchmark --size 2 --rank 1 --shared-path /tmp/gloo --transport tcp \\\n"
    "      --tcp-device lo --elements 1000000 allreduce_ring_chunked\n\n"
    "Rank 0 prints the table: bytes and elements of a buffer, the fastest,\n"
    "median, 99th percentile and slowest iteration, and bytes per second\n"
    "(1 GB/s = 2^30).";

// Gloo's rule: 1, true, yes; anything else is no.
bool isTrue(const std::string& text) {
  const int first =
      text.empty() ? 0 : std::tolower(static_cast<unsigned char>(text[0]));
  return first == 't' || first == 'y' || std::atoi(text.c_str()) == 1;
}

std::chrono::nanoseconds parseDuration(const std::string& text) {
  using std::chrono::nanoseconds;
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  const auto unit = CLI::detail::trim_copy(end);
  nanoseconds scale{0};
  if (unit.empty() || unit == "s") {
    scale = std::chrono::seconds(1);
  } else if (unit == "ms") {
    scale = std::chrono::milliseconds(1);
  } else if (unit == "us") {
    scale = std::chrono::microseconds(1);
  }
  constexpr long kSecondsMax = 1000000;
  if (end == text.c_str() || scale.count() == 0 || number <= 0 ||
      number > kSecondsMax * (std::chrono::seconds(1) / scale)) {
    throw UsageError(fmt::format(
        "--iteration-time: '{}' is no duration; write a whole number above 0 "
        "and s, ms or us, as in 2s or 500ms",
        text));
  }
  return number * scale;
}

std::vector<std::string> splitList(const std::string& text) {
  auto parts = CLI::detail::split(text, ',');
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return parts;
}

void addRendezvous(CLI::App& app, Options& options, Typed& typed) {
  app.add_option("-s,--size", options.size, "Number of processes")
      ->group("Participation")
      ->required();
  app.add_option("-r,--rank", options.rank, "Rank of this process, from 0")
      ->group("Participation");
  const auto* group = "Rendezvous (one of Redis and a shared path)";
  auto* host =
      app.add_option("-h,--redis-host", typed.redisHost, "Host of Redis");
  auto* url = app.add_option(
      "--redis-url",
      options.redisUrl,
      "redis://[user:password@]host[:port][/db] or unix:///path[?db=N]; a "
      "password also from GLOO_UBT_REDIS_PASSWORD or the file that "
      "GLOO_UBT_REDIS_PASSWORD_FILE names");
  host->group(group)->excludes(url);
  url->group(group);
  app.add_option("-p,--redis-port", typed.redisPort, "Port of Redis")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  app.add_option("-x,--prefix",
                 options.prefix,
                 "Name of the job; may be used again when the job has ended")
      ->group(group)
      ->capture_default_str();
  app.add_option("--shared-path",
                 options.sharedPath,
                 "An existing directory that all processes see")
      ->group(group);
}

void addTransport(CLI::App& app, Options& options, Typed& typed) {
  const auto* group = "Transport";
  app.add_option("-t,--transport", options.transport, "Transport to use")
      ->group(group)
      ->capture_default_str();
  app.add_option(
         "--tcp-device",
         typed.tcpDevices,
         "Network interface(s) to use, separated by commas (default: the one "
         "that has the host name's address)")
      ->group(group);
  app.add_option("--sync", typed.sync, "true: pairs in sync mode")
      ->group(group);
  app.add_option(
         "--busy-poll", typed.busyPoll, "true: busy-poll; needs --sync true")
      ->group(group);
}

void addSuite(CLI::App& app, Options& options, Typed& typed) {
  const auto* group = "Benchmark";
  const auto number = [&](const char* name, int& value, const char* help) {
    return app.add_option(name, value, help)
        ->group(group)
        ->capture_default_str();
  };
  number("--elements", options.elements, "Elements of a buffer; 0: a sweep");
  number("--inputs", options.inputs, "Input buffers of a process")
      ->check(CLI::PositiveNumber);
  number("--warmup-iters", options.warmupIterations, "Iterations not timed")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--iteration-count",
                 options.iterationCount,
                 "Iterations (default: as many as fill --iteration-time)")
      ->group(group);
  app.add_option("--iteration-time",
                 typed.iterationTime,
                 "Time to measure for at least (default: 2s)")
      ->group(group);
  number("--threads", options.threads, "Threads, each with its own context")
      ->check(CLI::PositiveNumber);
  app.add_flag("--nanos", options.showNanos, "Times in ns, not us")
      ->group(group);
  app.add_flag("--halfprecision", options.halfPrecision, "16-bit floats")
      ->group(group);
  app.add_flag("--no-verify", typed.noVerify, "Do not check the first result")
      ->group(group);
  app.add_flag("--show-all-errors",
               options.showAllErrors,
               "Print every wrong element, not the first few")
      ->group(group);
  number("--destinations", options.destinations, "Peers in pairwise_exchange")
      ->check(CLI::PositiveNumber);
  number("--base", options.base, "Base of allreduce_bcube")
      ->check(CLI::Range(2, 1 << 16));
  number("--messages",
         options.messages,
         "Messages an iteration in sendrecv_stress and isendirecv_stress")
      ->check(CLI::PositiveNumber);
}

// Gloo takes these too. They configure what this build does not have, and do
// nothing for the transports it has.
void addIgnored(CLI::App& app, Typed& typed) {
  for (const auto* name : {"--ib-device",
                           "--ib-index",
                           "--ib-port",
                           "--pkey",
                           "--cert",
                           "--ca-file",
                           "--ca-path"}) {
    app.add_option(name, typed.ignored)->group("");
  }
  app.add_flag("--gpudirect", typed.gpuDirect)->group("");
}

// getopt_long() takes "--elem 100" for "--elements 100", and scripts rely on
// such things.
void completeNames(const CLI::App& app, std::vector<std::string>* arguments) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  for (auto& argument : *arguments) {
    if (argument == "--") {
      return;
    }
    const auto name = argument.substr(0, argument.find('='));
    if (name.compare(0, 2, "--") != 0) {
      continue;
    }
    std::vector<std::string> matches;
    for (const auto& candidate : names) {
      if (candidate == name) {
        matches = {candidate};
        break;
      }
      if (candidate.compare(0, name.size(), name) == 0) {
        matches.push_back(candidate);
      }
    }
    if (matches.size() == 1) {
      argument = matches.front() + argument.substr(name.size());
    } else if (matches.size() > 1) {
      throw UsageError(fmt::format("'{}' can mean {}; write the whole name",
                                   name,
                                   fmt::join(matches, " or ")));
    }
  }
}

void check(const Options& options) {
  if (options.benchmark.empty()) {
    throw UsageError(
        "missing benchmark specifier; end the command line with the name of "
        "one, such as allreduce_ring_chunked");
  }
  if (options.size < 1) {
    throw UsageError(fmt::format(
        "--size {}: write the number of processes, 1 or more", options.size));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    throw UsageError(
        fmt::format("--rank {}: ranks run from 0 to {} (--size minus 1)",
                    options.rank,
                    options.size - 1));
  }
  if (options.busyPoll && !options.sync) {
    throw UsageError(
        "--busy-poll: busy poll can only be used with sync mode; add --sync "
        "true");
  }
  const bool redis = !options.redisUrl.empty();
  if (!redis && options.sharedPath.empty() && options.size > 1) {
    throw UsageError(
        "no means for rendezvous; add --redis-host HOST, --redis-url URL or "
        "--shared-path DIRECTORY");
  }
}

}  // namespace

Options parseOptions(std::vector<std::string> arguments,
                     const std::string& benchmarks) {
  Options options;
  Typed typed;
  CLI::App app(kDescription, "benchmark");
  app.get_formatter()->column_width(28);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_help_flag("--help", "Print this and exit");  // -h is the Redis host
  app.footer("BENCHMARK is one of:\n" + benchmarks);
  addRendezvous(app, options, typed);
  addTransport(app, options, typed);
  addSuite(app, options, typed);
  addIgnored(app, typed);
  std::vector<std::string> names;
  app.add_option("BENCHMARK", names, "What to measure; see below")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  completeNames(app, &arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequest(app.help());
  } catch (const CLI::ParseError& e) {
    throw UsageError(e.what());
  }
  if (names.size() > 1) {
    throw UsageError(fmt::format("one benchmark at a time, not '{}'",
                                 fmt::join(names, " ")));
  }
  options.benchmark = names.empty() ? "" : names.front();
  options.verify = !typed.noVerify;
  options.sync = isTrue(typed.sync);
  options.busyPoll = isTrue(typed.busyPoll);
  options.tcpDevices = splitList(typed.tcpDevices);
  if (!typed.iterationTime.empty()) {
    options.iterationTime = parseDuration(typed.iterationTime);
  }
  if (!typed.redisHost.empty()) {
    const bool ipv6 = typed.redisHost.find(':') != std::string::npos;
    options.redisUrl = fmt::format(ipv6 ? "redis://[{}]:{}" : "redis://{}:{}",
                                   typed.redisHost,
                                   typed.redisPort);
  }
  check(options);
  return options;
}

}  // namespace benchmark
}  // namespace gloo
