// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ubt {

// The paper's loops (OptiReduce, NSDI'25, section 3.2): an op that lacks a
// greater share of its data has lost much. Then x doubles (WaitShare), and I
// halves (Incast).
constexpr double kPaperLossHigh = 0.001;

}  // namespace ubt
