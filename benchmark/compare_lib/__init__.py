# SPDX-License-Identifier: Apache-2.0
"""The front end of benchmark/compare. The measuring is done by the worker,
//benchmark/comparison:worker; this starts it, shows what it says and cleans up.
"""
