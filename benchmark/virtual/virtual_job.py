# SPDX-License-Identifier: Apache-2.0
"""Allreduces in virtual time (virtual_job.h)."""
from __future__ import annotations

import ctypes
from typing import Optional

from torch import Tensor

_ERROR_BYTES = 4096


class Ended(ctypes.Structure):
    """A call that has ended, at the time `at` in seconds."""

    _fields_ = [("rank", ctypes.c_int32), ("op", ctypes.c_uint32),
                ("at", ctypes.c_double), ("missing", ctypes.c_double),
                ("cut", ctypes.c_double), ("bounded", ctypes.c_int32),
                ("skipped", ctypes.c_int32), ("failure", ctypes.c_char_p)]


class VirtualJob:
    """The ranks' allreduces. Context manager."""

    def __init__(self, library: str, algorithm: str, options: str,
                 ranks: int) -> None:
        """`library`: the path of libvirtual_job.so. `algorithm`, `options`: as
        of benchmark:measure. `ranks`: at least 2.

        Raises ValueError that names the wrong part.
        """
        loaded = ctypes.CDLL(library)
        loaded.ubt_virtual_open.restype = ctypes.c_void_p
        loaded.ubt_virtual_open.argtypes = [
            ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_char_p,
            ctypes.c_size_t]
        loaded.ubt_virtual_enter.restype = None
        loaded.ubt_virtual_enter.argtypes = [
            ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32, ctypes.c_double,
            ctypes.c_void_p, ctypes.c_uint32]
        loaded.ubt_virtual_next.restype = ctypes.c_int
        loaded.ubt_virtual_next.argtypes = [
            ctypes.c_void_p, ctypes.POINTER(Ended)]
        loaded.ubt_virtual_close.restype = None
        loaded.ubt_virtual_close.argtypes = [ctypes.c_void_p]
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        self._loaded = loaded
        self._job = loaded.ubt_virtual_open(
            algorithm.encode(), options.encode(), ranks, error, _ERROR_BYTES)
        if not self._job:
            raise ValueError(error.value.decode())

    def __enter__(self) -> VirtualJob:
        return self

    def __exit__(self, *_: object) -> None:
        self._loaded.ubt_virtual_close(self._job)

    def enter(self, rank: int, op: int, at: float, bucket: Tensor) -> None:
        """The rank enters an op. Until next() returns the call, the bucket must
        not change; then a bounded op has put the sum there.

        Args:
            at: a time in seconds; the call begins now if that has passed.
            bucket: contiguous float32, of as many elements at each rank.
        """
        self._loaded.ubt_virtual_enter(
            self._job, rank, op, at, bucket.data_ptr(), bucket.numel())

    def next(self) -> Optional[Ended]:
        """The call that ends next; None if none can end before another begins.

        Raises RuntimeError if it failed.
        """
        ended = Ended()
        if not self._loaded.ubt_virtual_next(self._job, ctypes.byref(ended)):
            return None
        if ended.failure is not None:
            raise RuntimeError(f"rank {ended.rank}: {ended.failure.decode()}")
        return ended
