// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport_ubt/core/base/clock.h"
#include "transport_ubt/core/base/counters.h"
#include "transport_ubt/core/op/op_report.h"
#include "transport_ubt/sim/inputs.h"
#include "transport_ubt/sim/network.h"

namespace ubt::sim {

// Two hashes of everything that simulated jobs did. A change to the core that
// only moves code keeps both. Error texts are not included.
class RunDigest {
 public:
  // A call returned this report, and this result if it left one.
  void returned(const OpKey& key,
                int rank,
                const OpReport& report,
                const std::vector<std::byte>& result);
  // A call failed, at this time of its host's clock.
  void failed(const OpKey& key, int rank, TimePoint now);
  // A rank passed this datagram to its socket.
  void sent(int rank,
            int peer,
            TimePoint now,
            const Network::Datagram& datagram);
  // A rank's counters at the end of its job.
  void counted(int rank, const Counters& counters);

  // The hash of results, reports and failures.
  uint64_t results() const { return results_.value(); }
  // The hash of datagrams, in sending order, and of counters.
  uint64_t traffic() const { return traffic_.value(); }

 private:
  // Depends on the order of the values added.
  class Hash {
   public:
    void add(uint64_t word) { value_ = mix(value_ ^ word) + kStep; }
    void add(const std::vector<std::byte>& bytes);
    uint64_t value() const { return value_; }

   private:
    static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;

    uint64_t value_ = 0;
  };

  // Which call the following is about.
  void addCall(const OpKey& key, int rank);
  static void add(const StageBytes& bytes, Hash* hash);
  static void add(const std::vector<OpReport::Range>& ranges, Hash* hash);
  static void add(const std::vector<BitSet>& sets, Hash* hash);

  Hash results_;
  Hash traffic_;
};

}  // namespace ubt::sim
