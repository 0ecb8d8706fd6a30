// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "rendezvous/redis_connection.h"
#include "rendezvous/roster_log.h"

namespace gloo {
namespace rendezvous {

struct RosterOptions {
  // Names the job. Jobs that run at the same time need different prefixes;
  // later runs of a job may use the same one.
  std::string prefix;
  int rank = -1;
  int size = 0;
  // Passed unchanged to every rank; at most kPayloadBytesMax bytes.
  std::string payload;
  // The keys expire this long after the last rank has joined. REQUIRES: at
  // least twice the time that ranks may wait for each other.
  std::chrono::seconds ttl = std::chrono::hours(1);
};

// The ranks of one run of a job, agreed on through Redis. All ranks that get a
// roster get the same one, with the same run id. Nothing that an earlier run
// left in Redis can be part of it. roster_log.h has the rules.
//
// A plain value.
class Roster {
 public:
  static constexpr size_t kPayloadBytesMax = 1 << 20;

  // Joins the job and returns when all ranks have joined. Called by one thread
  // per rank. The connection may be used for other purposes before and after.
  //
  // Throws gloo::IoException if the deadline passes (it names the missing
  // ranks), rank 0 gave up, the ranks disagree on the size, another process
  // took this rank, or Redis fails. Throws gloo::InvalidOperationException if
  // options are invalid.
  static Roster join(RedisConnection& connection,
                     const RosterOptions& options,
                     Deadline deadline);

  // In rank order.
  const std::vector<RosterMember>& members() const { return members_; }

  // Hexadecimal, and different for every run.
  const std::string& runId() const { return runId_; }

 private:
  std::vector<RosterMember> members_;
  std::string runId_;
};

// All keys of a job begin with this. Callers append ":" and a name.
std::string redisKeyOfJob(const std::string& prefix);

}  // namespace rendezvous
}  // namespace gloo
