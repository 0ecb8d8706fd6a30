// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/roster_log.h"

#include <gloo/common/string.h>

#include <utility>

namespace gloo {
namespace rendezvous {

namespace {

constexpr char kKind[] = "kind";
constexpr char kRank[] = "rank";
constexpr char kSize[] = "size";
constexpr char kNonce[] = "nonce";
constexpr char kPayload[] = "payload";
constexpr char kPlace[] = "place";
constexpr char kCall[] = "call";
constexpr char kReason[] = "reason";

// A number of at most 6 digits, or -1.
int parseSmall(const std::string& text) {
  if (text.empty() || text.size() > 6) {
    return -1;
  }
  int value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') {
      return -1;
    }
    value = value * 10 + (c - '0');
  }
  return value;
}

void appendRank(std::string* list, int rank) {
  *list += list->empty() ? "" : ", ";
  *list += std::to_string(rank);
}

}  // namespace

RosterLog::RosterLog(Self self)
    : self_(std::move(self)), seen_(static_cast<size_t>(self_.size)) {}

RosterLog::Fields RosterLog::joinEntry() const {
  return {
      {kKind, "join"},
      {kRank, std::to_string(self_.rank)},
      {kSize, std::to_string(self_.size)},
      {kNonce, self_.nonce},
      {kPayload, self_.payload},
      {kPlace, self_.place},
  };
}

RosterLog::Fields RosterLog::failedEntry(const std::string& reason) const {
  return {{kKind, "failed"}, {kCall, self_.nonce}, {kReason, reason}};
}

void RosterLog::apply(const StreamEntry& entry) {
  if (members_ || failure_) {
    return;
  }
  const auto& kind = entry.field(kKind);
  if (!joined_) {
    earlier_.emplace_back(entry.id, kind == "join" ? entry.field(kNonce) : "");
  }
  const int rank = parseSmall(entry.field(kRank));
  if (kind == "join") {
    applyJoin(entry, rank);
  } else if (kind == "here") {
    applyHere(entry, rank);
  } else if (kind == "roster") {
    applyRoster(entry);
  } else if (kind == "failed") {
    applyFailed(entry);
  } else {
    malformed_++;
  }
}

void RosterLog::applyJoin(const StreamEntry& entry, int rank) {
  const auto& nonce = entry.field(kNonce);
  if (rank < 0 || nonce.size() != kNonceBytes) {
    malformed_++;
    return;
  }
  if (rank >= self_.size) {
    return;  // another size; applyHere() reports it if it is our job
  }
  const bool own = nonce == self_.nonce;
  if (rank == self_.rank && joined_ && !own) {
    failure_ =
        MakeString("another process (",
                   entry.field(kPlace),
                   ") joined as rank ",
                   rank,
                   " after this one (",
                   self_.place,
                   "). Give each job its own prefix, and start each rank once");
    return;
  }
  joined_ = joined_ || own;
  auto& seen = seen_.at(static_cast<size_t>(rank));
  seen.member = {nonce, entry.field(kPayload)};
  seen.place = entry.field(kPlace);
  seen.here = false;
  seen.afterSelf = joined_;
  if (rank == 0) {
    for (auto& other : seen_) {
      other.here = false;
    }
    seen.here = true;
  }
}

void RosterLog::applyHere(const StreamEntry& entry, int rank) {
  if (rank < 1) {
    malformed_++;
    return;
  }
  if (entry.field(kCall) != call() || call().empty()) {
    return;
  }
  const int size = parseSmall(entry.field(kSize));
  if (size != self_.size) {
    // Only rank 0 reports this, because on other ranks their own size may be
    // the wrong one. It only looks at answers to its own call.
    if (self_.rank == 0 && joined_) {
      mismatch_ = MakeString(
          "rank ",
          rank,
          " (",
          entry.field(kPlace),
          ") was started with size ",
          size,
          ", rank 0 (",
          self_.place,
          ") with size ",
          self_.size,
          ". Start all ranks of a job with the same size, and give each job "
          "its own prefix");
    }
    return;
  }
  if (rank >= self_.size) {
    malformed_++;
    return;
  }
  auto& seen = seen_.at(static_cast<size_t>(rank));
  if (seen.member.nonce == entry.field(kNonce)) {
    seen.here = true;
  }
}

void RosterLog::applyRoster(const StreamEntry& entry) {
  if (!joined_) {
    return;
  }
  std::vector<RosterMember> members;
  for (const auto& field : entry.fields) {
    if (field.first == kNonce) {
      members.push_back({field.second, ""});
    } else if (field.first == kPayload && !members.empty()) {
      members.back().payload = field.second;
    }
  }
  const bool own =
      members.size() == seen_.size() && members[0].nonce == call() &&
      members[static_cast<size_t>(self_.rank)].nonce == self_.nonce;
  bool current = own;
  for (size_t i = 0; current && i < members.size(); i++) {
    current = members[i].nonce == seen_[i].member.nonce;
  }
  if (current) {
    members_ = std::move(members);
  } else if (own) {
    // A rank joined again after the last entry that rank 0 had read. Rank 0
    // publishes again once that rank has answered.
    published_ = false;
  }
}

void RosterLog::applyFailed(const StreamEntry& entry) {
  if (joined_ && self_.rank != 0 && entry.field(kCall) == call()) {
    failure_ = entry.field(kReason);
  }
}

bool RosterLog::allHere() const {
  for (const auto& seen : seen_) {
    if (!seen.here) {
      return false;
    }
  }
  return true;
}

std::optional<RosterLog::Fields> RosterLog::nextEntry() {
  if (!joined_ || members_ || failure_) {
    return std::nullopt;
  }
  if (self_.rank != 0) {
    if (call().empty() || call() == answered_) {
      return std::nullopt;
    }
    answered_ = call();
    return Fields{
        {kKind, "here"},
        {kRank, std::to_string(self_.rank)},
        {kSize, std::to_string(self_.size)},
        {kNonce, self_.nonce},
        {kCall, call()},
        {kPlace, self_.place},
    };
  }
  if (mismatch_) {
    failure_ = mismatch_;
    return failedEntry(*mismatch_);
  }
  if (published_ || !allHere()) {
    return std::nullopt;
  }
  published_ = true;
  Fields roster{{kKind, "roster"}};
  for (const auto& seen : seen_) {
    roster.emplace_back(kNonce, seen.member.nonce);
    roster.emplace_back(kPayload, seen.member.payload);
  }
  return roster;
}

std::string RosterLog::missing() const {
  std::string absent;
  std::string silent;
  size_t here = 0;
  for (int i = 0; i < self_.size; i++) {
    const auto& seen = seen_[static_cast<size_t>(i)];
    if (i == self_.rank || seen.here) {
      here++;
    } else if (seen.member.nonce.empty()) {
      appendRank(&absent, i);
    } else {
      appendRank(&silent, i);
    }
  }
  std::string text = MakeString(here, " of ", self_.size, " ranks are here");
  if (!absent.empty()) {
    text += "; never came: rank " + absent;
  }
  if (!silent.empty()) {
    text +=
        "; joined but silent since (crashed, or left from an earlier run): "
        "rank " +
        silent;
  }
  if (absent.empty() && silent.empty()) {
    text += ", but rank 0 has not published the roster (stopped or crashed?)";
  }
  if (self_.rank != 0 && seen_[0].here && !seen_[0].afterSelf) {
    text += "; rank 0 joined before this process, perhaps in an earlier run";
  }
  return text +
         ". Start the missing ranks with the same prefix, size and Redis, or "
         "raise the timeout";
}

std::vector<std::string> RosterLog::staleEntries() const {
  // Entries before this rank's join are answers to earlier calls, earlier
  // rosters, and joins. Slower ranks still have to read the joins of this run's
  // members.
  std::vector<std::string> stale;
  for (const auto& entry : earlier_) {
    bool needed = false;
    for (const auto& member : *members_) {
      needed = needed || entry.second == member.nonce;
    }
    if (!needed) {
      stale.push_back(entry.first);
    }
  }
  return stale;
}

}  // namespace rendezvous
}  // namespace gloo
