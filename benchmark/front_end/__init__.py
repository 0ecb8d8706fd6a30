# SPDX-License-Identifier: Apache-2.0
"""What the commands in this folder share. Python's own library is enough."""
