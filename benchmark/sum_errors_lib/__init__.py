# SPDX-License-Identifier: Apache-2.0
"""benchmark/sum_errors: allreduces whose packets get lost, in arithmetic alone:
no network, no time, no protocol."""
