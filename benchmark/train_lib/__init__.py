# SPDX-License-Identifier: Apache-2.0
"""The front end of benchmark/train. The training is done by the scripts in
training/, which know nothing of this project; this preloads its library.
"""
