# SPDX-License-Identifier: Apache-2.0
"""The front end of gloo_ext/ubtrun. It needs only Python's standard
library."""
