// SPDX-License-Identifier: Apache-2.0
#include "benchmark/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "transport_ubt/config/nearest.h"

namespace gloo {
namespace benchmark {

namespace {

// Options as typed, if Options holds another form.
struct Typed {
  std::string redisHost;
  int redisPort = 6379;
  std::string tcpDevices;
  std::string sync;
  std::string busyPoll;
  std::string iterationTime;
  bool noVerify = false;
  // Gloo's flags that have no meaning here.
  bool gpuDirect = false;
  std::string ignored;
};

constexpr char kDescription[] =
    "Measures Gloo's collectives, and this project's, between processes.\n"
    "Start it once per rank, with the same arguments except --rank; here from\n"
    "the repository's root:\n\n"
    "  bazel build //benchmark; folder=$(mktemp -d)\n"
    "  for rank in 0 1; do\n"
    "    bazel-bin/benchmark/benchmark --size 2 --rank $rank \\\n"
    "      --shared-path $folder --tcp-device lo --elements 1000000 \\\n"
    "      --transport ubt allreduce_optireduce &\n"
    "  done; wait\n\n"
    "Rank 0 prints the table: bytes and elements of a buffer, the fastest,\n"
    "median, 99th percentile and slowest iteration, and bytes per second\n"
    "(1 GB/s = 2^30).";

// Help as a list of "flag=WHAT  explanation"; the text contains defaults.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /* app */,
                         std::string name) const override {
    return "Usage: " + name + " [OPTIONS] BENCHMARK\n";
  }
  std::string make_positionals(const CLI::App* /* app */) const override {
    return "";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const auto type = option->get_type_name();
    return option->get_expected_max() == 0 ? "" : "=" + type;
  }
};

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
    throw UsageError(
        fmt::format("--iteration-time: '{}' is not a duration; write a whole "
                    "number above 0 and s, ms or us, as in 2s or 500ms",
                    text));
  }
  return number * scale;
}

std::vector<std::string> splitList(const std::string& text) {
  auto parts = CLI::detail::split(text, ',');
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return parts;
}

// Adds options of one group of the help.
class Group {
 public:
  Group(CLI::App& app, std::string name) : app_(app), name_(std::move(name)) {}

  template <typename T>
  CLI::Option* option(const char* flags,
                      T& value,
                      const char* type,
                      const std::string& help) {
    return app_.add_option(flags, value, help)->group(name_)->type_name(type);
  }

  // A number that has a default and a smallest value.
  CLI::Option* number(const char* flags,
                      int& value,
                      int smallest,
                      const std::string& help) {
    auto* added =
        option(flags, value, "N", fmt::format("{} (default: {})", help, value));
    added->check([smallest](const std::string& text) {
      return std::atol(text.c_str()) >= smallest
                 ? std::string()
                 : fmt::format("'{}' is below {}", text, smallest);
    });
    return added;
  }

  void flag(const char* flags, bool& value, const char* help) {
    app_.add_flag(flags, value, help)->group(name_);
  }

 private:
  CLI::App& app_;
  const std::string name_;
};

void addParticipation(CLI::App& app, Options& options) {
  Group group(app, "Participation");
  group.option("-s,--size", options.size, "SIZE", "Number of processes");
  group.option("-r,--rank", options.rank, "RANK", "This process, from 0");
}

void addRendezvous(CLI::App& app, Options& options, Typed& typed) {
  Group group(app, "Rendezvous (through Redis or through files)");
  group.option("-h,--redis-host", typed.redisHost, "HOST", "Host of Redis");
  group.option("-p,--redis-port",
               typed.redisPort,
               "PORT",
               "Port of Redis (default: 6379)");
  group.option("--redis-url",
               options.redisUrl,
               "URL",
               "In place of both: redis://[user:password@]host[:port][/db]\n"
               "or unix:///path[?db=N]. A password may also stand in\n"
               "GLOO_UBT_REDIS_PASSWORD, or in the file that\n"
               "GLOO_UBT_REDIS_PASSWORD_FILE names");
  group.option("-x,--prefix",
               options.prefix,
               "PREFIX",
               "Name of the job (default: prefix); jobs that run at the\n"
               "same time need different ones");
  group.option("--shared-path",
               options.sharedPath,
               "PATH",
               "An existing directory that all processes see");
}

void addTransport(CLI::App& app, Options& options, Typed& typed) {
  Group group(app, "Transport");
  group.option("-t,--transport",
               options.transport,
               "TRANSPORT",
               "tcp (the default), or ubt: tcp and, for\nallreduce_optireduce, "
               "bounded UDP");
  group.option("--tcp-device",
               typed.tcpDevices,
               "DEV[,DEV...]",
               "Network interface(s) to use (default: the one that has\n"
               "the address of the host's name)");
  group.option(
      "--sync", typed.sync, "BOOL", "Pairs in sync mode (default: false)");
  group.option("--busy-poll",
               typed.busyPoll,
               "BOOL",
               "Busy-poll in sync mode (default: false)");
}

void addSuite(CLI::App& app, Options& options, Typed& typed) {
  Group group(app, "Benchmark");
  group.option("--elements",
               options.elements,
               "N",
               "Elements of a buffer (default: a sweep, 100 to 5,000,000)");
  group.number("--inputs", options.inputs, 1, "Buffers of a process");
  group.number(
      "--warmup-iters", options.warmupIterations, 0, "Iterations not timed");
  group.option("--iteration-count",
               options.iterationCount,
               "N",
               "Iterations (default: as many as --iteration-time needs)");
  group.option("--iteration-time",
               typed.iterationTime,
               "TIME",
               "Minimum measuring time, such as 2s or 500ms (default: 2s)");
  group.number("--threads", options.threads, 1, "Threads, each with a context");
  group.flag("--nanos", options.showNanos, "Times in ns, not us");
  group.flag("--halfprecision", options.halfPrecision, "16-bit floats");
  group.flag("--no-verify", typed.noVerify, "Do not check the first result");
  group.flag("--show-all-errors",
             options.showAllErrors,
             "Print every wrong element, not only the first few");
  group.number(
      "--destinations", options.destinations, 1, "Peers of pairwise_exchange");
  group.number("--base", options.base, 2, "Base of allreduce_bcube");
  group.number("--messages",
               options.messages,
               1,
               "Messages of sendrecv_stress, isendirecv_stress");
}

// Gloo also accepts these. They configure features that this build lacks, and
// do nothing for its transports.
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

std::vector<std::string> longNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// getopt_long() takes "--elem 100" for "--elements 100", and scripts use that.
void completeNames(const std::vector<std::string>& names,
                   std::vector<std::string>* arguments) {
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
    } else if (matches.empty()) {
      throw UsageError(fmt::format("there is no option '{}'; did you mean {}?",
                                   name,
                                   ubt::nearest(name, names)));
    } else {
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
    throw UsageError("--size: write the number of processes, 1 or more");
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
        "--size: several processes need a rendezvous; add --redis-host HOST, "
        "--redis-url URL or --shared-path DIRECTORY");
  }
}

}  // namespace

Options parseOptions(std::vector<std::string> arguments,
                     const std::string& benchmarks) {
  Options options;
  Typed typed;
  CLI::App app(kDescription, "benchmark");
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(32);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_help_flag("--help", "Print this and exit");  // -h is the Redis host
  app.footer("BENCHMARK is one of:\n" + benchmarks);
  addParticipation(app, options);
  addRendezvous(app, options, typed);
  addTransport(app, options, typed);
  addSuite(app, options, typed);
  addIgnored(app, typed);
  std::vector<std::string> names;
  app.add_option("BENCHMARK", names, "What to measure; see below")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  completeNames(longNames(app), &arguments);
  std::reverse(arguments.begin(), arguments.end());  // CLI11's order
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequest(app.help());
  } catch (const CLI::ConversionError& e) {
    throw UsageError(fmt::format("{}; write a whole number", e.what()));
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
    if (!options.redisUrl.empty()) {
      throw UsageError("--redis-host and --redis-url: give one of the two");
    }
    if (typed.redisPort < 1 || typed.redisPort > 65535) {
      throw UsageError("--redis-port: write a number from 1 to 65535");
    }
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
