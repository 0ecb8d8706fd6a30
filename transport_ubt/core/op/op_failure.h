// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ubt {

// The reason why a call has no result, and the rank to blame: it is absent,
// silent, or disagrees. The first reason stands.
class OpFailure {
 public:
  struct Blame {
    std::string text;
    int rank = -1;  // -1: no rank
  };

  bool any() const { return !text_.empty(); }
  const std::string& text() const { return text_; }
  // The rank to blame; -1: none.
  int culprit() const { return culprit_; }
  // Whether it failed because ranks bring different shapes.
  bool disagreed() const { return disagreed_; }

  void set(const Blame& blame);
  // Two ranks bring different shapes: blame.rank, and the rank that announced
  // the op first. Either may be wrong. When a second rank differs from the
  // announcer, the announcer is wrong.
  void disagree(const Blame& blame, int announcer);

 private:
  std::string text_;
  int culprit_ = -1;
  bool disagreed_ = false;
};

}  // namespace ubt
