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
  Duration exchangeTook{0};     // from the end of the scatter stage; zero: none
  // Until all results were here, from the start of the clock; zero: none.
  Duration resultsTook{0};
  bool resultsCut = false;
  // Shares of the contributions: to all owners that report here, cut because of
  // the network; to this owner, cut because ranks were absent.
  double cutLate = 0;
  double cutAbsent = 0;
  double cutResults = 0;  // the share of all ranks' results
  // The share of the bytes to this rank that the network lost, of both stages.
  double lost = 0;
  // When half of the other ranks were through with a stage (q of StopRule), and
  // when its last data came. Data that was cut counts with the time at which it
  // came, or would have come.
  struct Stage {
    Duration half{0};  // from the start of the clock; zero: unknown
    Duration last{0};  // from the last entry of a rank before the stage's end
  };
  Stage scatter;
  Stage results;
  Duration lastEntry{0};  // of any rank, from the start of the clock
};

}  // namespace ubt
