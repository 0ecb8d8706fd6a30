// SPDX-License-Identifier: Apache-2.0
#pragma once

/* What a program may ask the preloaded library. Any thread may call; nothing
 * here throws or waits for the network. A process that was forked starts from
 * nothing. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by one with every change of what is below. */
#define GLOO_UBT_API_VERSION 3
int gloo_ubt_api_version(void);

/* Each writes a JSON object (docs/drop_in.md, "Reports") with a closing zero to
 * `out`, if its `bytes` suffice, and returns how many it takes: of all calls so
 * far, and of the last that took the bounded path ("null" if none did). Zero:
 * there is no memory left to write it. */
size_t gloo_ubt_stats(char* out, size_t bytes);
size_t gloo_ubt_last(char* out, size_t bytes);

/* Whether any call was skipped (GLOO_UBT_SKIP_LOSS) since this was asked last.
 * The same on all ranks, if they ask after the same calls. */
int gloo_ubt_skipped(void);

/* Keeps what becomes of the next allreduce whose (first) output is `data`;
 * gloo_ubt_taken() gives it, like gloo_ubt_last() does, and forgets it. Sizing
 * the text (`bytes` too few) forgets nothing. */
void gloo_ubt_track(const void* data);
size_t gloo_ubt_taken(const void* data, char* out, size_t bytes);

/* Whether any allreduce of this process may be bounded: GLOO_ALGO=optireduce
 * or hierarchical_optireduce, and a Gloo that is understood. */
int gloo_ubt_may_bound(void);

/* The context of the allreduce whose contribution is these bytes (16 to 4096,
 * random ones) will be exact from then on; that call too. */
void gloo_ubt_expect_exact(const void* token, size_t bytes);
/* Forgets the token. Whether an allreduce brought it. */
int gloo_ubt_became_exact(const void* token, size_t bytes);

#ifdef __cplusplus
}
#endif
