// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "benchmark/options.h"
#include "benchmark/samples.h"

namespace gloo {
namespace benchmark {

// The output of a run, in the columns of Gloo's own benchmark, because other
// programs read them:
//
//   size (B)  elements  min (us)  p50 (us)  p99 (us)  max (us)
//   bandwidth (GB/s)  iterations
//
// Size and elements are those of one buffer; 1 GB is 2^30 bytes.
class Table {
 public:
  // Borrows the stream.
  Table(std::ostream& out, const Options& options);

  // `devices`: their descriptions.
  void printHeader(const std::vector<std::string>& devices);
  void printRow(size_t elements,
                size_t elementSize,
                const Distribution<std::chrono::nanoseconds>& latency);
  void printErrorHeader();
  void printFooter();

 private:
  void printTitle(const std::string& title);

  std::ostream& out_;
  const Options options_;
};

}  // namespace benchmark
}  // namespace gloo
