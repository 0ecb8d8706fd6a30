// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport_ubt/core/base/element_type.h"

namespace ubt {

// The randomised, block-wise Walsh-Hadamard transform. A packet lost from a
// transformed shard takes a little from very many elements, instead of all from
// a few. Source: OptiReduce (NSDI'25; first called Ultima), section on the
// Hadamard transform. The fast algorithm is the classic one (Fino and Algazi,
// "Unified matrix treatment of the fast Walsh-Hadamard transform", 1976).
//
// A block is 64 elements. Forward is y = H D x / 8, backward x = D H y / 8. H
// is the Hadamard matrix of order 64 in natural order: H[i][j] is -1 to the
// power of the number of ones in i & j. D is diagonal with random signs. Both
// keep the energy of a block (its sum of squares) and undo each other. Both are
// linear: the sum of several ranks' transformed shards is the transform of the
// sum.
//
// Coefficients may be lost in any way that does not depend on the signs. Set
// them to zero, and multiply a block that kept r > 0 of its 64 by 64 / r. Then
// the inverse gives x in expectation over seeds, and spreads error and energy
// evenly.
//
// Layout: let n = hadamardColumns(type, count). The shard's last 64 * n
// elements are a matrix of 64 rows and n columns, row after row. Each column is
// a block. Element k of block c is
//
//   data[count - 64 * n + k * n + c]
//
// A packet is a run within one or two rows, so it holds one or a few
// coefficients of each of many blocks. The elements before the matrix are laid
// out like a shard of their own, and so on, until fewer than 64 are left.
// Those, the shard's very first, travel plain. They come first because a bound
// cuts off the end.
//
// n is count / 64, with one exception. If rows would be at least 4096 bytes
// apart, and within 32 bytes of a multiple of 512, a cache would have room for
// few of them at once (a shard of 25 MiB took 1.7 times as long). Then n is
// smaller by the number of elements in 64 bytes.
//
// Signs: a tile is 1024 bytes of each row, counted from the row's begin. The
// tiles of the shard's last matrix are numbered first, then those of the matrix
// before it. Bit k of hadamardSigns(seed, number of the tile)
// (hadamard_layout.h) is set if row k of the tile is negated.
//
// float16 and bfloat16 are computed as float32, and rounded once, to nearest
// even, when stored. For finite values all processors give the same bits,
// unless a caller has told its processor to flush subnormals to zero. Forward
// and backward together change a block by at most 12 a + 2 s of its norm (the
// root of its energy); by more only among subnormals:
//
//              a       s
//   float32    2^-24   0
//   float64    2^-53   0
//   float16    2^-24   2^-11
//   bfloat16   2^-24   2^-8
//
// `data` needs the alignment of one element. Stateless; any thread may call.
// Allocates nothing; uses 30 KB of stack.

// Transforms a shard of `count` elements in place and returns true. Returns
// false, and changes no bit, if one element is not finite or its magnitude is
// not less than hadamardLimit(type, contributors). Such a shard has to travel
// plain. All ranks that add up shards must use the same seed.
//
// contributors: how many ranks' shards are added up, at least 1.
bool hadamardTransform(ElementType type,
                       void* data,
                       size_t count,
                       uint64_t seed,
                       size_t contributors);

// Undoes hadamardTransform() in place, for one shard or for a sum of them.
void hadamardInverse(ElementType type, void* data, size_t count, uint64_t seed);

// The magnitude that elements must stay below, a power of two. c is
// `contributors`, rounded up to a power of two:
//
//   float16             2^12 / c
//   float32, bfloat16   2^112 / c
//   float64             2^1008 / c
//
// Then, with rounding, a coefficient is at most 8 times the limit, and a sum
// over all contributors at most 8 * c times. That is at most half of the type's
// maximum. The inverse does not overflow either, whichever coefficients are
// missing. In the wide types this holds even if the coefficients were first
// multiplied by up to 64.
double hadamardLimit(ElementType type, size_t contributors);

// The number n of columns of the matrix, see above.
size_t hadamardColumns(ElementType type, size_t count);

}  // namespace ubt
