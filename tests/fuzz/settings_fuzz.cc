// SPDX-License-Identifier: Apache-2.0
//
// Any value of any variable is either accepted or refused.
#include <gloo/common/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "transport_ubt/config/setting_table.h"
#include "transport_ubt/config/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ubt::Settings;
  const auto& table = ubt::settingTable();
  if (size == 0) {
    return 0;
  }
  const std::string& name = table[data[0] % table.size()].name;
  if (name == "secret_file") {
    return 0;  // the fuzzer might read any file
  }
  Settings settings;
  try {
    settings.set(name, std::string(data + 1, data + size));
  } catch (const gloo::InvalidOperationException&) {
    return 0;
  }
  const auto& protocol = settings.protocol;
  const bool sane = settings.portLow <= settings.portHigh &&
                    settings.mtu >= 0 && settings.mtu <= 65536 &&
                    settings.arenaBytes > 0 && settings.windowBytes > 0 &&
                    protocol.leadOps > 0 &&
                    protocol.boundScatter.count() >= 0 &&
                    (protocol.boundScatter.count() == 0) ==
                        (protocol.boundBroadcast.count() == 0);
  if (!sane) {
    std::abort();
  }
  return 0;
}
