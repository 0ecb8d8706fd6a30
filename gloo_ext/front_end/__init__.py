# SPDX-License-Identifier: Apache-2.0
"""The command ubtrun, and code that commands share. It needs only Python's
standard library."""
