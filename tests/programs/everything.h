// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <memory>

// One of everything that programs do with a connected context. Throws
// std::runtime_error that says what came out wrong.
void doEverything(const std::shared_ptr<gloo::Context>& context);
