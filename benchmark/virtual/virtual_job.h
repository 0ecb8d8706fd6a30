/* SPDX-License-Identifier: Apache-2.0
 *
 * Allreduces in virtual time, as a C API for Python's ctypes, for ranks that
 * live in one process. Bounded ones are the protocol itself, in the simulator's
 * network, for buckets of any size: GLOO_UBT_MIN_BYTES is 0. Of exact ones,
 * only the times are simulated. Not thread-safe. Times are in seconds since the
 * job's start.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct UbtVirtualJob UbtVirtualJob;

/* A call that has ended. */
typedef struct {
  int32_t rank;
  uint32_t op;
  double at;
  double missing;      /* share of (rank, element) pairs that the sum lacks */
  double cut;          /* of these: left out, not lost */
  int32_t bounded;     /* 0: a warm-up op, exact */
  int32_t skipped;     /* the sum is zero at every rank (skip_loss) */
  const char* failure; /* null: the op has ended well. Else why not, until
                          the next call of ubt_virtual_next() */
} UbtVirtualEnded;

/* `algorithm` and `options`: as of benchmark:measure, whose --help explains
 * them. `ranks`: at least 2. Returns null after an error, with its text in
 * `error`. */
UbtVirtualJob* ubt_virtual_open(const char* algorithm,
                                const char* options,
                                int32_t ranks,
                                char* error,
                                size_t error_bytes);

/* The rank enters op number `op` at the time `at`, or now if that has passed.
 * All ranks enter the same ops, with as many elements. The bucket stays the
 * op's until the call has ended. A bounded op writes the sum over ranks there;
 * an exact one ignores the bucket. */
void ubt_virtual_enter(UbtVirtualJob* job,
                       int32_t rank,
                       uint32_t op,
                       double at,
                       float* bucket,
                       uint32_t elements);

/* Advances virtual time until a call ends, and describes it in `ended`. Returns
 * 0 if none can end before another call begins. */
int ubt_virtual_next(UbtVirtualJob* job, UbtVirtualEnded* ended);

void ubt_virtual_close(UbtVirtualJob* job);

#ifdef __cplusplus
}
#endif
