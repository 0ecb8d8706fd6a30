# SPDX-License-Identifier: Apache-2.0
"""Code that the commands share. It needs only Python's standard library."""
