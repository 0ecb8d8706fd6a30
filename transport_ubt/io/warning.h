// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ubt {

// Lines that a library writes to stderr. The ranks of a job often share one
// terminal or file, so each line of up to 4 KiB is one write(2), and lines of
// two ranks do not mix. Any thread may call. Never throws. A line that cannot
// be written is dropped; if nobody reads a full pipe, after 100 ms.

// Writes "TEXT\n".
void writeLine(const std::string& text) noexcept;
// Writes "14:03:07 HOST rank 3 warning: TEXT\n": the local time, the host's
// name, and RANK, if that variable holds the process's rank.
void warn(const std::string& text) noexcept;
// The same, but only once per process for each text.
void warnOnce(const std::string& text) noexcept;
// The same, for warnings that are equal on all ranks of a job: only rank 0
// writes them. Without RANK, every process does.
void warnOncePerJob(const std::string& text) noexcept;

}  // namespace ubt
