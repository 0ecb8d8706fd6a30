// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rendezvous/redis_stream.h"

namespace gloo {
namespace rendezvous {

// A rank of a job as the others know it.
struct RosterMember {
  std::string nonce;    // kNonceBytes random bytes, new for every start
  std::string payload;  // the rank's data for the others
};

constexpr size_t kNonceBytes = 16;

// The rules that the ranks of a job follow to agree on a roster, as a state
// machine over the entries of the job's stream. It does no I/O: Roster feeds it
// entries, and appends the entries it asks for.
//
// All ranks see the same entries in the same order, and so come to the same
// conclusion. The stream may begin with the leftovers of earlier runs. There
// are four kinds of entry:
//
//   join    rank R is here; its nonce and payload. Rank 0's join is also the
//           call that the others answer.
//   here    rank R has seen rank 0's call. Because the call holds a fresh
//           nonce, the answer cannot be a leftover.
//   roster  rank 0 has heard all ranks; their nonces and payloads.
//   failed  rank 0 gave up; the reason.
//
// Invariants:
//   1. For each rank only its last join counts. A rank that is started again
//      replaces its earlier process, which fails if it still lives.
//   2. A roster counts only if each of its nonces is the last one of its rank
//      before the roster in the stream, and one of them is the reader's own.
//   3. A start of a rank is in at most one roster that counts.
class RosterLog {
 public:
  struct Self {
    int rank;
    int size;
    std::string nonce;
    std::string payload;
    std::string place;  // "host, pid 123": for the messages of other ranks
  };

  using Fields = std::vector<std::pair<std::string, std::string>>;

  explicit RosterLog(Self self);

  // The entry that this rank appends once, before any other.
  Fields joinEntry() const;

  // Takes the next entry of the stream. Malformed entries are counted and
  // ignored.
  void apply(const StreamEntry& entry);

  // An entry that this rank has to append in answer to the entries it has read,
  // if there is one. Once returned, it counts as appended.
  std::optional<Fields> nextEntry();

  // The entry that rank 0 appends when its time is up.
  Fields failedEntry(const std::string& reason) const;

  // The members in rank order, once agreed on.
  const std::optional<std::vector<RosterMember>>& members() const {
    return members_;
  }

  // Why this rank can never get a roster, as a sentence; empty until that is
  // known.
  const std::optional<std::string>& failure() const { return failure_; }

  // The missing ranks and the remedy, as text for a message.
  std::string missing() const;

  // The ids of entries that no reader of this run's roster needs. REQUIRES:
  // members() is set.
  std::vector<std::string> staleEntries() const;

  // The number of malformed entries.
  size_t malformed() const { return malformed_; }

 private:
  struct Seen {
    RosterMember member;
    std::string place;
    bool here = false;       // has answered the last call of rank 0
    bool afterSelf = false;  // joined after this process did
  };

  void applyJoin(const StreamEntry& entry, int rank);
  void applyHere(const StreamEntry& entry, int rank);
  void applyRoster(const StreamEntry& entry);
  void applyFailed(const StreamEntry& entry);
  const std::string& call() const { return seen_[0].member.nonce; }
  bool allHere() const;

  const Self self_;
  std::vector<Seen> seen_;
  // Entries before this rank's join: their ids, and the nonces of joins.
  std::vector<std::pair<std::string, std::string>> earlier_;
  bool joined_ = false;                  // this rank's join has been read
  std::string answered_;                 // the call last answered
  bool published_ = false;               // a roster has been sent (rank 0)
  std::optional<std::string> mismatch_;  // to be announced by rank 0
  std::optional<std::vector<RosterMember>> members_;
  std::optional<std::string> failure_;
  size_t malformed_ = 0;
};

}  // namespace rendezvous
}  // namespace gloo
