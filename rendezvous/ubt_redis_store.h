// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/rendezvous/store.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/redis_connection.h"
#include "rendezvous/redis_stream.h"
#include "rendezvous/roster.h"

namespace gloo {
namespace rendezvous {

// Gloo's key-value store over Redis, for any Gloo code that takes a Store:
//
//   gloo::rendezvous::UbtRedisStore::Options options;
//   options.url = "redis://:secret@10.0.0.1";
//   options.prefix = "job-17";
//   options.rank = rank;
//   options.size = size;
//   gloo::rendezvous::UbtRedisStore store(options);
//   context->connectFullMesh(store, device);
//
// Unlike Gloo's RedisStore it can be run again with the same prefix, supports
// passwords, databases and unix sockets, and waits without polling. It leaves
// nothing in Redis for longer than `ttl`. It never waits longer than its
// timeouts, even while Redis is stopped.
//
// The keys of all ranks of a run are entries of one stream. Each store reads it
// from start to end and keeps it in memory: it is for the few keys of a
// rendezvous. One thread at a time.
class UbtRedisStore : public Store {
 public:
  struct Options {
    std::string url;     // see RedisUrl; password also from the environment
    std::string prefix;  // names the job
    int rank = -1;
    int size = 0;
    // For joining, for set() and get(), and for wait() without a timeout.
    std::chrono::milliseconds timeout = kDefaultTimeout;
    // Keys expire this long after the last one was set; at least 2 * timeout.
    std::chrono::seconds ttl = std::chrono::hours(1);
    // Passed unchanged to the other ranks; see roster().
    std::string payload;
  };

  // Joins the job; returns when all ranks have joined. Throws like RedisUrl,
  // RedisConnection and Roster::join.
  explicit UbtRedisStore(const Options& options);
  ~UbtRedisStore() override;

  // Throws gloo::IoException if any rank has set `key` before; the first value
  // remains.
  void set(const std::string& key, const std::vector<char>& data) override;

  // Waits for the key. Throws gloo::IoException if it does not come in time or
  // Redis fails.
  std::vector<char> get(const std::string& key) override;

  // Waits for all keys. Throws like get(). A timeout of gloo::kNoTimeout waits
  // for as long as Redis answers.
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

  // The ranks of this run.
  const Roster& roster() const { return roster_; }

 private:
  UbtRedisStore(const Options& options, Deadline deadline);
  Deadline deadline() const;
  // Reads new entries. False if none came in time.
  bool readOn(Deadline deadline);

  struct Value {
    std::string id;  // of the stream entry that set it
    std::vector<char> data;
  };

  const Options options_;
  RedisConnection connection_;
  const Roster roster_;
  RedisStream stream_;
  std::map<std::string, Value> values_;
};

}  // namespace rendezvous
}  // namespace gloo
