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

// One entry of a stream. Its fields are in the order of writing; a name may
// occur more than once.
struct StreamEntry {
  std::string id;
  std::vector<std::pair<std::string, std::string>> fields;

  // The first field of that name, or an empty string.
  const std::string& field(const std::string& name) const;
};

// Parses the answer to XREAD of one stream, `key`. Throws gloo::IoException if
// it is anything else.
std::vector<StreamEntry> parseStreamEntries(const RedisReply& reply,
                                            const std::string& key);

// A Redis stream. Each reader reads it from its start to its end, and all see
// the same order. Reading blocks in the server, and an entry wakes every
// waiting reader. A reader polls only shortly before a deadline.
//
// `connection` must outlive this. One thread at a time. Throws like
// RedisConnection.
class RedisStream {
 public:
  struct Options {
    std::string key;
    // The stream expires this long after its last entry.
    std::chrono::seconds ttl = std::chrono::hours(1);
    // About how many entries are kept; older ones are dropped. 0: all are kept.
    size_t entriesMax = 0;
  };

  RedisStream(RedisConnection& connection, Options options);

  // Adds an entry and renews the time to live, both or neither. Returns the
  // entry's id.
  std::string append(
      const std::vector<std::pair<std::string, std::string>>& fields,
      Deadline deadline);

  // Returns the entries after those already returned. Waits if there are none.
  // If the server answers but no entry comes in time, returns nothing, slightly
  // before the deadline, so that the caller can still act.
  std::vector<StreamEntry> read(Deadline deadline);

  // Deletes entries. Those already deleted are ignored.
  void erase(const std::vector<std::string>& ids, Deadline deadline);

  const std::string& key() const { return options_.key; }

 private:
  // Blocks in the server for `block`, if that is positive.
  std::vector<StreamEntry> readOnce(std::chrono::milliseconds block,
                                    Deadline deadline);

  RedisConnection& connection_;
  const Options options_;
  std::string cursor_ = "0";
};

}  // namespace rendezvous
}  // namespace gloo
