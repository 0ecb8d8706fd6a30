# SPDX-License-Identifier: Apache-2.0
"""Acts when a module has been imported. Nothing is imported earlier than the
script does."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
import threading
from types import ModuleType
from typing import Any, Callable, Optional

Action = Callable[[ModuleType], None]


def after(name: str, action: Action) -> None:
    """Calls `action` with the module of that name: now if it has been imported,
    or else at the end of its import. Not while another thread, or a caller,
    imports it."""
    module = sys.modules.get(name)
    if module is not None:
        action(module)
    else:
        sys.meta_path.insert(0, _Finder(name, action))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module as others do, and wraps its loader. Others may look the
    module up before they import it, so it stays until the import."""

    def __init__(self, name: str, action: Action) -> None:
        self._name = name
        self._action = action
        self._looking = threading.local()

    def find_spec(self, name: str, path: Any,
                  target: Optional[ModuleType] = None) -> Any:
        if name != self._name or getattr(self._looking, "on", False):
            return None
        self._looking.on = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking.on = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._imported)
        return spec

    def _imported(self, module: ModuleType) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self._action(module)


class _Loader(importlib.abc.Loader):
    """A loader that acts after the module has been run. In all else it is the
    one that it wraps."""

    def __init__(self, loader: Any, action: Action) -> None:
        self._loader = loader
        self._action = action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._action(module)
