# SPDX-License-Identifier: Apache-2.0
"""benchmark/experiments: experiments are rows of suite.SUITE, their parts are
commands of this project, and what these measure becomes one report."""
