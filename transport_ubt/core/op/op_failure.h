// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ubt {

// Why a call has no result, and which rank's absence, silence or disagreement
// is the reason. The first reason stands.
class OpFailure {
 public:
  struct Blame {
    std::string text;
    int rank = -1;  // nobody
  };

  bool any() const { return !text_.empty(); }
  const std::string& text() const { return text_; }
  // -1: nobody.
  int culprit() const { return culprit_; }
  // Whether it failed because ranks bring different shapes.
  bool disagreed() const { return disagreed_; }

  void set(const Blame& blame);
  // Ranks bring different shapes: `blame` is one of the two that do, the other
  // brought what was announced first. Either may be the odd one. A second rank
  // that brings something else than the announcer shows that the announcer is.
  void disagree(const Blame& blame, int announcer);

 private:
  std::string text_;
  int culprit_ = -1;
  bool disagreed_ = false;
};

}  // namespace ubt
