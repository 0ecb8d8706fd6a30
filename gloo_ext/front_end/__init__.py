# SPDX-License-Identifier: Apache-2.0
"""What the commands share. Python's own library is enough."""
