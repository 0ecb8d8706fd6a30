// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tests/chooser/op_check.h"
#include "tests/chooser/schedule.h"
#include "transport_ubt/core/session/endpoint.h"

namespace ubt::chooser {

struct JobOptions {
  int ranks = 3;
  int slots = 1;  // per shard
  int ops = 2;
  RepairPolicy repair = RepairPolicy::kBroadcast;
  bool exact = false;  // all ops are warm-up
  size_t arenaBytes = 1 << 20;
  uint64_t windowBytes = 64 << 10;  // a rank's receive window
  // The maximum number of each kind of fault in one run.
  int drops = 2;
  int duplicates = 1;
  int holds = 2;    // including stalls
  int faults = 1;   // closed connections, crashes and missed calls
  int starves = 0;  // failing allocations, which count as faults, too
};

// A whole job of the real protocol core: each rank calls `ops` allreduces, one
// after another, with a lead of one op. There is no clock and no network: the
// schedule chooses the next event. Runs once.
class SmallJob {
 public:
  explicit SmallJob(const JobOptions& options);

  // Runs until all calls have ended, and nothing is in flight or kept any more.
  // Returns the broken promise (docs/semantics.md), or an empty string. If
  // `offered` is not null, it gets all possible next deviations, at each step
  // after the schedule's last.
  std::string run(const Schedule& schedule, std::vector<Deviation>* offered);

  uint32_t steps() const { return step_; }
  // Prints each event of the run on one line. Call before run().
  void trace() { tracing_ = true; }

 private:
  static constexpr size_t kDatagramBytesMax = 128;

  // An event that is due at a rank.
  struct Event {
    enum class Kind : uint8_t { kDatagram, kEntry, kNews };
    Kind kind = Kind::kDatagram;
    int rank = 0;
    int from = 0;  // the sender, or the rank that the news is about
    size_t bytes = 0;
    std::array<std::byte, kDatagramBytesMax> datagram;
  };
  struct Held {
    TimePoint until{};
    Event event;
  };
  struct Rank {
    std::unique_ptr<Endpoint> endpoint;
    Session* session = nullptr;  // null if it crashed or left
    int op = 0;
    bool inside = false;
    bool over = false;  // makes no further call
    TimePoint stoppedUntil{};
    OpId id;
    TimePoint enteredAt{};
    std::vector<float> bucket;
  };

  static Options protocolOf(const JobOptions& options);
  void open(int rank);
  bool isOver() const;
  bool canLeave(int rank) const;
  TimePoint nextDeadline(int* rank) const;

  void offer(std::vector<Deviation>* offered) const;
  void offerForRank(int rank, std::vector<Deviation>* offered) const;
  bool offers(const Deviation& deviation) const;
  void usual();
  void deviate(const Deviation& deviation);
  bool isStopped(int rank) const { return now_ < ranks_[rank].stoppedUntil; }
  void starve(int rank, uint64_t after);
  void hold(TimePoint until);
  void happen(const Event& event);
  void happenAt(size_t index);
  void passTime();
  void passDeadline();
  void releaseHeld();
  void close(int rank, int peer);
  void crash(int rank);
  void leave(int rank);
  void vanish(int rank);

  void enter(int rank);
  // Runs a verb of a rank's core. Only its allocations may fail.
  template <typename Verb>
  auto verb(int rank, const Verb& verb) -> decltype(verb());
  void pump(int rank);
  void sendAll(int rank);
  bool poll(int rank);
  void giveUp(int rank, const std::string& why);
  bool isCulprit(int rank) const;
  bool blamesRightly(const std::string& why) const;
  void checkOp(int op);
  void checkLead(int rank);
  void checkEnd();
  void violation(const std::string& what);
  void note(const std::string& what) const;

  const JobOptions options_;
  const OpCheck check_;
  std::vector<Rank> ranks_;
  std::deque<Event> events_;  // in flight, oldest first
  std::vector<Held> held_;
  std::vector<std::vector<Outcome>> outcomes_;  // by op, by rank
  TimePoint now_{std::chrono::seconds(1)};
  uint32_t step_ = 0;
  int drops_ = 0;
  int duplicates_ = 0;
  int holds_ = 0;
  int faults_ = 0;  // including stops
  int stops_ = 0;
  int starves_ = 0;
  int starving_ = -1;  // the rank whose allocations may fail
  // All contributions came in time.
  bool calm_;
  std::vector<int> culprits_;
  std::vector<std::string> errors_;
  std::string violation_;
  bool tracing_ = false;
};

}  // namespace ubt::chooser
