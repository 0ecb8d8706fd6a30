// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace ubt {

class Arena;

// The total number of bytes that several arenas hold together. Thread-safe.
class ArenaBudget {
 public:
  // Adds `bytes` to the total. If the total would exceed `limitBytes`, changes
  // nothing and returns false.
  bool take(size_t bytes, size_t limitBytes) {
    size_t held = heldBytes_.load();
    do {
      if (bytes > limitBytes || held > limitBytes - bytes) {
        return false;
      }
    } while (!heldBytes_.compare_exchange_weak(held, held + bytes));
    return true;
  }
  void give(size_t bytes) { heldBytes_ -= bytes; }
  size_t heldBytes() const { return heldBytes_; }

 private:
  std::atomic<size_t> heldBytes_{0};
};

// Owns memory of an arena, or only a reservation of some of its bytes. The
// destructor returns these to the arena. Move-only.
class ArenaBuffer {
 public:
  ArenaBuffer() = default;
  ArenaBuffer(ArenaBuffer&& other) noexcept { *this = std::move(other); }
  ArenaBuffer& operator=(ArenaBuffer&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(account_, other.account_);
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
  ArenaBuffer(Arena* arena,
              std::unique_ptr<std::byte[]> memory,
              size_t bytes,
              size_t* account = nullptr)
      : arena_(arena),
        memory_(std::move(memory)),
        bytes_(bytes),
        account_(account) {
    if (account_ != nullptr) {
      *account_ += bytes_;
    }
  }
  void swap(ArenaBuffer& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(account_, other.account_);
  }

  Arena* arena_ = nullptr;
  std::unique_ptr<std::byte[]> memory_;
  size_t bytes_ = 0;
  // If not null, counts the bytes that its owner holds, these included.
  size_t* account_ = nullptr;
};

// Bounds the memory that peers can make one endpoint hold: early contributions,
// early broadcasts, retained shards, and the state of ops that no caller has
// entered here yet (Op::bytesFor). Arenas with the same budget count against
// one total. Keeps freed pieces for reuse: up to kSpares, and up to a share of
// the limit, because the others cannot use them. Must outlive its buffers. Not
// thread-safe.
class Arena {
 public:
  // `budget` must outlive the arena. If it is null, the arena has a budget of
  // its own.
  explicit Arena(size_t limitBytes, ArenaBudget* budget = nullptr)
      : limitBytes_(limitBytes), budget_(budget == nullptr ? &own_ : budget) {
    spare_.reserve(kSpares);
  }
  ~Arena() { budget_->give(spareBytes_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns uninitialised memory, or an empty handle if the limit or the
  // machine leaves no room. Adds `bytes` to `*account` until the buffer is
  // freed; `account` must outlive the buffer. Never throws.
  ArenaBuffer acquire(size_t bytes, size_t* account = nullptr) {
    auto memory = takeSpare(bytes);
    if (memory == nullptr) {
      if (!take(bytes)) {
        return ArenaBuffer();
      }
      memory.reset(new (std::nothrow) std::byte[bytes]);
      if (memory == nullptr) {
        budget_->give(bytes);
        return ArenaBuffer();
      }
    }
    usedBytes_ += bytes;
    return ArenaBuffer(this, std::move(memory), bytes, account);
  }

  // Reserves bytes for memory that is allocated elsewhere. Returns an empty
  // handle if the limit leaves no room.
  ArenaBuffer reserve(size_t bytes) {
    if (!take(bytes)) {
      return ArenaBuffer();
    }
    usedBytes_ += bytes;
    return ArenaBuffer(this, nullptr, bytes);
  }

  // Like acquire(), but takes the bytes from `room`, which was reserved before.
  // If `room` is too small, it does the same as acquire().
  ArenaBuffer acquireFrom(ArenaBuffer* room, size_t bytes) {
    if (bytes > room->bytes_) {
      return acquire(bytes);
    }
    auto memory = takeSpare(bytes);
    if (memory != nullptr) {
      budget_->give(bytes);  // a spare is counted already
    } else {
      memory.reset(new (std::nothrow) std::byte[bytes]);
    }
    if (memory == nullptr) {
      return ArenaBuffer();
    }
    room->bytes_ -= bytes;
    return ArenaBuffer(this, std::move(memory), bytes);
  }

  size_t usedBytes() const { return usedBytes_; }
  // Includes the spare pieces. Never above limitBytes().
  size_t heldBytes() const { return usedBytes_ + spareBytes_; }
  size_t limitBytes() const { return limitBytes_; }

 private:
  friend class ArenaBuffer;
  struct Spare {
    std::unique_ptr<std::byte[]> memory;
    size_t bytes;
  };
  static constexpr size_t kSpares = 64;
  static constexpr size_t kSpareShare = 16;  // of the limit: one in this number

  // Returns a spare piece of exactly this size, or null.
  std::unique_ptr<std::byte[]> takeSpare(size_t bytes) {
    for (Spare& spare : spare_) {
      if (spare.bytes == bytes) {
        auto memory = std::move(spare.memory);
        spareBytes_ -= bytes;
        spare = std::move(spare_.back());
        spare_.pop_back();
        return memory;
      }
    }
    return nullptr;
  }

  bool take(size_t bytes) {
    if (budget_->take(bytes, limitBytes_)) {
      return true;
    }
    budget_->give(spareBytes_);
    spare_.clear();
    spareBytes_ = 0;
    return budget_->take(bytes, limitBytes_);
  }

  void release(std::unique_ptr<std::byte[]> memory, size_t bytes) {
    usedBytes_ -= bytes;
    if (memory != nullptr && spare_.size() < kSpares &&
        spareBytes_ + bytes <= limitBytes_ / kSpareShare) {
      spareBytes_ += bytes;
      spare_.push_back(Spare{std::move(memory), bytes});
    } else {
      memory.reset();
      budget_->give(bytes);
    }
  }

  const size_t limitBytes_;
  ArenaBudget own_;
  ArenaBudget* const budget_;
  size_t usedBytes_ = 0;
  size_t spareBytes_ = 0;
  std::vector<Spare> spare_;
};

inline ArenaBuffer::~ArenaBuffer() {
  if (account_ != nullptr) {
    *account_ -= bytes_;
  }
  if (arena_ != nullptr) {
    arena_->release(std::move(memory_), bytes_);
  }
}

}  // namespace ubt
