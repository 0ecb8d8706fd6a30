// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ubt::chooser {

// A step usually delivers the oldest event in flight. If no event is in flight,
// the next deadline passes. A deviation does one of these instead.
enum class Choice : uint8_t {
  kOvertake,   // event `which` happens first
  kPostpone,   // the oldest event becomes the newest
  kDrop,       // the oldest datagram is lost
  kDuplicate,  // it is delivered; a copy becomes the newest event
  kHold,       // the oldest event waits until all bounds have passed
  kMiss,       // a caller enters when the others' calls have timed out
  kStall,      // all events wait until all bounds have passed
  kDeadline,   // the next deadline passes, whatever is in flight
  kClose,      // the connection to rank `which` closes
  kCrash,      // the rank dies
  kStop,       // its process stops until the others' calls have timed out
  kLeave,      // the rank, which has finished, destroys its context
  kStarve,     // as usual, but an allocation fails after `which` others
};

struct Deviation {
  uint32_t step = 0;
  Choice choice = Choice::kPostpone;
  uint8_t which = 0;
};

// The deviations of a run, in the order of their steps. The same options and
// schedule always give the same run.
using Schedule = std::vector<Deviation>;

// A text such as "12:drop 15:close2": step, choice and, if the choice needs it,
// `which`.
std::string toText(const Schedule& schedule);
// Returns false if the text is not from toText().
bool fromText(const std::string& text, Schedule* out);

}  // namespace ubt::chooser
