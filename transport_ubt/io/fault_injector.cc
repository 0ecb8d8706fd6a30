// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/io/fault_injector.h"

#include <sstream>
#include <stdexcept>

namespace ubt {
namespace {

[[noreturn]] void reject(const std::string& item, const char* why) {
  throw std::invalid_argument(
      "GLOO_UBT_FAULT: '" + item + "' " + why +
      "; known are loss:P, dup:P, reorder:P (probabilities from 0 to 1), "
      "tail:P (a share from 0 to 1), delay:N with us or ms, and seed:N, "
      "separated by commas");
}

double number(const std::string& item, const std::string& text, size_t* end) {
  try {
    return std::stod(text, end);
  } catch (const std::exception&) {
    reject(item, "has no number");
  }
}

double probability(const std::string& item, const std::string& text) {
  size_t end = 0;
  const double value = number(item, text, &end);
  if (end != text.size() || !(value >= 0 && value <= 1)) {
    reject(item, "is no probability");
  }
  return value;
}

Duration delayOf(const std::string& item, const std::string& text) {
  size_t end = 0;
  const double value = number(item, text, &end);
  const std::string unit = text.substr(end);
  const double ns = unit == "us" ? 1e3 : (unit == "ms" ? 1e6 : 0);
  if (ns == 0 || !(value >= 0 && value <= 1e6)) {
    reject(item, "is no delay");
  }
  return Duration(static_cast<Duration::rep>(value * ns));
}

uint64_t seedOf(const std::string& item, const std::string& text) {
  size_t end = 0;
  const double value = number(item, text, &end);
  // A double holds integers up to this limit, 2^53, exactly.
  if (end != text.size() || !(value >= 0 && value <= 9007199254740992.0)) {
    reject(item, "is no seed");
  }
  return static_cast<uint64_t>(value);
}

}  // namespace

FaultOptions FaultOptions::parse(const std::string& text) {
  FaultOptions options;
  std::istringstream items(text);
  std::string item;
  while (std::getline(items, item, ',')) {
    const size_t colon = item.find(':');
    const std::string key = item.substr(0, colon);
    const std::string value =
        colon == std::string::npos ? "" : item.substr(colon + 1);
    if (key == "loss") {
      options.loss = probability(item, value);
    } else if (key == "dup") {
      options.duplicate = probability(item, value);
    } else if (key == "reorder") {
      options.reorder = probability(item, value);
    } else if (key == "tail") {
      options.tail = probability(item, value);
    } else if (key == "delay") {
      options.delay = delayOf(item, value);
    } else if (key == "seed") {
      options.seed = seedOf(item, value);
    } else {
      reject(item, "is unknown");
    }
  }
  return options;
}

std::mt19937_64& FaultInjector::randomOf(int rank) {
  const auto found = randoms_.find(rank);
  if (found != randoms_.end()) {
    return found->second;
  }
  std::seed_seq seed{static_cast<uint32_t>(options_.seed),
                     static_cast<uint32_t>(options_.seed >> 32),
                     static_cast<uint32_t>(rank)};
  return randoms_.emplace(rank, std::mt19937_64(seed)).first->second;
}

bool FaultInjector::send(TimePoint now,
                         int rank,
                         const SocketAddress& to,
                         std::vector<std::byte> datagram) {
  std::mt19937_64& random = randomOf(rank);
  const auto chance = [&random](double probability) {
    return probability > 0 &&
           std::uniform_real_distribution<>()(random) < probability;
  };
  if (chance(options_.loss)) {
    return false;
  }
  if (chance(options_.duplicate)) {
    held_.emplace(now + options_.delay, Held{to, datagram});
  }
  TimePoint when = now + options_.delay;
  if (chance(options_.reorder)) {
    when += Duration(random() % kReorderBy.count());
  }
  held_.emplace(when, Held{to, std::move(datagram)});
  return true;
}

bool FaultInjector::due(TimePoint now, Held* out) {
  if (nextDeadline() > now) {
    return false;
  }
  *out = std::move(held_.begin()->second);
  held_.erase(held_.begin());
  return true;
}

}  // namespace ubt
