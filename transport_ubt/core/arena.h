// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ubt {

class Arena;

// A piece of the arena's memory, given back when the handle goes. Move-only.
class ArenaBuffer {
 public:
  ArenaBuffer() = default;
  ArenaBuffer(ArenaBuffer&& other) noexcept { *this = std::move(other); }
  ArenaBuffer& operator=(ArenaBuffer&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ArenaBuffer();

  explicit operator bool() const { return memory_ != nullptr; }
  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  size_t size() const { return bytes_; }
  void reset() { ArenaBuffer().swap(*this); }

 private:
  friend class Arena;
  ArenaBuffer(Arena* arena, std::unique_ptr<std::byte[]> memory, size_t bytes)
      : arena_(arena), memory_(std::move(memory)), bytes_(bytes) {}
  void swap(ArenaBuffer& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
  }

  Arena* arena_ = nullptr;
  std::unique_ptr<std::byte[]> memory_;
  size_t bytes_ = 0;
};

// All memory that peers can make this process hold, under one limit: early
// contributions, early broadcasts, retained shards. Keeps a few freed pieces
// warm. Must outlive its buffers. Not thread-safe.
class Arena {
 public:
  explicit Arena(size_t limitBytes) : limitBytes_(limitBytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory, or an empty handle if the limit leaves no room.
  ArenaBuffer acquire(size_t bytes) {
    for (size_t i = 0; i < spare_.size(); i++) {
      if (spare_[i].bytes == bytes) {
        auto memory = std::move(spare_[i].memory);
        spareBytes_ -= bytes;
        spare_[i] = std::move(spare_.back());
        spare_.pop_back();
        usedBytes_ += bytes;
        return ArenaBuffer(this, std::move(memory), bytes);
      }
    }
    if (usedBytes_ + bytes > limitBytes_) {
      return ArenaBuffer();
    }
    if (usedBytes_ + spareBytes_ + bytes > limitBytes_) {
      spare_.clear();
      spareBytes_ = 0;
    }
    usedBytes_ += bytes;
    return ArenaBuffer(
        this, std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes);
  }

  // Whether pieces of so many bytes in all would be given out now.
  bool hasRoom(size_t bytes) const {
    return usedBytes_ + bytes <= limitBytes_;
  }

  size_t usedBytes() const { return usedBytes_; }
  // Everything held, spare pieces too; never above limitBytes().
  size_t heldBytes() const { return usedBytes_ + spareBytes_; }
  size_t limitBytes() const { return limitBytes_; }

 private:
  friend class ArenaBuffer;
  struct Spare {
    std::unique_ptr<std::byte[]> memory;
    size_t bytes;
  };
  static constexpr size_t kSpares = 64;

  void release(std::unique_ptr<std::byte[]> memory, size_t bytes) {
    usedBytes_ -= bytes;
    if (spare_.size() < kSpares) {
      spareBytes_ += bytes;
      spare_.push_back(Spare{std::move(memory), bytes});
    }
  }

  const size_t limitBytes_;
  size_t usedBytes_ = 0;
  size_t spareBytes_ = 0;
  std::vector<Spare> spare_;
};

inline ArenaBuffer::~ArenaBuffer() {
  if (memory_) {
    arena_->release(std::move(memory_), bytes_);
  }
}

}  // namespace ubt
