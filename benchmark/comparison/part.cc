// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/part.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace gloo {
namespace compare {

namespace {

using Parts = std::vector<Part>;

constexpr size_t kPlainElementsMax = 1 << 16;

// A run, stored by its first element. It ends where the next one begins.
struct Cut {
  std::vector<bool> in;
  Part::Result result = Part::Result::kSum;
};

void addPlain(size_t begin, size_t end, int ranks, Parts* parts) {
  for (size_t at = begin; at < end; at += kPlainElementsMax) {
    parts->emplace_back();
    parts->back().offset = at;
    parts->back().count = std::min(kPlainElementsMax, end - at);
    parts->back().sentTransformed.resize(ranks);
  }
}

// Without runs.
std::optional<Parts> partsOfShards(const Gaps& gaps,
                                   int ranks,
                                   size_t elements) {
  Parts parts;
  size_t at = 0;
  size_t matched = 0;
  for (const auto& shard : gaps.shards) {
    if (shard.count == 0 || shard.offset != at || shard.count > elements - at) {
      return std::nullopt;
    }
    at += shard.count;
    Part part;
    part.offset = shard.offset;
    part.count = shard.count;
    part.seed = shard.seed;
    part.transformed = shard.transformed;
    part.sentTransformed.resize(ranks);
    for (const auto& range : gaps.transformed) {
      if (range.offset != shard.offset) {
        continue;
      }
      if (range.count != shard.count || range.rank < 0 || range.rank >= ranks ||
          part.sentTransformed[range.rank]) {
        return std::nullopt;
      }
      part.sentTransformed[range.rank] = true;
      matched++;
    }
    if (part.isPlain()) {
      addPlain(shard.offset, at, ranks, &parts);
    } else {
      parts.push_back(std::move(part));
    }
  }
  if (matched != gaps.transformed.size() ||
      (!gaps.shards.empty() && at != elements)) {
    return std::nullopt;
  }
  if (gaps.shards.empty()) {
    addPlain(0, elements, ranks, &parts);
  }
  return parts;
}

// The runs of all elements.
class Cuts {
 public:
  Cuts(const Parts& parts, int ranks, size_t elements) : elements_(elements) {
    for (const auto& part : parts) {
      cuts_[part.offset].in.assign(ranks, true);
    }
    cuts_[elements];  // the end
  }

  // Returns false if the range does not fit or `mark` refuses one of its runs.
  template <typename Mark>
  bool apply(size_t offset, size_t count, Mark&& mark) {
    if (count == 0 || offset > elements_ || count > elements_ - offset) {
      return false;
    }
    cutAt(offset);
    cutAt(offset + count);
    for (auto run = cuts_.find(offset); run->first < offset + count; ++run) {
      if (!mark(&run->second)) {
        return false;
      }
    }
    return true;
  }

  bool applyResults(const std::vector<Range>& ranges, Part::Result result) {
    return std::all_of(ranges.begin(), ranges.end(), [&](const Range& range) {
      return apply(range.offset, range.count, [&](Cut* cut) {
        const bool first = cut->result == Part::Result::kSum;
        cut->result = result;
        return first;
      });
    });
  }

  void copyTo(Part* part) const {
    auto run = cuts_.find(part->offset);
    while (run->first < part->offset + part->count) {
      const auto next = std::next(run);
      part->runs.push_back({run->first - part->offset,
                            next->first - part->offset,
                            run->second.in});
      part->results.push_back(run->second.result);
      run = next;
    }
  }

 private:
  void cutAt(size_t at) {
    const auto run = std::prev(cuts_.upper_bound(at));
    if (run->first != at) {
      cuts_[at] = run->second;
    }
  }

  const size_t elements_;
  std::map<size_t, Cut> cuts_;
};

}  // namespace

bool Part::isPlain() const {
  return !transformed && std::none_of(sentTransformed.begin(),
                                      sentTransformed.end(),
                                      [](bool sent) { return sent; });
}

std::optional<Parts> partsOf(const Gaps& gaps, int ranks, size_t elements) {
  auto parts = partsOfShards(gaps, ranks, elements);
  if (!parts) {
    return std::nullopt;
  }
  Cuts cuts(*parts, ranks, elements);
  for (const auto& range : gaps.missing) {
    if (range.rank < 0 || range.rank >= ranks ||
        !cuts.apply(range.offset, range.count, [&range](Cut* cut) {
          const bool was = cut->in[range.rank];
          cut->in[range.rank] = false;
          return was;
        })) {
      return std::nullopt;
    }
  }
  if (!cuts.applyResults(gaps.zeros, Part::Result::kZero) ||
      !cuts.applyResults(gaps.unknown, Part::Result::kUnknown)) {
    return std::nullopt;
  }
  for (auto& part : *parts) {
    cuts.copyTo(&part);
  }
  return parts;
}

}  // namespace compare
}  // namespace gloo
