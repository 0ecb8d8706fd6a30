// SPDX-License-Identifier: Apache-2.0
//
// One rank of benchmark/compare, the command for users. Rank 0 writes results
// to standard output or to --log, one JSON object a line (report.h). Errors go
// to standard error. Exit codes: 0 if all rows are sound, 3 if one is not, 2
// for wrong arguments and 1 for other errors.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/algorithm_name.h"
#include "benchmark/comparison/algorithm_list.h"
#include "benchmark/comparison/comparison.h"
#include "benchmark/comparison/report.h"
#include "benchmark/comparison/tcp_algorithms.h"
#include "benchmark/contexts.h"
#include "benchmark/control_channel.h"
#include "transport_ubt/config/settings.h"

namespace gloo {
namespace compare {
namespace {

using ubt::Settings;

constexpr int kExitError = 1;
constexpr int kExitUsage = 2;
constexpr int kExitUnsound = 3;

struct Arguments {
  int rank = -1;
  int size = 0;
  std::string redisUrl;
  std::string prefix = "compare";
  std::vector<size_t> elements = {65536, 1048576, 6553600};
  std::vector<std::string> algorithms;
  double seconds = 5;
  double timeoutSeconds = 60;
  double joinSeconds = 60;
  std::string interface;
  bool samples = false;
  double turnSeconds = .05;
  bool forever = false;
  std::string log;
  std::string turns;
  LateRanks lateness;
  double lateSeconds = 0;
  bool listAlgorithms = false;
};

void setLate(const std::string& who, Arguments* arguments) {
  LateRanks& late = arguments->lateness;
  if (who == "any" || who == "each") {
    late.who = who == "any" ? LateRanks::Who::kAny : LateRanks::Who::kEach;
  } else if (CLI::detail::lexical_cast(who, late.rank)) {
    late.who = LateRanks::Who::kOne;
  } else {
    throw CLI::ValidationError("--late",
                               "'" + who + "' is not a rank, any or each");
  }
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_flag("--list-algorithms",
               arguments.listAlgorithms,
               "check --algorithms for --size ranks, print names, and end");
  app.add_option("--rank", arguments.rank, "this process, from 0")
      ->envname("RANK")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--size", arguments.size, "number of ranks")
      ->check(CLI::PositiveNumber);
  app.add_option("--redis-url", arguments.redisUrl, "where the ranks meet");
  app.add_option("--prefix", arguments.prefix, "names this comparison");
  app.add_option("--elements", arguments.elements, "floats, for each size")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 29));
  app.add_option("--algorithms",
                 arguments.algorithms,
                 "such as transpose or optireduce+gso=off "
                 "(algorithm_name.h); the default ones, if not given")
      ->delimiter(',');
  app.add_option("--seconds", arguments.seconds, "per algorithm and size")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--timeout", arguments.timeoutSeconds, "limit of each wait, in s")
      ->check(CLI::PositiveNumber);
  app.add_option("--join-timeout",
                 arguments.joinSeconds,
                 "limit of the wait for all ranks to join, in s")
      ->check(CLI::PositiveNumber);
  app.add_option("--interface", arguments.interface, "network interface");
  app.add_flag("--samples", arguments.samples, "report every iteration");
  app.add_option("--turn-seconds", arguments.turnSeconds, "of one algorithm")
      ->check(CLI::PositiveNumber);
  app.add_flag("--forever",
               arguments.forever,
               "run the first algorithm until this process is ended");
  app.add_option("--log", arguments.log, "for rank 0's results");
  app.add_option("--turns",
                 arguments.turns,
                 "rank 0 reports turns, and waits for a line of this pipe "
                 "(report.h)");
  app.add_option_function<std::string>(
      "--late",
      [&arguments](const std::string& who) { setLate(who, &arguments); },
      "who calls late in some iterations: a rank; any: a different rank each "
      "time, never rank 0; each: each rank, in iterations of its own");
  app.add_option("--late-share",
                 arguments.lateness.share,
                 "share of iterations in which it is late")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--late-seconds", arguments.lateSeconds, "how late it calls")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--late-seed",
                 arguments.lateness.seed,
                 "seed that decides when it is late");
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) {
    all += (all.empty() ? "" : ",") + word;
  }
  return all;
}

std::string describe(const std::vector<AlgorithmSpec>& algorithms,
                     const std::vector<size_t>& elements) {
  std::vector<std::string> names;
  names.reserve(algorithms.size());
  for (const auto& algorithm : algorithms) {
    names.push_back(algorithm.name);
  }
  std::vector<std::string> sizes;
  sizes.reserve(elements.size());
  for (const auto count : elements) {
    sizes.push_back(std::to_string(count));
  }
  return "--algorithms " + joined(names) + " --elements " + joined(sizes);
}

// Prints the chosen algorithms, with the variables of their settings, and those
// that would be chosen by default but cannot work with this number of ranks,
// with the reason.
int listAlgorithms(const std::vector<std::string>& wanted, int size) {
  nlohmann::ordered_json list;
  for (const auto& algorithm : chooseAlgorithms(wanted, size)) {
    list["chosen"][algorithm.name] =
        AlgorithmName::parse(algorithm.name).variables();
  }
  list["left_out"] = nlohmann::json::object();
  for (const auto& algorithm : allAlgorithms(Settings::fromEnvironment())) {
    const auto reason = whyNot(algorithm, size);
    if (wanted.empty() && algorithm.byDefault && !reason.empty()) {
      list["left_out"][algorithm.name] = reason;
    }
  }
  std::cout << list.dump() << std::endl;
  return 0;
}

Comparison::Options optionsOf(const Arguments& arguments,
                              const std::vector<Contender>& contenders) {
  Comparison::Options options;
  options.turnTime = std::chrono::duration<double>(arguments.turnSeconds);
  options.lateness = arguments.lateness;
  options.lateness.time = std::chrono::duration<double>(arguments.lateSeconds);
  if (arguments.rank == 0 && !arguments.turns.empty()) {
    const auto pipe = std::make_shared<std::ifstream>(arguments.turns);
    options.atTurn = [pipe, &contenders](const Comparison::Turn& turn) {
      emit(turnOf(turn, contenders));
      std::string line;
      if (!std::getline(*pipe, line)) {
        throw std::runtime_error("cannot read from the pipe of --turns");
      }
    };
  }
  return options;
}

// Returns whether all rows of this size are sound.
bool compareAt(size_t elements,
               const Arguments& arguments,
               ControlChannel& control,
               const std::vector<Contender>& contenders) {
  const bool reports = arguments.rank == 0;
  Comparison comparison(
      control, contenders, elements, optionsOf(arguments, contenders));
  const auto show = [&](const Comparison::Progress& progress) {
    if (reports) {
      emit(progressOf(progress, elements));
    }
  };
  if (arguments.forever) {
    comparison.runForever(show);
  }
  const auto measured =
      comparison.run(std::chrono::duration<double>(arguments.seconds), show);
  bool sound = true;
  for (size_t i = 0; i < contenders.size(); i++) {
    const auto& spec = contenders[i].spec;
    sound = sound && isSound(spec, measured[i]);
    if (reports) {
      nlohmann::ordered_json event = {{"event", "row"}};
      event["row"] = rowOf(spec, measured[i], arguments.size, elements);
      if (arguments.samples) {
        event["samples_us"] = measured[i].slowestUs;
      }
      emit(event);
    }
  }
  return sound;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

int compareAll(const Arguments& arguments) {
  const auto algorithms =
      chooseAlgorithms(arguments.algorithms, arguments.size);
  benchmark::Options meeting;
  meeting.rank = arguments.rank;
  meeting.size = arguments.size;
  meeting.redisUrl = arguments.redisUrl;
  meeting.prefix = arguments.prefix;
  meeting.timeout = milliseconds(arguments.timeoutSeconds);
  meeting.joinTimeout = milliseconds(arguments.joinSeconds);
  const auto tcp = createTcpDevice(arguments.interface);
  benchmark::Contexts contexts(meeting, tcp);
  ControlChannel control(contexts.newContext(tcp));
  control.expectSame("options", describe(algorithms, arguments.elements));
  std::vector<Contender> contenders;
  for (const auto& spec : algorithms) {
    auto context = contexts.newContext(spec.createDevice(arguments.interface));
    contenders.push_back({spec, std::move(context)});
  }
  control.barrier();
  if (arguments.rank == 0) {
    emit({{"event", "connected"}});
  }
  bool sound = true;
  for (const auto elements : arguments.elements) {
    sound = compareAt(elements, arguments, control, contenders) && sound;
  }
  control.barrier();
  return sound ? 0 : kExitUnsound;
}

int run(int argc, char** argv) {
  CLI::App app("One rank of benchmark/compare");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    if (arguments.listAlgorithms) {
      return listAlgorithms(arguments.algorithms, std::max(arguments.size, 1));
    }
    if (arguments.size < 1 || arguments.rank < 0 ||
        arguments.rank >= arguments.size) {
      throw std::invalid_argument(
          "--rank has to be from 0 to --size minus 1; got rank " +
          std::to_string(arguments.rank) + " of " +
          std::to_string(arguments.size));
    }
    if (arguments.redisUrl.empty()) {
      throw std::invalid_argument("--redis-url is missing");
    }
    if (arguments.rank == 0 && !arguments.log.empty() &&
        std::freopen(arguments.log.c_str(), "a", stdout) == nullptr) {
      throw std::invalid_argument("--log: cannot write to " + arguments.log);
    }
    return compareAll(arguments);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kExitUsage;
  } catch (const std::invalid_argument& e) {
    std::cerr << "error: " << e.what() << std::endl;
    return kExitUsage;
  } catch (const std::exception& e) {
    std::cerr << "error: ";
    if (arguments.rank >= 0) {
      std::cerr << "rank " << arguments.rank << ": ";
    }
    std::cerr << e.what() << std::endl;
    return kExitError;
  }
}

}  // namespace
}  // namespace compare
}  // namespace gloo

int main(int argc, char** argv) {
  // Gloo writes to sockets that a killed rank has closed. That must be an error
  // that names the rank, not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);
  return gloo::compare::run(argc, argv);
}
