// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "transport_ubt/config/grouping.h"
#include "transport_ubt/core/wire/options.h"
#include "transport_ubt/io/fault_injector.h"
#include "transport_ubt/io/idle_policy.h"

namespace ubt {

// All settings of the project, in one typed struct. The defaults stand here,
// everything else in setting_table.cc.
struct Settings {
  // The timeout is the Gloo context's.
  Options protocol;

  // Smallest allreduce that takes the bounded path.
  size_t minBytes = 256 << 10;

  // Whether the drop-in bounds only sums of DistributedDataParallel and FSDP.
  bool onlyDdp = false;

  // Groups of the hierarchical transpose, exact and bounded.
  Grouping groups;

  uint16_t portLow = 0;  // 0: any port
  uint16_t portHigh = 0;
  int mtu = 0;  // bytes; 0: the interface's
  bool segmentation = true;
  size_t arenaBytes = size_t{256} << 20;  // of the process
  size_t windowBytes = 16 << 20;          // of a socket
  // How an idle call waits.
  IdlePolicy idle{std::chrono::microseconds(200),
                  std::chrono::microseconds(50)};

  // The maximum time that an ending context or process serves ranks that still
  // need its results; zero: not at all.
  Duration linger = std::chrono::minutes(30);

  // Shared by all ranks of a job; keeps others out.
  std::string secret;

  FaultOptions faults;

  // How long the drop-in waits for the ranks at a context's first bounded call.
  // Zero: the context's timeout.
  std::chrono::milliseconds handshakeTimeout{0};
  std::string traceFolder;   // empty: nothing is recorded
  std::string reportFolder;  // of the drop-in; empty: no reports
  // The folder of the drop-in's textfiles; empty: reportFolder.
  std::string metricsFolder;

  std::string redisPassword;
  std::string redisPasswordFile;

  // Sets one value by its name in the table. Throws like fromEnvironment(),
  // also for an unknown name.
  void set(const std::string& name, const std::string& value);

  // Whether set() has set it.
  bool has(const std::string& name) const { return given_.count(name) > 0; }

  // Throws gloo::InvalidOperationException with the remedy if two settings
  // contradict each other.
  void check() const;

  // Reads the variables. Throws gloo::InvalidOperationException that names a
  // variable, its value and the allowed values, or two variables that
  // contradict each other. Once per process, warns on stderr of each unknown
  // GLOO_UBT_* variable and names the nearest known one.
  static Settings fromEnvironment();

 private:
  std::map<std::string, std::string> given_;  // what set() has read, by name
};

}  // namespace ubt
