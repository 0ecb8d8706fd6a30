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
  // Names the job. Jobs that run at the same time need different ones; runs
  // that follow each other may share one.
  std::string prefix;
  int rank = -1;
  int size = 0;
  // Handed to every rank as it is; at most kPayloadBytesMax.
  std::string payload;
  // How long the keys outlive the last one who joined. At least twice the
  // time ranks may wait for each other.
  std::chrono::seconds ttl = std::chrono::hours(1);
};

// The ranks of one run of a job, agreed on through Redis: all ranks that get a
// roster get the same one, with the same run id, and nothing that an earlier
// run left in Redis can be part of it. roster_log.h says by which rules.
//
// A plain value.
class Roster {
 public:
  static constexpr size_t kPayloadBytesMax = 1 << 20;

  // Joins the job and returns when all ranks have. Called by one thread per
  // rank; the connection may be used for anything else before and after.
  //
  // Throws gloo::IoException when the deadline passes (it names the missing
  // ranks), when rank 0 gave up, when the ranks disagree on the size, when
  // another process took this rank, or when Redis fails; and
  // gloo::InvalidOperationException for options that make no sense.
  static Roster join(RedisConnection& connection,
                     const RosterOptions& options,
                     Deadline deadline);

  // In rank order.
  const std::vector<RosterMember>& members() const { return members_; }

  // Hexadecimal; no two runs share one.
  const std::string& runId() const { return runId_; }

 private:
  std::vector<RosterMember> members_;
  std::string runId_;
};

// The beginning of all keys of a job. Callers append ":" and a name.
std::string redisKeyOfJob(const std::string& prefix);

}  // namespace rendezvous
}  // namespace gloo
