// SPDX-License-Identifier: Apache-2.0
#include "transport_ubt/bounded/mesh_watch.h"

#include <fcntl.h>
#include <gloo/common/error.h>
#include <gloo/common/logging.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>

namespace ubt {
namespace {

// A mesh whose receives behave as the test says.
class FakeMesh {
 public:
  using Receive = std::function<void(int rank)>;

  explicit FakeMesh(int size) : size_(size) {}

  Mesh mesh() {
    return {0, size_, [this](void* ptr, size_t bytes) {
              if (gone) {
                throw gloo::IoException("the context has been destroyed");
              }
              return std::make_unique<Alarm>(this, ptr, bytes);
            }};
  }

  // As when Gloo ends pending receives because a pair has gone.
  void ring() {
    std::lock_guard<std::mutex> lock(mutex_);
    rings_++;
    changed_.notify_all();
  }

  // Waits until the watch waits for the alarm for the nth time.
  void awaitWait(int nth) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return waits_ >= nth; });
  }

  Receive receive = [](int) {};
  std::atomic<bool> gone{false};

 private:
  class Alarm : public gloo::transport::UnboundBuffer {
   public:
    Alarm(FakeMesh* mesh, void* ptr, size_t size)
        : gloo::transport::UnboundBuffer(ptr, size), mesh_(mesh) {}

    bool waitRecv(int*, std::chrono::milliseconds) override {
      std::unique_lock<std::mutex> lock(mesh_->mutex_);
      mesh_->waits_++;
      mesh_->changed_.notify_all();
      mesh_->changed_.wait(lock, [&] { return aborted_ || mesh_->rings_ > 0; });
      if (aborted_) {
        return false;
      }
      mesh_->rings_--;
      throw gloo::IoException("a pair has gone");
    }
    void abortWaitRecv() override {
      std::lock_guard<std::mutex> lock(mesh_->mutex_);
      aborted_ = true;
      mesh_->changed_.notify_all();
    }
    bool waitSend(int*, std::chrono::milliseconds) override { return true; }
    void abortWaitSend() override {}
    void send(int, uint64_t, size_t, size_t) override {}
    void recv(int rank, uint64_t, size_t, size_t) override {
      mesh_->receive(rank);
    }
    void recv(std::vector<int>, uint64_t, size_t, size_t) override {}

   private:
    FakeMesh* const mesh_;
    bool aborted_ = false;
  };

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int rings_ = 0;
  int waits_ = 0;
};

TEST(MeshWatch, NamesEachRankThatIsGoneOnce) {
  FakeMesh mesh(4);
  std::vector<bool> gone(4, false);
  mesh.receive = [&](int rank) {
    if (gone[rank]) {
      throw gloo::IoException("socket closed");
    }
  };
  std::vector<int> told;
  {
    MeshWatch watch(mesh.mesh(),
                    std::vector<bool>(4, true),
                    [&](int rank, const std::string& why) {
                      told.push_back(rank);
                      EXPECT_NE(why.find("socket closed"), std::string::npos);
                    });
    mesh.awaitWait(1);
    EXPECT_TRUE(told.empty());
    gone[2] = true;
    mesh.ring();
    mesh.awaitWait(2);  // the gone rank has been reported
    gone[1] = gone[3] = true;
    mesh.ring();
  }
  EXPECT_EQ(told.front(), 2);
  EXPECT_LE(told.size(), 3u);
}

TEST(MeshWatch, LeavesSynchronousPairsAlone) {
  FakeMesh mesh(4);
  std::vector<int> posted;
  mesh.receive = [&](int rank) {
    posted.push_back(rank);
    if (rank == 2) {  // like Gloo's tcp after a switch to synchronous mode
      GLOO_ENFORCE(false, "sync");
    }
  };
  {
    MeshWatch watch(mesh.mesh(),
                    {true, false, true, true},
                    [](int rank, const std::string&) {
                      ADD_FAILURE() << "rank " << rank << " is not gone";
                    });
    mesh.awaitWait(1);
    EXPECT_EQ(posted, (std::vector<int>{2, 3}));
    mesh.ring();
    mesh.awaitWait(2);
    EXPECT_EQ(posted, (std::vector<int>{2, 3, 3}));
    watch.leaveOut(3);
  }
  MeshWatch nobody(mesh.mesh(),
                   std::vector<bool>(4, false),
                   [](int, const std::string&) { ADD_FAILURE(); });
}

TEST(MeshWatch, NamesRanksWhenTheContextIsGoneToo) {
  FakeMesh mesh(3);
  std::vector<bool> gone(3, false);
  mesh.receive = [&](int rank) {
    if (gone[rank]) {
      throw gloo::IoException("socket closed");
    }
  };
  std::vector<int> told;
  std::promise<void> last;
  {
    MeshWatch watch(mesh.mesh(),
                    std::vector<bool>(3, true),
                    [&](int rank, const std::string&) {
                      told.push_back(rank);
                      if (rank == 2) {
                        last.set_value();
                      }
                    });
    mesh.awaitWait(1);
    mesh.gone = true;
    gone[1] = true;
    mesh.ring();
    mesh.awaitWait(2);
    gone[2] = true;
    mesh.ring();
    ASSERT_EQ(last.get_future().wait_for(std::chrono::seconds(20)),
              std::future_status::ready);
  }
  EXPECT_EQ(told, (std::vector<int>{1, 2}));
}

// Gloo closes every connection when one of its own waits times out.
TEST(MeshWatch, NamesItselfIfItClosedTheConnections) {
  FakeMesh mesh(4);
  std::atomic<bool> timedOut{false};
  mesh.receive = [&](int) {
    if (timedOut) {
      throw gloo::IoException(
          "[pair.cc:123] Application timeout caused pair closure");
    }
  };
  std::vector<int> told;
  std::promise<void> first;
  {
    MeshWatch watch(
        mesh.mesh(),
        std::vector<bool>(4, true),
        [&](int rank, const std::string& why) {
          told.push_back(rank);
          if (told.size() == 1) {
            first.set_value();
          }
          EXPECT_EQ(why.find("has it died"), std::string::npos) << why;
          EXPECT_NE(why.find("rank 0 (this one) has closed"), std::string::npos)
              << why;
        });
    mesh.awaitWait(1);
    timedOut = true;
    mesh.ring();
    ASSERT_EQ(first.get_future().wait_for(std::chrono::seconds(20)),
              std::future_status::ready);
  }
  EXPECT_EQ(told, std::vector<int>{0});
}

TEST(MeshWatch, EndsWithTheMesh) {
  FakeMesh mesh(2);
  MeshWatch watch(mesh.mesh(), {true, true}, [](int, const std::string&) {
    ADD_FAILURE() << "no rank is gone";
  });
  mesh.awaitWait(1);
  mesh.gone = true;
  mesh.ring();
}

// In a test's process SIGPIPE has the default action: it ends the process.
TEST(MeshWatch, SurvivesAWriteToAPeerThatIsGone) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  FakeMesh mesh(2);
  mesh.receive = [&](int) {
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    throw gloo::IoException("Broken pipe");
  };
  int told = 0;
  std::mutex mutex;
  std::condition_variable changed;
  {
    MeshWatch watch(
        mesh.mesh(), {true, true}, [&](int rank, const std::string& /*why*/) {
          std::lock_guard<std::mutex> lock(mutex);
          told = rank;
          changed.notify_all();
        });
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return told == 1; });
  }
  ::close(ends[1]);
}

}  // namespace
}  // namespace ubt
