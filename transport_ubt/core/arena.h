// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace ubt {

class Arena;

// A piece of the arena's memory, or room in it alone, given back when the
// handle goes. Move-only.
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

  explicit operator bool() const { return arena_ != nullptr; }
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
// contributions, early broadcasts, retained shards, and what it takes to keep
// account of ops that no caller has entered here yet (Op::bytesFor). Keeps a
// few freed pieces warm. Must outlive its buffers. Not thread-safe.
class Arena {
 public:
  explicit Arena(size_t limitBytes) : limitBytes_(limitBytes) {
    spare_.reserve(kSpares);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory, or an empty handle if the limit, or the machine,
  // leaves no room. Never throws.
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
    if (!makeRoom(bytes)) {
      return ArenaBuffer();
    }
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes]);
    if (memory == nullptr) {
      return ArenaBuffer();
    }
    usedBytes_ += bytes;
    return ArenaBuffer(this, std::move(memory), bytes);
  }

  // Room without memory, for what is allocated elsewhere; an empty handle if
  // there is none.
  ArenaBuffer reserve(size_t bytes) {
    if (!makeRoom(bytes)) {
      return ArenaBuffer();
    }
    usedBytes_ += bytes;
    return ArenaBuffer(this, nullptr, bytes);
  }

  // Whether pieces of so many bytes in all would be given out now.
  bool hasRoom(size_t bytes) const {
    return bytes <= limitBytes_ && usedBytes_ <= limitBytes_ - bytes;
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

  bool makeRoom(size_t bytes) {
    if (!hasRoom(bytes)) {
      return false;
    }
    if (usedBytes_ + spareBytes_ + bytes > limitBytes_) {
      spare_.clear();
      spareBytes_ = 0;
    }
    return true;
  }

  void release(std::unique_ptr<std::byte[]> memory, size_t bytes) {
    usedBytes_ -= bytes;
    if (memory != nullptr && spare_.size() < kSpares) {
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
  if (arena_ != nullptr) {
    arena_->release(std::move(memory_), bytes_);
  }
}

}  // namespace ubt
