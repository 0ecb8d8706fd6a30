// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/roster.h"

#include <gloo/common/error.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace gloo {
namespace rendezvous {

namespace {

// A job's stream keeps this many entries. A run needs two per rank. The others
// are leftovers of crashed runs, until a run succeeds or the stream expires.
size_t entriesMax(int size) {
  return 1024 + 64 * static_cast<size_t>(size);
}

std::string randomNonce() {
  std::string nonce(kNonceBytes, '\0');
  size_t filled = 0;
  while (filled < nonce.size()) {
    const auto n = getrandom(&nonce[filled], nonce.size() - filled, 0);
    if (n < 0 && errno != EINTR) {
      GLOO_THROW_IO_EXCEPTION("getrandom: ", std::strerror(errno));
    }
    filled += n > 0 ? static_cast<size_t>(n) : 0;
  }
  return nonce;
}

std::string toHex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string placeOfThisProcess() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '?';
  }
  return MakeString(host.data(), ", pid ", getpid());
}

void check(const RosterOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    GLOO_THROW_INVALID_OPERATION_EXCEPTION("Rank ",
                                           options.rank,
                                           " of ",
                                           options.size,
                                           ": ranks run from 0 to size - 1");
  }
  if (options.prefix.empty()) {
    GLOO_THROW_INVALID_OPERATION_EXCEPTION(
        "The prefix is empty; give the job a name");
  }
  if (options.payload.size() > Roster::kPayloadBytesMax) {
    GLOO_THROW_INVALID_OPERATION_EXCEPTION("A payload of ",
                                           options.payload.size(),
                                           " bytes; at most ",
                                           Roster::kPayloadBytesMax,
                                           " fit a roster");
  }
}

[[noreturn]] void fail(const RosterOptions& options,
                       const std::string& reason) {
  GLOO_THROW_IO_EXCEPTION("Rendezvous of job '",
                          options.prefix,
                          "' failed at rank ",
                          options.rank,
                          ": ",
                          reason);
}

}  // namespace

std::string redisKeyOfJob(const std::string& prefix) {
  // If a proxy shards Redis, the braces keep a job's keys together.
  return "gloo-ubt:{" + prefix + "}";
}

Roster Roster::join(RedisConnection& connection,
                    const RosterOptions& options,
                    Deadline deadline) {
  check(options);
  RosterLog log({options.rank,
                 options.size,
                 randomNonce(),
                 options.payload,
                 placeOfThisProcess()});
  RedisStream stream(connection,
                     {redisKeyOfJob(options.prefix) + ":roster",
                      options.ttl,
                      entriesMax(options.size)});
  stream.append(log.joinEntry(), deadline);

  while (!log.members() && !log.failure()) {
    const auto entries = stream.read(deadline);
    if (entries.empty()) {
      const auto reason = MakeString("out of time with ",
                                     connection.url().display(),
                                     " well: ",
                                     log.missing());
      if (options.rank == 0) {
        stream.append(log.failedEntry("rank 0 ran " + reason), deadline);
      }
      fail(options, reason);
    }
    for (const auto& entry : entries) {
      log.apply(entry);
    }
    while (const auto answer = log.nextEntry()) {
      stream.append(*answer, deadline);
    }
  }
  if (log.failure()) {
    fail(options, *log.failure());
  }
  if (options.rank == 0) {
    try {
      stream.erase(log.staleEntries(), deadline);
    } catch (const IoException&) {
      // Ignored: the ranks have agreed, and leftovers expire by themselves.
    }
  }
  Roster roster;
  roster.members_ = *log.members();
  roster.runId_ = toHex(roster.members_[0].nonce);
  return roster;
}

}  // namespace rendezvous
}  // namespace gloo
