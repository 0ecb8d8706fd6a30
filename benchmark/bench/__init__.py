# SPDX-License-Identifier: Apache-2.0
"""The commands of benchmark/: compare, lab, train, simulate, experiments. Each
is a module, or a package, of this name; benchmark/start.sh runs it."""
