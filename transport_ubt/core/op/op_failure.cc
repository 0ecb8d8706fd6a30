// SPDX-License-Identifier: Apache-2.0
//
// Why an op's call fails, and which rank its error names.

#include "transport_ubt/core/op/op_failure.h"

#include <sstream>

#include "transport_ubt/core/base/stood_still.h"
#include "transport_ubt/core/op/op.h"

namespace ubt {

void OpFailure::set(const Blame& blame) {
  if (!any()) {
    text_ = blame.text;
  }
  culprit_ = blame.rank < 0 ? culprit_ : blame.rank;
}

void OpFailure::disagree(const Blame& blame, int announcer) {
  const bool another = disagreed_ && blame.rank != culprit_;
  disagreed_ = disagreed_ || !any();
  set({blame.text, another ? announcer : blame.rank});
}

void Op::giveUp(const std::string& why) {
  if (call_.waits()) {
    call_.fail({why, -1});
  }
}

void Op::disagree(TimePoint now, int rank, const OpShape& shape) {
  if (call_.returned()) {
    return;
  }
  if (!call_.failed() && call_.entered()) {
    // The call ends now. Before that, the others learn this rank's shape.
    for (int peer = 0; peer < ranks_.size(); peer++) {
      if (peer != ranks_.rank()) {
        setup_.host->control(
            now, peer, ControlRecord::announce(setup_.id, setup_.shape), true);
      }
    }
  }
  std::ostringstream why;
  why << "allreduce with tag " << setup_.id.tag << ": rank " << setup_.announcer
      << " brings " << setup_.shape.str() << ", rank " << rank << " brings "
      << shape.str()
      << "; all ranks must pass the same element count and type, and have the "
         "same GLOO_UBT_AUTH, GLOO_UBT_SKIP_LOSS, GLOO_UBT_GROUPS, GLOO_ALGO "
         "and loops (GLOO_UBT_EXPERIMENT)";
  call_.disagree({why.str(), rank == ranks_.rank() ? setup_.announcer : rank},
                 setup_.announcer);
}

OpFailure::Blame Op::whyDifferent() const {
  if (!replicas_.differs()) {
    return {};
  }
  std::ostringstream why;
  why << "allreduce " << setup_.id.count << " with tag " << setup_.id.tag
      << ": rank " << replicas_.first() << " and rank " << replicas_.other()
      << " have different results, although both got all of them. Their data "
         "was changed on its way or in a host's memory. Set GLOO_UBT_AUTH=full "
         "to check data on its way, and test the memory of both hosts";
  return {why.str(),
          replicas_.other() == ranks_.rank() ? replicas_.first()
                                             : replicas_.other()};
}

// Ranks that have not finished the op and answer nothing. This rank may have
// all of their data: the ranks that it waits for may themselves wait for these.
OpFailure::Blame Op::silentRanks(TimePoint now) const {
  std::ostringstream silent;
  int culprit = -1;
  TimePoint longest = TimePoint::max();
  for (int rank = 0; rank < ranks_.size(); rank++) {
    const TimePoint heard = setup_.host->lastHeard(rank);
    if (rank == ranks_.rank() || attendance_.isDone(rank) ||
        !setup_.host->isSilent(rank)) {
      continue;
    }
    silent
        << " rank " << rank << " has not answered for "
        << std::chrono::duration_cast<std::chrono::seconds>(now - heard).count()
        << " s;";
    if (heard < longest) {
      longest = heard;
      culprit = rank;
    }
  }
  return {silent.str(), culprit};
}

// The first of these that is not empty:
// - ranks that have not entered, together with those that owe contributions
// - ranks that owe results (they may wait for ranks of the first kind)
// - ranks that lack results which this rank has no room to keep
// To blame is the rank of that kind that has been silent longest, because the
// others may wait for it, too.
OpFailure::Blame Op::missingRanks() const {
  struct Ranks {
    std::string text;
    int silentLongest = -1;
  };
  Ranks absent;
  Ranks slow;
  Ranks waiting;
  Ranks lacking;
  const auto add = [this](Ranks* ranks, int rank, const std::string& what) {
    const OpHost& host = *setup_.host;
    ranks->text += " rank " + std::to_string(rank) + " " + what + ";";
    if (ranks->silentLongest < 0 ||
        host.lastHeard(rank) < host.lastHeard(ranks->silentLongest)) {
      ranks->silentLongest = rank;
    }
  };
  for (int rank = 0; rank < ranks_.size(); rank++) {
    if (rank == ranks_.rank()) {
      continue;
    }
    if (!attendance_.hasEntered(rank)) {
      add(&absent, rank, "never entered" + setup_.host->silence(rank));
    } else if (!owned_.sum().closed() && owesContributions(rank)) {
      add(&slow, rank, "did not deliver");
    } else if (!received(rank).all()) {
      add(&waiting, rank, "did not deliver");
    } else if (outbox_.isNeeded(rank)) {
      add(&lacking,
          rank,
          "still lacks this rank's results, because GLOO_UBT_ARENA_BYTES "
          "leaves no room for them");
    }
  }
  for (const Ranks* const ranks : {&absent, &slow, &waiting, &lacking}) {
    if (ranks->silentLongest >= 0) {
      return {ranks == &absent ? absent.text + slow.text : ranks->text,
              ranks->silentLongest};
    }
  }
  return {};
}

void Op::failAtTimeout(TimePoint now) {
  std::ostringstream why;
  if (const Duration late = now - callEnd(); stoodStill(late)) {
    why << "op with tag " << setup_.id.tag << ": rank " << ranks_.rank()
        << " noticed its timeout "
        << std::chrono::duration_cast<std::chrono::seconds>(late).count()
        << " s late: was its process or host stopped?";
    call_.fail({why.str(), ranks_.rank()});
    return;
  }
  OpFailure::Blame blame = silentRanks(now);
  if (blame.text.empty()) {
    blame = missingRanks();
  }
  why << "op with tag " << setup_.id.tag << " timed out after "
      << std::chrono::duration_cast<std::chrono::milliseconds>(bounds_.limit)
             .count()
      << " ms, "
      << (bounds_.warmup   ? "while warming up (exact):"
          : !clock_.runs() ? "before more than half of the ranks had entered:"
                           : "waiting for every result:")
      << blame.text << " check those ranks, or raise the context's timeout";
  call_.fail({why.str(), blame.rank});
}

}  // namespace ubt
