# SPDX-License-Identifier: Apache-2.0
"""The front end of gloo_ext/ubtrun. Python's own library is enough."""
