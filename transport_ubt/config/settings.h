// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "transport_ubt/config/grouping.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/io/fault_injector.h"
#include "transport_ubt/io/idle_policy.h"

namespace gloo {
namespace transport {
namespace ubt {

// All settings of the bounded transport and their defaults, in one typed
// struct: the GLOO_UBT_* variables (docs/configuration.md).
struct Settings {
  // Protocol: GLOO_UBT_REPAIR, _FILL, _ORDER, _AUTH, _BOUND, _BOUND_MODE,
  // _HADAMARD, _EARLY, _WARMUP_OPS, _SKIP_LOSS, _ZERO_LOSS,
  // _HALT_LOSS, _LEAD_OPS, _LEAD_BYTES, _RESULTS_FIRST, _MULTICAST. The timeout
  // is the Gloo context's.
  ::ubt::Options protocol;

  // Smallest allreduce that takes the bounded path. GLOO_UBT_MIN_BYTES.
  size_t minBytes = 256 << 10;

  // Groups of the hierarchical transpose, exact and bounded. GLOO_UBT_GROUPS.
  Grouping groups;

  // Socket: GLOO_UBT_PORTS (lo-hi; 0: any), _MTU (bytes; 0: the interface's),
  // _GSO, _ARENA_BYTES (of the process, over all its devices), _WINDOW_BYTES
  // (of a socket), _WINDOW and _TRAINS (auto: they adapt).
  uint16_t portLow = 0;
  uint16_t portHigh = 0;
  int mtu = 0;
  bool segmentation = true;
  size_t arenaBytes = size_t{256} << 20;
  size_t windowBytes = 2 << 20;
  bool windowAdapts = true;
  bool trainsAdapt = true;
  // How an idle call waits. GLOO_UBT_YIELD, _NAP.
  ::ubt::IdlePolicy idle{std::chrono::microseconds(200),
                         std::chrono::microseconds(100)};

  // The maximum time that an ending context or process serves ranks that still
  // need its results; zero: not at all. GLOO_UBT_LINGER.
  ::ubt::Duration linger = std::chrono::minutes(30);

  // Shared by all ranks of a job; keeps others out. GLOO_UBT_SECRET, or the
  // first line of the file GLOO_UBT_SECRET_FILE.
  std::string secret;

  // GLOO_UBT_FAULT.
  ::ubt::FaultOptions faults;

  // The names of the variables that read() takes.
  static std::vector<std::string> variables();

  // Sets one variable's value. Throws like fromEnvironment(), also for an
  // unknown name.
  void read(const std::string& name, const std::string& value);

  // Throws gloo::InvalidOperationException with the remedy if two settings
  // contradict each other.
  void check() const;

  // Reads the variables. Throws gloo::InvalidOperationException that names a
  // variable, its value and the allowed values, or two variables that
  // contradict each other. Once per process, warns on stderr of each unknown
  // GLOO_UBT_* variable and names the nearest known one.
  static Settings fromEnvironment();
};

}  // namespace ubt
}  // namespace transport
}  // namespace gloo
