# SPDX-License-Identifier: Apache-2.0
"""The preloaded library's C API (gloo_ext/gloo_ubt.h), if it is there."""

from __future__ import annotations

import ctypes
import functools
import json
from typing import Any, Optional

_VERSION = 5


class Library:
    """The C API of the library that this process was started with."""

    def __init__(self, loaded: ctypes.CDLL) -> None:
        for name in ("gloo_ubt_stats", "gloo_ubt_last"):
            function = getattr(loaded, name)
            function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
            function.restype = ctypes.c_size_t
        loaded.gloo_ubt_expect.argtypes = [ctypes.c_char_p, ctypes.c_size_t,
                                           ctypes.c_int]
        loaded.gloo_ubt_expect.restype = None
        loaded.gloo_ubt_came.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        loaded.gloo_ubt_skipped.argtypes = []
        loaded.gloo_ubt_may_bound.argtypes = []
        loaded.gloo_ubt_track.argtypes = [ctypes.c_void_p]
        loaded.gloo_ubt_track.restype = None
        loaded.gloo_ubt_taken.argtypes = [ctypes.c_void_p, ctypes.c_char_p,
                                          ctypes.c_size_t]
        loaded.gloo_ubt_taken.restype = ctypes.c_size_t
        self._loaded = loaded

    def stats(self) -> Any:
        return self._text(self._loaded.gloo_ubt_stats)

    def last(self) -> Any:
        return self._text(self._loaded.gloo_ubt_last)

    def skipped(self) -> bool:
        return bool(self._loaded.gloo_ubt_skipped())

    def may_bound(self) -> bool:
        return bool(self._loaded.gloo_ubt_may_bound())

    def track(self, data: int) -> None:
        self._loaded.gloo_ubt_track(data)

    def taken(self, data: int) -> Any:
        return self._text(functools.partial(self._loaded.gloo_ubt_taken, data))

    def expect(self, token: bytes, choice: int) -> None:
        self._loaded.gloo_ubt_expect(token, len(token), choice)

    def came(self, token: bytes) -> Optional[int]:
        """The choice that the token replaced; None: no call contributed it."""
        replaced = self._loaded.gloo_ubt_came(token, len(token))
        return None if replaced < 0 else replaced

    @staticmethod
    def _text(function: Any) -> Any:
        size = 16384  # usually enough; if not, one more call
        while True:
            text = ctypes.create_string_buffer(size)
            needed = function(text, size)
            if needed == 0:
                raise MemoryError("libgloo_ubt.so has none left for a report")
            if needed <= size:
                return json.loads(text.value)
            size = needed


@functools.lru_cache(maxsize=None)
def library() -> Optional[Library]:
    """The library, or None if the process runs without it.

    Raises:
        RuntimeError: its version differs from this package's.
    """
    loaded = ctypes.CDLL(None)
    if not hasattr(loaded, "gloo_ubt_api_version"):
        return None
    version = loaded.gloo_ubt_api_version()
    if version != _VERSION:
        raise RuntimeError(
            f"libgloo_ubt.so has API version {version}, this package wants "
            f"{_VERSION}: install both from one tree")
    return Library(loaded)
