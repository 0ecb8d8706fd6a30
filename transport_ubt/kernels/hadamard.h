// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/element_type.h"

namespace ubt {

// The randomised, block-wise Walsh-Hadamard transform: what a lost packet takes
// from a transformed shard is a little of very many elements, where it would
// have been all of a few. Source: OptiReduce (NSDI'25; first called Ultima),
// section on the Hadamard transform; the fast algorithm is the classic one
// (Fino and Algazi, "Unified matrix treatment of the fast Walsh-Hadamard
// transform", 1976).
//
// A block is 64 elements. Forward is y = H D x / 8, backward x = D H y / 8,
// where H is the Hadamard matrix of order 64 in natural order, H[i][j] = -1 to
// the number of ones in i & j, and D is diagonal with random signs. Both keep
// the energy of a block (its sum of squares), undo each other, and are linear:
// the sum of several ranks' transformed shards is the transform of the sum.
//
// With coefficients lost in any way that does not depend on the signs, set to
// zero, and a block that kept r > 0 of its 64 multiplied by 64 / r, what comes
// back is x in expectation over seeds; error and energy are spread evenly.
//
// Where a block lies: take n = hadamardColumns(type, count). The shard's last
// 64 * n elements are a matrix of 64 rows and n columns, row after row, and
// each column is a block: element k of block c lies at
//
//   data[count - 64 * n + k * n + c]
//
// so that a packet, a run within a row or two, holds one or a few coefficients
// of each of many blocks. What lies before is a shard of its own, laid out in
// the same way, until fewer than 64 elements are left: those, the shard's very
// first, travel plain. They come first because a bound cuts off the end.
//
// n is count / 64, except where rows would lie a multiple of 512 bytes apart,
// give or take 32, and at least 4096: then a cache would have room for few of
// the 64 rows at once (a shard of 25 MiB took 1.7 times as long), and n is less
// by as many columns as 64 bytes hold.
//
// Signs: 1024 bytes of each row, from the row's begin, are a tile; the tiles of
// the shard's last part come first, then those of the part before it. Bit k of
// hadamardSigns(seed, number of the tile) (hadamard_layout.h) is set where row
// k of the tile is negated.
//
// float16 and bfloat16 are computed as float32 and rounded once, to nearest
// even, when stored. For finite values all processors give the same bits, as
// long as no caller has told its own to flush subnormals to zero. There and
// back, the error of a block is at most 12 a + 2 s of its norm (the root of
// its energy), where a = 2^-24, or 2^-53 for float64, and s = 2^-11 for
// float16, 2^-8 for bfloat16 and else 0; more only among subnormals.
//
// `data` needs the alignment of one element. Stateless, callable from any
// thread, allocates nothing; 30 KB of stack.

// Transforms a shard in place and returns true; or returns false, with every
// bit as it was, if one element is not less in magnitude than
// hadamardLimit(type, contributors) or is not finite. Such a shard has to
// travel plain. All ranks that add up shards must use the same seed.
//
// contributors: how many ranks' shards are added up, at least 1.
bool hadamardTransform(ElementType type,
                       void* data,
                       size_t count,
                       uint64_t seed,
                       size_t contributors);

// Undoes hadamardTransform() in place, for one shard or for a sum of them.
void hadamardInverse(ElementType type, void* data, size_t count, uint64_t seed);

// The magnitude that elements must stay below, a power of two. With c for
// `contributors`, rounded up to a power of two:
//
//   float16             2^12 / c
//   float32, bfloat16   2^112 / c
//   float64             2^1008 / c
//
// Then no coefficient is over 8 times, and no sum over all contributors over
// 8 * c times the limit, rounding included, and that is at most half of what
// the type holds. Nor does the way back overflow, whichever coefficients are
// missing; in the wide types, even if what arrived was first multiplied by up
// to 64.
double hadamardLimit(ElementType type, size_t contributors);

// The number n of the matrix's columns, see above.
size_t hadamardColumns(ElementType type, size_t count);

}  // namespace ubt
