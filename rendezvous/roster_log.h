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
  std::string nonce;    // kNonceBytes random bytes, drawn anew by every start
  std::string payload;  // whatever the rank wants the others to have
};

constexpr size_t kNonceBytes = 16;

// The rules by which the ranks of a job agree on who they are, as a state
// machine over the entries of the job's stream. It does no I/O: Roster feeds
// it and writes what it asks for.
//
// All ranks see the same entries in the same order, and so come to the same
// conclusion. The stream may begin with the leftovers of earlier runs. Four
// kinds of entry:
//
//   join    rank R is here; its nonce and payload. Rank 0's join is also the
//           call that the others answer.
//   here    rank R has seen rank 0's call. Because the call holds a fresh
//           nonce, the answer cannot be a leftover.
//   roster  rank 0 has heard all ranks: their nonces and payloads.
//   failed  rank 0 gave up; why.
//
// Invariants:
// 1. For each rank only its last join counts: a rank that crashed and was
//    started again replaces its former self, which, if it still lives, fails.
// 2. A roster counts only if each of its nonces is the last of its rank at the
//    roster's place in the stream, and one of them is the reader's own.
// 3. A start of a rank is in at most one roster that counts.
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

  // What this rank appends once, before anything else.
  Fields joinEntry() const;

  // Takes the next entry of the stream. Entries that make no sense are
  // counted and otherwise ignored.
  void apply(const StreamEntry& entry);

  // What this rank has to append in answer to what it has read, or nothing.
  // Handing it out counts as appending it.
  std::optional<Fields> nextEntry();

  // Rank 0's last word when its time is up.
  Fields failedEntry(const std::string& reason) const;

  // The members in rank order, once agreed on.
  const std::optional<std::vector<RosterMember>>& members() const {
    return members_;
  }

  // Why this rank can never get a roster, once that is known: a sentence.
  const std::optional<std::string>& failure() const { return failure_; }

  // Who is missing, for a message: a sentence, and what to do.
  std::string missing() const;

  // The ids of entries that no reader of this run's roster needs. Valid once
  // members() is.
  std::vector<std::string> staleEntries() const;

  // Entries ignored because they made no sense.
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
  // Entries before the own join: ids, and nonces where they are joins.
  std::vector<std::pair<std::string, std::string>> earlier_;
  bool joined_ = false;                  // own join has been read
  std::string answered_;                 // the call last answered
  bool published_ = false;               // a roster is under way (rank 0)
  std::optional<std::string> mismatch_;  // to be announced by rank 0
  std::optional<std::vector<RosterMember>> members_;
  std::optional<std::string> failure_;
  size_t malformed_ = 0;
};

}  // namespace rendezvous
}  // namespace gloo
