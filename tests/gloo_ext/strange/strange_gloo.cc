// SPDX-License-Identifier: Apache-2.0
//
// Libraries in Gloo's place that differ from the known ones: one lacks a
// function (LACKS_BUFFERS), the other has buffers of another layout.

#include <gloo/allreduce.h>
#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <cstdio>

namespace gloo {

__attribute__((visibility("default"))) void allreduce(const AllreduceOptions&) {
  std::puts("the original serves");
}

std::chrono::milliseconds Context::getTimeout() const {
  return std::chrono::seconds(1);
}

#ifndef LACKS_BUFFERS
transport::UnboundBuffer::~UnboundBuffer() = default;

namespace {

class OtherBuffer : public transport::UnboundBuffer {
 public:
  OtherBuffer() : UnboundBuffer(nullptr, 0) {}
  bool waitRecv(int*, std::chrono::milliseconds) override { return false; }
  bool waitSend(int*, std::chrono::milliseconds) override { return false; }
  void abortWaitRecv() override {}
  void abortWaitSend() override {}
  void send(int, uint64_t, size_t, size_t) override {}
  void recv(int, uint64_t, size_t, size_t) override {}
  void recv(std::vector<int>, uint64_t, size_t, size_t) override {}
};

}  // namespace

std::unique_ptr<transport::UnboundBuffer> Context::createUnboundBuffer(void*,
                                                                       size_t) {
  return std::make_unique<OtherBuffer>();
}
#endif

}  // namespace gloo
