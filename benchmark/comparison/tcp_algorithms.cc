// SPDX-License-Identifier: Apache-2.0
#include "benchmark/comparison/tcp_algorithms.h"

#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/transport/tcp/device.h>

#include "algorithms/hierarchical_transpose_allreduce.h"
#include "algorithms/transpose_allreduce.h"

namespace gloo {
namespace compare {

namespace {

// Enough for connections, buffers and pages to reach their steady state.
constexpr int kWarmupRuns = 5;

// For classes with Gloo's interface: constructed once, run often.
template <template <typename> class Algorithm>
class ClassUnderTest : public AllreduceUnderTest {
 public:
  ClassUnderTest(const std::shared_ptr<Context>& context,
                 float* data,
                 size_t count)
      : algorithm_(std::make_unique<Algorithm<float>>(
            context, std::vector<float*>{data}, count)) {}

  void run() override { algorithm_->run(); }

 private:
  std::unique_ptr<Algorithm<float>> algorithm_;
};

template <template <typename> class Algorithm>
AlgorithmSpec spec(const std::string& name) {
  const auto create = [](const std::shared_ptr<Context>& context,
                         float* data,
                         size_t count) -> std::unique_ptr<AllreduceUnderTest> {
    return std::make_unique<ClassUnderTest<Algorithm>>(context, data, count);
  };
  return {name, "tcp", "", false, kWarmupRuns, true, &createTcpDevice, create};
}

// With any other number Gloo's sums are wrong, without an error.
std::string whyNotBcube(int ranks) {
  const bool isPowerOf2 = (ranks & (ranks - 1)) == 0;
  return isPowerOf2 ? "" : "needs a power of 2 ranks";
}

}  // namespace

std::shared_ptr<transport::Device> createTcpDevice(
    const std::string& interface) {
  transport::tcp::attr attr;
  attr.iface = interface;
  return transport::tcp::CreateDevice(attr);
}

std::vector<AlgorithmSpec> tcpAlgorithms(const ubt::Settings& settings) {
  auto bcube = spec<AllreduceBcube>("bcube");
  bcube.whyNot = &whyNotBcube;
  auto grouped = spec<HierarchicalTransposeAllreduce>("hierarchical_transpose");
  grouped.byDefault = false;
  grouped.whyNot = [groups = settings.groups](int ranks) {
    const auto why = whyNotGrouped(groups, ranks);
    return why.empty() ? "" : "cannot work with " + why;
  };
  return {
      spec<AllreduceRing>("ring"),
      spec<AllreduceRingChunked>("ring_chunked"),
      spec<AllreduceHalvingDoubling>("halving_doubling"),
      bcube,
      spec<TransposeAllreduce>("transpose"),
      grouped,
  };
}

}  // namespace compare
}  // namespace gloo
