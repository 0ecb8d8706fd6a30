// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/core/op/op_blame.h"

#include <chrono>
#include <sstream>
#include <string>

#include "transport_ubt/core/base/stood_still.h"

namespace ubt {
namespace {

template <typename Unit>
auto whole(Duration duration) {
  return std::chrono::duration_cast<Unit>(duration).count();
}

// Ranks of one kind.
class Ranks {
 public:
  explicit Ranks(const OpHost& host) : host_(host) {}

  void add(int rank, const std::string& what) {
    text_ += " rank " + std::to_string(rank) + " " + what + ";";
    if (silentLongest_ < 0 ||
        host_.lastHeard(rank) < host_.lastHeard(silentLongest_)) {
      silentLongest_ = rank;
    }
  }

  const std::string& text() const { return text_; }
  int silentLongest() const { return silentLongest_; }  // -1: there is none

 private:
  const OpHost& host_;
  std::string text_;
  int silentLongest_ = -1;
};

// Ranks that have not finished the op and answer nothing. This rank may have
// all of their data: the ranks that it waits for may themselves wait for these.
OpFailure::Blame silentRanks(const OpState& op, TimePoint now) {
  const OpHost& host = *op.setup.host;
  Ranks silent(host);
  for (int rank = 0; rank < op.ranks.size(); rank++) {
    if (rank != op.ranks.rank() && !op.attendance.isDone(rank) &&
        host.isSilent(rank)) {
      silent.add(rank,
                 "has not answered for " +
                     std::to_string(whole<std::chrono::seconds>(
                         now - host.lastHeard(rank))) +
                     " s");
    }
  }
  return {silent.text(), silent.silentLongest()};
}

}  // namespace

OpFailure::Blame missingRanks(const OpState& op) {
  const OpHost& host = *op.setup.host;
  Ranks absent(host);
  Ranks slow(host);
  Ranks waiting(host);
  Ranks lacking(host);
  for (int rank = 0; rank < op.ranks.size(); rank++) {
    if (rank == op.ranks.rank()) {
      continue;
    }
    if (!op.attendance.hasEntered(rank)) {
      absent.add(rank, "has not entered" + host.silence(rank));
    } else if (!op.owned.sum().closed() && op.owesContributions(rank)) {
      slow.add(rank, "did not deliver");
    } else if (!op.received(rank).all()) {
      waiting.add(rank, "did not deliver");
    } else if (op.outbox.isNeeded(rank)) {
      lacking.add(rank,
                  "still lacks this rank's results, because "
                  "GLOO_UBT_ARENA_BYTES leaves no room for them");
    }
  }
  for (const Ranks* const ranks : {&absent, &slow, &waiting, &lacking}) {
    if (ranks->silentLongest() >= 0) {
      return {ranks == &absent ? absent.text() + slow.text() : ranks->text(),
              ranks->silentLongest()};
    }
  }
  return {};
}

std::string warningOfWait(const OpState& op) {
  const OpFailure::Blame missing = missingRanks(op);
  if (missing.text.empty()) {
    return "";
  }
  std::ostringstream text;
  text << "an allreduce has waited for "
       << whole<std::chrono::seconds>(op.longWait()) << " s:" << missing.text
       << " the call fails at its timeout of "
       << whole<std::chrono::seconds>(op.bounds.limit) << " s";
  return text.str();
}

OpFailure::Blame blameForTimeout(const OpState& op, TimePoint now) {
  std::ostringstream why;
  why << "op with tag " << op.setup.id.tag;
  if (const Duration late = now - op.callEnd(); stoodStill(late)) {
    why << ": rank " << op.ranks.rank() << " noticed its timeout "
        << whole<std::chrono::seconds>(late)
        << " s late: was its process or host stopped?";
    return {why.str(), op.ranks.rank()};
  }
  OpFailure::Blame blame = silentRanks(op, now);
  if (blame.text.empty()) {
    blame = missingRanks(op);
  }
  why << " timed out after "
      << whole<std::chrono::milliseconds>(op.bounds.limit) << " ms, "
      << (op.bounds.exact()  ? "while warming up (exact):"
          : !op.clock.runs() ? "before more than half of the ranks had entered:"
                             : "waiting for every result:")
      << blame.text << " check those ranks, or raise the context's timeout";
  return {why.str(), blame.rank};
}

OpFailure::Blame blameForShapes(const OpState& op,
                                int rank,
                                const OpShape& shape) {
  const OpState::Setup& first = op.setup;
  std::ostringstream why;
  why << "allreduce with tag " << first.id.tag << ": rank " << first.announcer
      << " brings " << first.shape.unlike(shape) << ", rank " << rank
      << " brings " << shape.unlike(first.shape)
      << "; all ranks must pass the same element count and type, with the same "
         "settings";
  return {why.str(), rank == op.ranks.rank() ? first.announcer : rank};
}

OpFailure::Blame blameForResults(const OpState& op,
                                 const ReplicaProof& replicas) {
  if (!replicas.differs()) {
    return {};
  }
  std::ostringstream why;
  why << "allreduce " << op.setup.id.count << " with tag " << op.setup.id.tag
      << ": rank " << replicas.first() << " and rank " << replicas.other()
      << " have different results, although both got all of them. Their data "
         "was changed on its way or in a host's memory. Set GLOO_UBT_AUTH=full "
         "to check data on its way, and test the memory of both hosts";
  return {why.str(),
          replicas.other() == op.ranks.rank() ? replicas.first()
                                              : replicas.other()};
}

}  // namespace ubt
