// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/redis_connection.h"

namespace gloo {
namespace rendezvous {

// One entry of a stream: fields in the order they were written; a name may
// occur more than once.
struct StreamEntry {
  std::string id;
  std::vector<std::pair<std::string, std::string>> fields;

  // The first field of that name, or an empty string.
  const std::string& field(const std::string& name) const;
};

// What XREAD of one stream, `key`, answers. Throws gloo::IoException if that is
// something else.
std::vector<StreamEntry> parseStreamEntries(const RedisReply& reply,
                                            const std::string& key);

// A Redis stream, read from its start to its end by each of its readers, in
// the one order that all of them see. Reading blocks in the server, and every
// waiting reader is woken by an entry; only the last moment before a deadline
// is polled.
//
// Borrows the connection, which must outlive it. One thread at a time. Errors
// as RedisConnection.
class RedisStream {
 public:
  struct Options {
    std::string key;
    // How long the stream outlives the last entry.
    std::chrono::seconds ttl = std::chrono::hours(1);
    // Older entries are dropped beyond about this many; 0: none.
    size_t entriesMax = 0;
  };

  RedisStream(RedisConnection& connection, Options options);

  // Adds an entry and renews the time to live, both or neither. Returns the
  // entry's id.
  std::string append(
      const std::vector<std::pair<std::string, std::string>>& fields,
      Deadline deadline);

  // Returns the entries after those already returned. Waits for one if there
  // is none; returns nothing when the server is well and none came in time
  // (slightly ahead of the deadline, so that the caller can still act).
  std::vector<StreamEntry> read(Deadline deadline);

  // Deletes entries, also those already gone.
  void erase(const std::vector<std::string>& ids, Deadline deadline);

  const std::string& key() const { return options_.key; }

 private:
  // Blocks in the server for that long, if it is positive.
  std::vector<StreamEntry> readOnce(std::chrono::milliseconds block,
                                    Deadline deadline);

  RedisConnection& connection_;
  const Options options_;
  std::string cursor_ = "0";
};

}  // namespace rendezvous
}  // namespace gloo
