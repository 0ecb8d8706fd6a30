// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The measurements of an op that has returned, for the classes that learn
// across ops.
struct OpSample {
  uint64_t bytes = 0;
  bool hierarchical = false;
  bool warmup = false;

  // One sender, from the start of the clock:
  //
  //   took      cut
  //   above 0   false   its contributions were complete here
  //   above 0   true    they were cut; they would have been complete
  //   negative  true    they were cut, and their pace is unknown
  //   0                 no sample
  struct Sender {
    Duration took{0};
    bool cut = false;
  };
  std::vector<Sender> senders;  // by rank
  // From the end of the base time (StopRule) to the last entry. Not positive:
  // the last rank entered before it.
  Duration lastEntry{0};
  Duration exchangeTook{0};  // from the end of the scatter stage; zero: none
  // Until all results were here, from the start of the clock; zero: none.
  Duration resultsTook{0};
  bool resultsCut = false;
  // Shares of the contributions: to all owners that report here, cut because of
  // the network; to this owner, cut because ranks were absent.
  double cutLate = 0;
  double cutAbsent = 0;
  double cutResults = 0;  // the share of all ranks' results
  // The share of contributions to this rank that the network lost, plus the
  // share of results: 0 to 2.
  double lost = 0;
  // The end of a stage here, for the paper's loops.
  struct End {
    // From the stage's start (OpBounds); zero: it has not ended here, or was
    // none.
    Duration took{0};
    Duration bound{0};     // its longest time; zero: none
    uint64_t came = 0;     // slots
    uint64_t missing = 0;  // slots

    bool expired() const {
      return missing > 0 && bound > Duration{0} && took >= bound;
    }
  };
  End scatterEnd;
  End exchangeEnd;
  End resultsEnd;

  // Whether the bound of a stage ended it.
  bool expired() const {
    return scatterEnd.expired() || exchangeEnd.expired() ||
           resultsEnd.expired();
  }
  // The share of its data that this rank lacked when the stages ended, 0 to 1.
  double missing() const {
    const uint64_t lacks =
        scatterEnd.missing + exchangeEnd.missing + resultsEnd.missing;
    const uint64_t came = scatterEnd.came + exchangeEnd.came + resultsEnd.came;
    return lacks == 0 ? 0 : static_cast<double>(lacks) / (lacks + came);
  }
};

}  // namespace ubt
