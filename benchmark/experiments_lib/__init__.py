# SPDX-License-Identifier: Apache-2.0
"""benchmark/experiments: each experiment is a row of suite.SUITE. Its parts
are commands of this project. Their measurements become one report."""
