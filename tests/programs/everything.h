// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <memory>

// Runs each operation that programs do with a connected context. Throws
// std::runtime_error, which names a wrong result.
void doEverything(const std::shared_ptr<gloo::Context>& context);
