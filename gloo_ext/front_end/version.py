# SPDX-License-Identifier: Apache-2.0
"""The project's version."""

VERSION = "0.1"
