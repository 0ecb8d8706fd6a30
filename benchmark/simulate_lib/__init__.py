# SPDX-License-Identifier: Apache-2.0
"""benchmark/simulate: runs //benchmark:measure, for large numbers of ranks."""
