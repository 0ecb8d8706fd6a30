// SPDX-License-Identifier: Apache-2.0
//
// For any contents of a job's stream, the rules do not crash or loop, and never
// return a roster without the reader's own nonce.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "rendezvous/roster_log.h"

namespace {

using gloo::rendezvous::kNonceBytes;
using gloo::rendezvous::RosterLog;
using gloo::rendezvous::StreamEntry;

// Takes bytes from the input. Returns zeros at its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  uint8_t byte() {
    if (size_ == 0) {
      return 0;
    }
    size_--;
    return *data_++;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// Only a few nonces exist, so that the fuzzer finds equal ones.
std::string nonce(uint8_t number) {
  return std::string(kNonceBytes - (number > 250 ? 1 : 0), char(number % 8));
}

StreamEntry entry(Input& input) {
  static const char* const kKinds[] = {"join", "here", "roster", "failed", ""};
  StreamEntry entry;
  entry.fields.emplace_back("kind", kKinds[input.byte() % 5]);
  for (int fields = input.byte() % 16; fields > 0; fields--) {
    const uint8_t value = input.byte();
    switch (input.byte() % 6) {
      case 0:
        entry.fields.emplace_back("rank", std::to_string(value % 6 - 1));
        break;
      case 1:
        entry.fields.emplace_back("size", std::to_string(value % 6));
        break;
      case 2:
        entry.fields.emplace_back("call", nonce(value));
        break;
      case 3:
        entry.fields.emplace_back("payload", std::string(value, 'p'));
        break;
      case 4:
        entry.fields.emplace_back("rank", std::string(value % 9, '7'));
        break;
      default:
        entry.fields.emplace_back("nonce", nonce(value));
        break;
    }
  }
  return entry;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const int ranks = 1 + input.byte() % 4;
  const int rank = input.byte() % ranks;
  RosterLog log({rank, ranks, nonce(1), "payload", "place"});
  log.apply({"0-1", log.joinEntry()});
  while (!input.empty()) {
    log.apply(entry(input));
    for (int answers = 0; log.nextEntry(); answers++) {
      if (answers > 2) {
        std::abort();
      }
    }
    log.missing();
  }
  if (log.members()) {
    if (log.members()->size() != static_cast<size_t>(ranks) ||
        log.members()->at(static_cast<size_t>(rank)).nonce != nonce(1)) {
      std::abort();
    }
    log.staleEntries();
  }
  return 0;
}
