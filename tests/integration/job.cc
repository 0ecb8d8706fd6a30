// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/job.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace test {

namespace {

constexpr std::chrono::milliseconds kPoll{5};

}  // namespace

int64_t nowUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t Line::number(const std::string& name) const {
  const auto at = (" " + text_).find(" " + name + "=");
  return at == std::string::npos
             ? -1
             : std::strtoll(text_.c_str() + at + name.size() + 1, nullptr, 10);
}

Job::Job(int size) : processes_(size) {
  std::filesystem::create_directory(directory_.path() + "/store");
}

std::string Job::path(int rank) const {
  return directory_.path() + "/rank" + std::to_string(rank);
}

void Job::start(int rank, const Words& arguments, const Words& environment) {
  Words command{"env"};
  command.insert(command.end(), environment.begin(), environment.end());
  command.insert(command.end(),
                 {std::getenv("WORKER"),
                  "--rank",
                  std::to_string(rank),
                  "--size",
                  std::to_string(size()),
                  "--store",
                  directory_.path() + "/store"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  processes_[rank] = std::make_unique<ChildProcess>(command, path(rank));
}

void Job::startRest(const Words& arguments, const Words& environment) {
  for (int rank = 0; rank < size(); rank++) {
    if (processes_[rank] == nullptr) {
      start(rank, arguments, environment);
    }
  }
}

std::string Job::output(int rank) const {
  std::stringstream text;
  text << std::ifstream(path(rank)).rdbuf();
  return text.str();
}

std::vector<Line> Job::lines(int rank, const std::string& part) const {
  std::vector<Line> found;
  std::ifstream file(path(rank));
  std::string text;
  while (std::getline(file, text) && !file.eof()) {  // complete lines only
    if (text.find(part) != std::string::npos) {
      found.emplace_back(text);
    }
  }
  return found;
}

Line Job::await(int rank, const std::string& part) const {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  for (;;) {
    const auto found = lines(rank, part);
    if (!found.empty()) {
      return found.front();
    }
    if (std::chrono::steady_clock::now() >= end) {
      throw std::runtime_error("rank " + std::to_string(rank) +
                               " never printed '" + part + "', but:\n" +
                               output(rank));
    }
    std::this_thread::sleep_for(kPoll);
  }
}

int Job::wait(int rank) {
  return processes_[rank]->wait(kLimit).value_or(-1);
}

}  // namespace test
