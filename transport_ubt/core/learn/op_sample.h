// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"

namespace ubt {

// The measurements of an op that has returned, for the classes that learn
// across ops.
struct OpSample {
  // One stage. Stages overlap, because results come while slots are still open.
  // So the broadcast stage counts from the end of the scatter stage or from
  // local entry, whichever is later.
  struct Stage {
    // Zero if the stage was not complete.
    Duration took{0};
    // The time that a nearly complete stage would have taken. Zero if it was
    // complete, or far from it.
    Duration wouldTake{0};
    // A sample of tC: `took`, or the bound if the stage ended at it, or the
    // time that the stage would have taken if it ended early. Zero if there is
    // none.
    Duration sample{0};
    Duration bound{0};
    // The fraction of the stage's bytes that was missing at its end. Bytes of
    // ranks that sent nothing do not count.
    double loss = 0;
    // The fraction of the stage's bytes that came after its end, if these are
    // most of the missing bytes: a little more patience would have been enough.
    // Otherwise zero.
    double lateShare = 0;
    // Whether the stage ended at its bound, far from complete, while the
    // missing data was on its way.
    bool cutShort = false;
  };

  // Loops::kMeasured. By rank, from the start of the clock:
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
  std::vector<Sender> senders;
  Duration exchangeTook{0};  // from the end of the scatter stage; zero: none
  // Until all results were here, from the start of the clock; zero: none.
  Duration resultsTook{0};
  bool resultsCut = false;
  // Shares of the contributions: to all owners that report here, cut because of
  // the network; to this owner, cut because ranks were absent.
  double cutLate = 0;
  double cutAbsent = 0;
  double cutResults = 0;  // the share of all ranks' results
  double lost = 0;        // by the network, of the bytes to this rank
  // How much later than absentEnd() (StopRule) the last rank entered; zero: all
  // had entered by then.
  Duration absentFor{0};

  uint64_t bytes = 0;
  bool hierarchical = false;
  bool warmup = false;
  Stage scatter;
  Stage exchange;  // its loss, lateShare and sample are never set
  Stage broadcast;
};

}  // namespace ubt
