// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "gloo_ext/greeting.h"
#include "transport_ubt/mesh.h"

namespace gloo_ext {

// Swaps greetings with every other rank of the mesh; the result is by rank, the
// own one in its place. A rank that has not answered after ten seconds is named
// in a warning; on `timeout`, in the gloo::IoException that ends it, as is one
// that is gone or does not belong here. Once in the life of a mesh.
//
// No wait of Gloo's times out meanwhile: that would close all connections.
std::vector<Greeting> exchangeGreetings(
    const gloo::transport::ubt::Mesh& mesh,
    const Greeting& own,
    const std::string& secret,
    std::chrono::milliseconds timeout,
    const std::function<void(const std::string&)>& warn);

}  // namespace gloo_ext
