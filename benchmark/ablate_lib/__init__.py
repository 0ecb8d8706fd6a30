# SPDX-License-Identifier: Apache-2.0
"""The front end of benchmark/ablate: what each control loop buys, by what the
same jobs come to with it and without. docs/ablation.md shows what it found.
"""
