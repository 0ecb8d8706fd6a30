# SPDX-License-Identifier: Apache-2.0
"""The front end of benchmark/train. The scripts in training/ do the training;
they do not depend on this project. The front end preloads its library.
"""
