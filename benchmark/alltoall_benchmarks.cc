// SPDX-License-Identifier: Apache-2.0
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>

#include "benchmark/registry.h"

namespace gloo {
namespace benchmark {

namespace {

// Both send 64-bit integers, as Gloo's benchmarks do. The table still counts an
// element as the size of a float, so that its figures compare with Gloo's.
template <typename T>
class AlltoallBase : public TypedBenchmark<T> {
 public:
  using TypedBenchmark<T>::TypedBenchmark;

 protected:
  // The element with number `index` that `from` sends to `to`.
  static uint64_t element(size_t from, size_t to, size_t index) {
    return (static_cast<uint64_t>(from) << 48) ^
           (static_cast<uint64_t>(to) << 32) ^ index;
  }

  void check(size_t index, uint64_t expected, Mismatches& mismatches) const {
    if (output_[index] != expected) {
      mismatches.add(index,
                     static_cast<double>(output_[index]),
                     static_cast<double>(expected));
    }
  }

  std::vector<uint64_t> input_;
  std::vector<uint64_t> output_;
};

template <typename T>
class Alltoall : public AlltoallBase<T> {
 public:
  Alltoall(std::shared_ptr<Context> context, const Options& options)
      : AlltoallBase<T>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    elements_ = elements;
    for (size_t to = 0; to < this->size(); to++) {
      for (size_t i = 0; i < elements; i++) {
        this->input_.push_back(this->element(this->rank(), to, i));
      }
    }
    this->output_.resize(this->input_.size());
    collective_.setInput(this->input_.data(), this->input_.size());
    collective_.setOutput(this->output_.data(), this->output_.size());
  }

  void run() override { alltoall(collective_); }

  void verify(Mismatches& mismatches) override {
    for (size_t i = 0; i < this->output_.size(); i++) {
      this->check(i,
                  this->element(i / elements_, this->rank(), i % elements_),
                  mismatches);
    }
  }

 private:
  AlltoallOptions collective_;
  size_t elements_ = 0;
};

// Rank f sends (f + size - t) times the elements to rank t.
template <typename T>
class Alltoallv : public AlltoallBase<T> {
 public:
  Alltoallv(std::shared_ptr<Context> context, const Options& options)
      : AlltoallBase<T>(context, options), collective_(context) {}

  void initialize(size_t elements) override {
    std::vector<int64_t> sends;
    int64_t total = 0;
    for (size_t peer = 0; peer < this->size(); peer++) {
      sends.push_back(count(this->rank(), peer, elements));
      receives_.push_back(count(peer, this->rank(), elements));
      total += receives_.back();
      for (int64_t i = 0; i < sends.back(); i++) {
        this->input_.push_back(
            this->element(this->rank(), peer, static_cast<size_t>(i)));
      }
    }
    this->output_.resize(static_cast<size_t>(total));
    collective_.setInput(this->input_.data(), sends);
    collective_.setOutput(this->output_.data(), receives_);
  }

  void run() override { alltoallv(collective_); }

  void verify(Mismatches& mismatches) override {
    size_t offset = 0;
    for (size_t from = 0; from < receives_.size(); from++) {
      for (int64_t i = 0; i < receives_[from]; i++, offset++) {
        this->check(offset,
                    this->element(from, this->rank(), static_cast<size_t>(i)),
                    mismatches);
      }
    }
  }

 private:
  int64_t count(size_t from, size_t to, size_t elements) const {
    return static_cast<int64_t>((from + this->size() - to) * elements);
  }

  AlltoallvOptions collective_;
  std::vector<int64_t> receives_;
};

}  // namespace

void addAlltoall(Registry& registry) {
  registry.push_back(
      {"alltoall", "a part of each rank to each", ofFloats<Alltoall>()});
  registry.push_back(
      {"alltoall_v", "the same, parts of many sizes", ofFloats<Alltoallv>()});
}

}  // namespace benchmark
}  // namespace gloo
