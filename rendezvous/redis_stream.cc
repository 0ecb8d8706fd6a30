// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/redis_stream.h"

#include <gloo/common/error.h>

#include <algorithm>
#include <thread>

namespace gloo {
namespace rendezvous {

namespace {

using std::chrono::milliseconds;

// Maximum entries per read, which bounds one reply.
constexpr int kEntriesPerRead = 256;

// Redis ends a blocked read up to a tick late (100 ms at its default hz of 10).
// So it is asked to end this much earlier. Then a deadline that passes means a
// stuck server, not a lack of entries.
constexpr milliseconds kServerTick{150};

// The rest of the time is too short to block, and is polled.
constexpr milliseconds kPollInterval{10};

// Time reserved for the caller's next steps, if no entry came.
constexpr milliseconds kReserveMax{50};

milliseconds timeLeft(Deadline deadline) {
  return std::chrono::duration_cast<milliseconds>(
      deadline - std::chrono::steady_clock::now());
}

[[noreturn]] void throwMalformed(const std::string& key) {
  GLOO_THROW_IO_EXCEPTION("Redis answered with a malformed stream for key '",
                          key,
                          "'. Is it a Redis server, version 5 or later?");
}

StreamEntry parseEntry(const RedisReply& reply, const std::string& key) {
  if (reply.elements.size() != 2 || !reply.elements[0].isString() ||
      reply.elements[1].elements.size() % 2 != 0) {
    throwMalformed(key);
  }
  StreamEntry entry;
  entry.id = reply.elements[0].text;
  const auto& flat = reply.elements[1].elements;
  for (size_t i = 0; i < flat.size(); i += 2) {
    entry.fields.emplace_back(flat[i].text, flat[i + 1].text);
  }
  return entry;
}

}  // namespace

const std::string& StreamEntry::field(const std::string& name) const {
  static const std::string kNone;
  for (const auto& field : fields) {
    if (field.first == name) {
      return field.second;
    }
  }
  return kNone;
}

std::vector<StreamEntry> parseStreamEntries(const RedisReply& reply,
                                            const std::string& key) {
  std::vector<StreamEntry> entries;
  if (reply.isNil()) {
    return entries;
  }
  // The answer for one stream: [[key, [entry, ...]]].
  if (reply.elements.size() != 1 || reply.elements[0].elements.size() != 2) {
    throwMalformed(key);
  }
  for (const auto& entry : reply.elements[0].elements[1].elements) {
    entries.push_back(parseEntry(entry, key));
  }
  return entries;
}

RedisStream::RedisStream(RedisConnection& connection, Options options)
    : connection_(connection), options_(std::move(options)) {}

std::string RedisStream::append(
    const std::vector<std::pair<std::string, std::string>>& fields,
    Deadline deadline) {
  RedisCommand add{"XADD", options_.key};
  if (options_.entriesMax > 0) {
    add.insert(add.end(), {"MAXLEN", "~", std::to_string(options_.entriesMax)});
  }
  add.push_back("*");
  for (const auto& field : fields) {
    add.push_back(field.first);
    add.push_back(field.second);
  }
  const auto seconds = std::max<int64_t>(options_.ttl.count(), 1);
  auto replies = connection_.transaction(
      {add, {"EXPIRE", options_.key, std::to_string(seconds)}}, deadline);
  return replies.front().text;
}

std::vector<StreamEntry> RedisStream::read(Deadline deadline) {
  const auto reserve = std::min(timeLeft(deadline) / 4, kReserveMax);
  for (;;) {
    const auto left = timeLeft(deadline);
    const auto block = left - kServerTick;
    auto entries = readOnce(block, deadline);
    if (!entries.empty() || left <= reserve) {
      return entries;
    }
    if (block <= milliseconds::zero()) {
      std::this_thread::sleep_for(std::min(kPollInterval, left - reserve));
    }
  }
}

std::vector<StreamEntry> RedisStream::readOnce(milliseconds block,
                                               Deadline deadline) {
  RedisCommand command{"XREAD", "COUNT", std::to_string(kEntriesPerRead)};
  if (block > milliseconds::zero()) {
    command.insert(command.end(), {"BLOCK", std::to_string(block.count())});
  }
  command.insert(command.end(), {"STREAMS", options_.key, cursor_});
  const auto reply = connection_.command(command, deadline);
  auto entries = parseStreamEntries(reply, options_.key);
  if (!entries.empty()) {
    cursor_ = entries.back().id;
  }
  return entries;
}

void RedisStream::erase(const std::vector<std::string>& ids,
                        Deadline deadline) {
  if (ids.empty()) {
    return;
  }
  RedisCommand command{"XDEL", options_.key};
  command.insert(command.end(), ids.begin(), ids.end());
  connection_.command(command, deadline);
}

}  // namespace rendezvous
}  // namespace gloo
