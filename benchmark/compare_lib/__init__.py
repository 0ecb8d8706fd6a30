# SPDX-License-Identifier: Apache-2.0
"""The front end of benchmark/compare. It starts the worker,
//benchmark/comparison:worker, which measures. Then it shows the results and
cleans up.
"""
