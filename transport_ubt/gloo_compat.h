// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/rendezvous/store.h>
#include <unistd.h>

#include <memory>

// What differs between the Gloo of 2022 (Debian's libgloo) and today's. The
// compiler finds out which of them it has.

namespace gloo {
namespace compat {

// A store as an argument: the Gloo of 2022 takes a reference, today's a shared
// pointer.
//
//   context->connectFullMesh(compat::borrowed(store), device);
//
// The store must live as long as what it is passed to.
class BorrowedStore {
 public:
  explicit BorrowedStore(rendezvous::Store& store) : store_(store) {}

  /* implicit */ operator rendezvous::Store&() const { return store_; }
  /* implicit */ operator std::shared_ptr<rendezvous::Store>() const {
    return {std::shared_ptr<void>(), &store_};
  }

 private:
  rendezvous::Store& store_;
};

inline BorrowedStore borrowed(rendezvous::Store& store) {
  return BorrowedStore(store);
}

namespace detail {

// The first overload is the better match, if the member exists.
template <typename Pair>
auto isConnected(Pair& pair, int) -> decltype(pair.isConnected()) {
  return pair.isConnected();
}
template <typename Pair>
bool isConnected(Pair&, long) {
  return true;
}

template <typename Attr>
auto closeSocket(Attr& attr, int) -> decltype(attr.ai_fd, void()) {
  if (attr.ai_fd >= 0) {
    ::close(attr.ai_fd);
    attr.ai_fd = -1;
  }
}
template <typename Attr>
void closeSocket(Attr&, long) {}

}  // namespace detail

// Pair::isConnected(), which today's Gloo asks. Without it: true.
template <typename Pair>
bool isConnected(Pair& pair) {
  return detail::isConnected(pair, 0);
}

// Today's Gloo leaves an open socket in the attributes that it has looked up.
// Closes it.
template <typename Attr>
void closeSocket(Attr& attr) {
  detail::closeSocket(attr, 0);
}

}  // namespace compat
}  // namespace gloo
