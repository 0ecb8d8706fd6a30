// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/trace/stage_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "transport_ubt/core/base/require.h"

namespace ubt {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::microseconds;

Json timeOf(TimePoint time, TimePoint start) {
  return time == kNever ? Json() : Json((time - start) / microseconds(1));
}

Json timesOf(const std::vector<TimePoint>& times, TimePoint start) {
  Json list = Json::array();
  for (const TimePoint time : times) {
    list.push_back(timeOf(time, start));
  }
  return list;
}

StageRecord recordOf(const Json& line) {
  StageRecord record;
  record.context = line.at("context");
  record.op = line.at("op");
  record.bytes = line.at("bytes");
  record.rank = line.at("rank");
  record.slots = line.at("slots");
  for (const Json& time : line.at("entered_us")) {
    StageRecord::Sender sender;
    sender.entered = !time.is_null();
    if (sender.entered) {
      sender.enteredAt = microseconds(time.get<int64_t>());
    }
    record.senders.push_back(sender);
  }
  size_t rank = 0;
  for (const Json& time : line.at("through_us")) {
    if (!time.is_null()) {
      record.senders.at(rank).throughAt = microseconds(time.get<int64_t>());
    }
    rank++;
  }
  for (const Json& each : line.at("arrivals")) {
    OpTrace::Arrival arrival;
    arrival.rank = each.at(0);
    arrival.at = TimePoint(microseconds(each.at(1).get<int64_t>()));
    arrival.slots = each.at(2);
    record.senders.at(arrival.rank).arrivals.push_back(arrival);
  }
  if (static_cast<size_t>(record.rank) >= record.senders.size()) {
    throw std::out_of_range("there is no rank " + std::to_string(record.rank));
  }
  return record;
}

}  // namespace

Duration StageRecord::Sender::completeAt(uint32_t slots) const {
  return after(Duration::max(), slots) > 0 || arrivals.empty()
             ? kUnknown
             : arrivals.back().at.time_since_epoch();
}

uint32_t StageRecord::Sender::after(Duration at, uint32_t slots) const {
  for (const OpTrace::Arrival& arrival : arrivals) {
    if (arrival.at.time_since_epoch() <= at) {
      slots -= std::min(slots, arrival.slots);
    }
  }
  return slots;
}

std::string lineOf(uint64_t context,
                   const OpId& id,
                   uint64_t bytes,
                   int rank,
                   const OpTrace& trace,
                   microseconds began) {
  UBT_REQUIRE(trace.startedAt != kNever);
  Json line;
  line["context"] = context;
  line["op"] = std::to_string(static_cast<int>(id.space)) + "." +
               std::to_string(id.tag) + "." + std::to_string(id.count);
  line["bytes"] = bytes;
  line["rank"] = rank;
  line["slots"] = trace.slots;
  line["entered_us"] = timesOf(trace.entered, trace.startedAt);
  line["through_us"] = timesOf(trace.through, trace.startedAt);
  Json& arrivals = line["arrivals"] = Json::array();
  for (const OpTrace::Arrival& arrival : trace.arrivals) {
    arrivals.push_back({arrival.rank,
                        (arrival.at - trace.startedAt) / microseconds(1),
                        arrival.slots});
  }
  line["began_unix_us"] = began.count();
  line["called_us"] = timeOf(trace.calledAt, trace.startedAt);
  line["closed_us"] = timeOf(trace.closedAt, trace.startedAt);
  line["results_us"] = timesOf(trace.results, trace.startedAt);
  line["returned_us"] = timeOf(trace.returnedAt, trace.startedAt);
  return line.dump();
}

std::vector<StageRecord> readRecords(std::istream* in) {
  std::vector<StageRecord> records;
  std::string text;
  for (size_t number = 1; std::getline(*in, text); number++) {
    try {
      records.push_back(recordOf(Json::parse(text)));
    } catch (const std::exception& error) {
      throw std::invalid_argument("line " + std::to_string(number) +
                                  " is no record of a stage: " + error.what());
    }
  }
  return records;
}

}  // namespace ubt
