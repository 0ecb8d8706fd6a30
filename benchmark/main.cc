// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <cstdlib>
#include <iostream>

#include "benchmark/runner.h"

using gloo::benchmark::findBenchmark;
using gloo::benchmark::HelpRequest;
using gloo::benchmark::listBenchmarks;
using gloo::benchmark::parseOptions;
using gloo::benchmark::Runner;
using gloo::benchmark::UsageError;

int main(int argc, char** argv) {
  // A dead rank causes an exception instead of ending this process.
  signal(SIGPIPE, SIG_IGN);
  try {
    const auto options =
        parseOptions({argv + 1, argv + argc}, listBenchmarks());
    const auto& entry = findBenchmark(options.benchmark);
    if (entry.check) {
      entry.check(options);
    }
    return Runner(options).run(entry);
  } catch (const HelpRequest& e) {
    std::cout << e.what();
    return EXIT_SUCCESS;
  } catch (const UsageError& e) {
    std::cerr << argv[0] << ": " << e.what() << "\nTry `" << argv[0]
              << " --help' for more information." << std::endl;
  } catch (const std::exception& e) {
    std::cerr << argv[0] << ": " << e.what() << std::endl;
  }
  return EXIT_FAILURE;
}
