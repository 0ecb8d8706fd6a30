# SPDX-License-Identifier: Apache-2.0
"""The front end of benchmark/ablate. It measures the benefit of each control
loop: the same jobs run with the loop and without it. docs/ablation.md shows
the results.
"""
