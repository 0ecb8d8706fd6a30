// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <string>

#include "rendezvous/roster_log.h"

// Anyone who can write to the job's stream can write anything. The input is a
// row of entries: fields are separated by tabs, entries by newlines.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using gloo::rendezvous::RosterLog;
  RosterLog log({0, 3, std::string(16, 'n'), "payload", "here"});
  std::string text(data, data + size);
  int id = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    gloo::rendezvous::StreamEntry entry;
    entry.id = std::to_string(id++) + "-0";
    size_t field = at;
    while (field < end) {
      const size_t key = std::min(text.find('\t', field), end);
      const size_t value = std::min(text.find('\t', key + 1), end);
      entry.fields.emplace_back(
          text.substr(field, key - field),
          key < end ? text.substr(key + 1, value - key - 1) : "");
      field = value + 1;
    }
    log.apply(entry);
    log.nextEntry();
    at = end + 1;
  }
  if (log.members() && log.members()->size() != 3) {
    std::abort();
  }
  log.missing();
  return 0;
}
