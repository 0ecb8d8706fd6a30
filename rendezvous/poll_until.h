// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace gloo {
namespace rendezvous {

// Waits until the descriptor has one of these events of poll(), or an error.
// Returns 0, ETIMEDOUT if the deadline passed first, or poll()'s errno.
int pollUntil(int fd,
              short events,
              std::chrono::steady_clock::time_point deadline);

}  // namespace rendezvous
}  // namespace gloo
