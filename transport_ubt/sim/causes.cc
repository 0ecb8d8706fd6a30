// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/sim/causes.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "transport_ubt/core/session/silence_watch.h"

namespace ubt::sim {
namespace {

// A fault that lasts no longer than this part of a call's timeout makes no call
// fail.
constexpr int kTimeoutShare = 4;
// At a higher loss, credit and requests come so late that a call may time out.
constexpr double kLossMost = 0.2;

uint64_t bit(int rank) {
  return rank < 0 ? 0 : uint64_t{1} << rank;
}

bool startsWith(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// All ranks that the text names, in order, such as "rank 7".
std::vector<int> ranksIn(const std::string& text) {
  constexpr const char* kName = "rank ";
  std::vector<int> ranks;
  for (size_t at = text.find(kName); at != std::string::npos;
       at = text.find(kName, at + 1)) {
    const char* const number = text.c_str() + at + std::string(kName).size();
    if (*number >= '0' && *number <= '9') {
      ranks.push_back(std::atoi(number));
    }
  }
  return ranks;
}

}  // namespace

Causes::Causes(const SimOptions& options)
    : options_(options), mayHalt_(options.mayHalt()) {
  const Faults& faults = options.faults;
  const Duration made = options.protocol.timeout / kTimeoutShare;
  const uint64_t all = (uint64_t{1} << options.ranks) - 1;
  crashed_ = bit(options.crashes);
  if (options.crashes >= 0) {
    crashed_ |= bit(faults.afterCrash.second);
  }
  closes_ = bit(faults.closure.rank);
  silent_ = crashed_ | closes_ | bit(faults.meshBreak.rank) |
            bit(faults.meshBreak.peer);
  blamed_ = silent_ | bit(options.neverEnters) | bit(options.disagrees) |
            bit(options.otherwise) | bit(faults.skip.rank) |
            bit(faults.wrongResult.rank) | bit(faults.falseCredit.stingy) |
            bit(faults.falseCredit.greedy);
  // After a long stop, learned bounds are long. Then a rank without repair may
  // wait for lost data until other ranks time out.
  const bool follows = options.protocol.boundScatter == Duration{0} &&
                       options.withoutRepair() != 0;
  const auto lasts = [&](Duration lasting, uint64_t ranks) {
    blamed_ |= lasting > made ? (follows ? all : ranks) : 0;
    silent_ |= lasting + made > SilenceWatch::lasted(true) ? ranks : 0;
  };
  for (const Cut& cut : faults.cuts) {
    lasts(cut.lasting, bit(cut.from) | bit(cut.to));
  }
  for (const Pause& pause : faults.pauses) {
    lasts(pause.lasting, bit(pause.rank));
  }
  lasts(faults.narrowPath.lasting,
        bit(faults.narrowPath.one) | bit(faults.narrowPath.other));
  lasts(options.partitionFor, all);
  lasts(options.backlogOfSlow(), bit(options.slow));
  drops_ = options.mayDropResults();
  losesAnswers_ = faults.kindLoss.share > kLossMost;
  silent_ = losesAnswers_ ? all : silent_;
  const bool dataLost = faults.kindLoss.kind == KindLoss::kData &&
                        faults.kindLoss.share > kLossMost;
  if (options.mayLackRoom() || options.loss > kLossMost || dataLost ||
      faults.kindLoss.share > 0.5) {
    blamed_ = silent_ = all;
  }
}

// Whether the mesh closes the connection between these two, or one of them
// leaves.
bool Causes::isBrokenTo(int rank, int peer) const {
  const MeshBreak& mesh = options_.faults.meshBreak;
  return (closes_ >> peer & 1) != 0 ||
         (mesh.rank == rank && mesh.peer == peer) ||
         (mesh.both && mesh.peer == rank && mesh.rank == peer);
}

bool Causes::explain(int rank, const std::string& text) {
  const std::vector<int> named = ranksIn(text);
  const int first = named.empty() ? -1 : named[0];
  const int second = named.size() < 2 ? -1 : named[1];
  const bool says = blames(rank) || blames(first);
  for (const int one : named) {
    hearsay_ |= says && text.find("given up") != std::string::npos ? bit(one)
                : blames(rank)                                     ? bit(one)
                                                                   : 0;
  }
  if (startsWith(text, "halted:") || holds(text, "has halted the job")) {
    return mayHalt_;
  }
  if (text == "rank " + std::to_string(first) + " died") {
    return (crashed_ >> first & 1) != 0;
  }
  if (startsWith(text, "the connection to rank ")) {
    return isBrokenTo(rank, first);
  }
  if (holds(text, "has not answered for 10 s")) {
    // A rank that the others gave up as silent hears nothing from them either.
    return (silent_ >> first & 1) != 0 || (silent_ >> rank & 1) != 0;
  }
  if (holds(text, "has destroyed its context")) {
    // A rank that ends its context because it was told to halt blames nobody.
    return (closes_ >> first & 1) != 0 || (mayHalt_ && options_.errorEnds);
  }
  if (holds(text, "had no room to keep results")) {
    return (drops_ >> first & 1) != 0;
  }
  if (holds(text, "have different results")) {
    const int wrong = options_.faults.wrongResult.rank;
    return wrong >= 0 && (first == wrong || second == wrong);
  }
  if (holds(text, " brings ")) {
    const int odd =
        options_.disagrees >= 0 ? options_.disagrees : options_.otherwise;
    return odd >= 0 &&
           holds(text, ("rank " + std::to_string(odd) + " brings").c_str());
  }
  if (holds(text, "has given up because of rank") ||
      holds(text, "has given up because of its own error")) {
    // The rank at fault may itself have seen only that others are silent. If
    // two ranks disagree, neither knows which one is the odd one. Ranks that
    // lost the announcements know only what these two ranks report.
    const bool disagree = options_.disagrees >= 0 || options_.otherwise >= 0;
    const int culprit = second >= 0 ? second : first;
    return blames(second) || blames(first) || chained() || disagree ||
           (drops_ >> culprit & 1) != 0 ||
           (culprit >= 0 && (hearsay_ >> culprit & 1) != 0);
  }
  if (startsWith(text, "op with tag ")) {
    // Every rank in this text must be at fault, not only some. But on a network
    // that loses datagrams, the answers to three questions in a row may get
    // lost, too.
    const auto blamed = [this](int one) { return blames(one); };
    const bool some = std::any_of(named.begin(), named.end(), blamed);
    const bool all = std::all_of(named.begin(), named.end(), blamed);
    const bool unheard =
        options_.losesDatagrams() && holds(text, "has not answered for");
    // An owner that waits for an absent rank does not deliver either.
    const bool owners = holds(text, "has not entered");
    return (some && (all || unheard || owners)) || blames(rank) || chained();
  }
  if (holds(text, "has not finished an allreduce") ||
      holds(text, "noticed too late that an allreduce")) {
    return blames(first) || blames(rank);
  }
  return false;
}

}  // namespace ubt::sim
