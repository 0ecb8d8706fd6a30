// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/ubt_redis_store.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <utility>

namespace gloo {
namespace rendezvous {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr char kKey[] = "key";
constexpr char kValue[] = "value";

// A wait without a timeout asks Redis again after this time, so that it fails
// when Redis fails.
constexpr milliseconds kEndlessSlice{10000};

RosterOptions rosterOptions(const UbtRedisStore::Options& options) {
  RosterOptions roster;
  roster.prefix = options.prefix;
  roster.rank = options.rank;
  roster.size = options.size;
  roster.payload = options.payload;
  roster.ttl = options.ttl;
  return roster;
}

UbtRedisStore::Options checked(UbtRedisStore::Options options) {
  if (options.timeout <= milliseconds::zero()) {
    GLOO_THROW_INVALID_OPERATION_EXCEPTION(
        "A timeout of ",
        options.timeout.count(),
        " ms leaves no time to join; give a positive one");
  }
  // Keys must live through the longest wait for the last rank.
  options.ttl =
      std::max(options.ttl,
               std::chrono::ceil<std::chrono::seconds>(2 * options.timeout));
  return options;
}

}  // namespace

UbtRedisStore::UbtRedisStore(const Options& options)
    : UbtRedisStore(checked(options), Clock::now() + options.timeout) {}

UbtRedisStore::UbtRedisStore(const Options& options, Deadline deadline)
    : options_(options),
      connection_(RedisUrl::parseWithEnvironment(options.url), deadline),
      roster_(Roster::join(connection_, rosterOptions(options), deadline)),
      stream_(connection_,
              {redisKeyOfJob(options.prefix) + ":" + roster_.runId(),
               options.ttl,
               0}) {}

UbtRedisStore::~UbtRedisStore() = default;

Deadline UbtRedisStore::deadline() const {
  return Clock::now() + options_.timeout;
}

bool UbtRedisStore::readOn(Deadline deadline) {
  const auto entries = stream_.read(deadline);
  for (const auto& entry : entries) {
    const auto& value = entry.field(kValue);
    // emplace: the first value of a key remains.
    values_.emplace(
        entry.field(kKey),
        Value{entry.id, std::vector<char>(value.begin(), value.end())});
  }
  return !entries.empty();
}

void UbtRedisStore::set(const std::string& key, const std::vector<char>& data) {
  const auto end = deadline();
  const auto id = stream_.append(
      {{kKey, key}, {kValue, std::string(data.begin(), data.end())}}, end);
  // The stream says which rank was first.
  auto it = values_.find(key);
  while (it == values_.end() && readOn(end)) {
    it = values_.find(key);
  }
  if (it == values_.end()) {
    GLOO_THROW_IO_EXCEPTION("Redis at ",
                            connection_.url().display(),
                            " lost the keys of job '",
                            options_.prefix,
                            "'. Was it flushed while the job started?");
  }
  if (it->second.id != id) {
    GLOO_THROW_IO_EXCEPTION(
        "Key '",
        key,
        "' of job '",
        options_.prefix,
        "' was already set. A key is set once; put a gloo::rendezvous::"
        "PrefixStore in front of the store to use it for several contexts");
  }
}

std::vector<char> UbtRedisStore::get(const std::string& key) {
  wait({key}, options_.timeout);
  return values_.at(key).data;
}

void UbtRedisStore::wait(const std::vector<std::string>& keys) {
  wait(keys, options_.timeout);
}

void UbtRedisStore::wait(const std::vector<std::string>& keys,
                         const milliseconds& timeout) {
  const bool endless = timeout == kNoTimeout;
  const auto end = Clock::now() + timeout;
  for (const auto& key : keys) {
    while (values_.count(key) == 0) {
      const bool came = readOn(endless ? Clock::now() + kEndlessSlice : end);
      if (!came && !endless) {
        GLOO_THROW_IO_EXCEPTION(
            "Key '",
            key,
            "' of job '",
            options_.prefix,
            "' was not set within ",
            timeout.count(),
            " ms, with Redis at ",
            connection_.url().display(),
            " well. Did a rank fail after it joined? See its output, or raise "
            "the timeout");
      }
    }
  }
}

}  // namespace rendezvous
}  // namespace gloo
