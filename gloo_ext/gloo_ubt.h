// SPDX-License-Identifier: Apache-2.0
#pragma once

/* Functions of the preloaded library for programs. Any thread may call them.
 * None throws or waits for the network. In a forked process they start from
 * nothing. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by one with every change of this file. */
#define GLOO_UBT_API_VERSION 5
int gloo_ubt_api_version(void);

/* Each writes a JSON object (docs/watching.md) with a closing zero to `out`, if
 * its `bytes` suffice, and returns the number of bytes needed. stats() covers
 * all calls, last() the last call on the bounded path ("null" if there was
 * none). Zero means that no memory is left to write the object. */
size_t gloo_ubt_stats(char* out, size_t bytes);
size_t gloo_ubt_last(char* out, size_t bytes);

/* Whether any call was skipped (GLOO_UBT_SKIP_LOSS) since the last call of this
 * function. Equal on all ranks, if they ask after the same calls. */
int gloo_ubt_skipped(void);

/* Keeps the report of the next allreduce whose (first) output is `data`.
 * gloo_ubt_taken() writes it, like gloo_ubt_last(), and forgets it. If `bytes`
 * is too small, it forgets nothing. */
void gloo_ubt_track(const void* data);
size_t gloo_ubt_taken(const void* data, char* out, size_t bytes);

/* Writes what is wrong with this process's GLOO_ALGO and GLOO_UBT_* variables,
 * or nothing, like gloo_ubt_stats(). */
size_t gloo_ubt_wrong_settings(char* out, size_t bytes);

/* Writes the table of settings, like gloo_ubt_stats(): a JSON array of objects
 * with variable, values, default, meaning and experiment. */
size_t gloo_ubt_settings(char* out, size_t bytes);

/* Whether any allreduce of this process may be bounded: GLOO_ALGO is optireduce
 * or hierarchical_optireduce, and Gloo's layout is known. */
int gloo_ubt_may_bound(void);

/* Whether later calls of a context may be bounded. By default they may, unless
 * GLOO_UBT_BOUNDED says otherwise. */
#define GLOO_UBT_EXACT 0
#define GLOO_UBT_BOUNDED 1
#define GLOO_UBT_DEFAULT 2
/* The token is 16 to 4096 random bytes. When an allreduce contributes it, the
 * choice (one of these three) holds for that call's context from then on. The
 * call itself is exact. All ranks of the context choose the same. */
void gloo_ubt_expect(const void* token, size_t bytes, int choice);
/* Forgets the token. Returns the choice that it replaced, or -1 if no allreduce
 * contributed it. */
int gloo_ubt_came(const void* token, size_t bytes);

#ifdef __cplusplus
}
#endif
