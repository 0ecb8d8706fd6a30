# SPDX-License-Identifier: Apache-2.0
"""benchmark/sum_errors: allreduces with lost packets, in arithmetic alone,
without network, time or protocol."""
