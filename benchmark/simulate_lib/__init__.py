# SPDX-License-Identifier: Apache-2.0
"""benchmark/simulate: //tests/sim:measure for more ranks than one has hosts."""
