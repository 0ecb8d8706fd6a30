// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// What the program holds from operator new, which linking this replaces. Bytes.
size_t heapBytes();
