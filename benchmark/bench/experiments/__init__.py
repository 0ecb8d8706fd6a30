# SPDX-License-Identifier: Apache-2.0
"""benchmark/experiments: each experiment is a row of suite.SUITE. Its parts are
commands, whose results become pages of a report."""
