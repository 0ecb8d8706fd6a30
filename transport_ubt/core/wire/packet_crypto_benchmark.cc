// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost per datagram of each mode of GLOO_UBT_AUTH, at one end: the
// tag of a header, the tag over a payload, and sealing. SipHash over the whole
// payload is there for comparison.
//
//   bazel run //transport_ubt/core/wire:packet_crypto_benchmark
#include <benchmark/benchmark.h>
#include <sodium.h>

#include <cstddef>
#include <vector>

#include "transport_ubt/core/wire/packet_crypto.h"
#include "transport_ubt/core/wire/packet_header.h"

namespace {

// Payload bytes of datagrams of 1,500 and 9,000 bytes.
constexpr int64_t kPayloads[] = {1440, 8900};

void report(benchmark::State* state) {
  state->SetBytesProcessed(state->iterations() * state->range(0));
}

void headerTag(benchmark::State& state) {
  const std::byte header[ubt::PacketHeader::kBytes] = {};
  ubt::PacketNumber number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ubt::packetTag({}, {}, header, number++, nullptr, 0));
  }
  report(&state);
}

void fullTag(benchmark::State& state) {
  const std::byte header[ubt::PacketHeader::kBytes] = {};
  const std::vector<std::byte> payload(state.range(0));
  const ubt::PayloadKey key = ubt::payloadKeyOf({});
  ubt::PacketNumber number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ubt::packetTag(
        {}, key, header, number++, payload.data(), payload.size()));
  }
  report(&state);
}

void sipHash(benchmark::State& state) {
  const std::vector<unsigned char> payload(state.range(0));
  const unsigned char key[crypto_shorthash_KEYBYTES] = {};
  unsigned char hash[crypto_shorthash_BYTES];
  for (auto _ : state) {
    crypto_shorthash(hash, payload.data(), payload.size(), key);
    benchmark::DoNotOptimize(hash);
  }
  report(&state);
}

void seal(benchmark::State& state) {
  std::byte header[ubt::PacketHeader::kBytes] = {};
  const std::vector<std::byte> payload(state.range(0));
  std::vector<std::byte> sealed(payload.size() + ubt::kSealBytes);
  ubt::PacketNumber number = 0;
  for (auto _ : state) {
    ubt::sealPacket(
        {}, header, number++, payload.data(), payload.size(), sealed.data());
    benchmark::DoNotOptimize(sealed.data());
  }
  report(&state);
}

void eachPayload(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t bytes : kPayloads) {
    benchmark->Arg(bytes);
  }
}

BENCHMARK(headerTag)->Apply(eachPayload);
BENCHMARK(fullTag)->Apply(eachPayload);
BENCHMARK(sipHash)->Apply(eachPayload);
BENCHMARK(seal)->Apply(eachPayload);

}  // namespace

int main(int argc, char** argv) {
  if (sodium_init() < 0) {  // without it, libsodium uses its generic code
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
