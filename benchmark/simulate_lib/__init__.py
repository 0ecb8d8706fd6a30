# SPDX-License-Identifier: Apache-2.0
"""benchmark/simulate: //benchmark:measure for more ranks than one has hosts."""
