# SPDX-License-Identifier: Apache-2.0
"""The lab: hosts, links and competing traffic on one machine, which leave
nothing behind. docs/lab.md describes its parts and its limits.
"""
