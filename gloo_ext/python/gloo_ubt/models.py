# SPDX-License-Identifier: Apache-2.0
"""Bounds the gradients of models, and no other sum."""

from __future__ import annotations

import functools
import inspect
import os
import warnings
from typing import Any, Callable, Optional

import torch
import torch.distributed as dist

from gloo_ubt import choice, imports

_c10d = dist.distributed_c10d


def _only_models() -> bool:
    """Whether groups are exact unless they are chosen to be bounded."""
    return os.environ.get("GLOO_UBT_BOUNDED") == "ddp"


class _Groups:
    """Makes the script's process groups exact, and one more group for
    models, which stays bounded."""

    def __init__(self) -> None:
        self._init = dist.init_process_group
        self._new = dist.new_group
        self._timeout: Any = None  # the script's, of its default group
        self._models: Any = None
        self._default: Any = None  # the default group that _models belongs to

    def init_process_group(self, *args: Any, **kwargs: Any) -> None:
        self._init(*args, **kwargs)
        given = inspect.signature(self._init).bind(*args, **kwargs).arguments
        self._timeout = given.get("timeout")
        _make_exact(None)

    def new_group(self, *args: Any, **kwargs: Any) -> Any:
        group = self._new(*args, **kwargs)
        if group is not dist.GroupMember.NON_GROUP_MEMBER:
            _make_exact(group)
        return group

    def models(self) -> Any:
        """The models' group, of all ranks. A collective at the first call."""
        default = _c10d._get_default_group()
        if self._default is not default:
            self._models = self._new(
                **{} if self._timeout is None else {"timeout": self._timeout})
            self._default = default
            if _only_models() and _is_gloo(self._models):
                choice.choose(self._models, choice.BOUNDED)
        return self._models


_groups: Optional[_Groups] = None


def _is_gloo(group: Any) -> bool:
    config = getattr(_c10d, "get_backend_config", dist.get_backend)
    return "gloo" in str(config(group))


def _make_exact(group: Any) -> None:
    if not _only_models() and _is_gloo(group):
        choice.choose(group, choice.EXACT)


def _with_own_group(init: Callable[..., None]) -> Callable[..., None]:
    """A model's constructor that gives the model the models' group."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        if any(bound.arguments.get(name) is not None
               for name in ("process_group", "device_mesh")):
            warnings.warn("gloo_ubt: the script gave a model its process "
                          "group, so its gradients stay exact", stacklevel=2)
        else:
            assert _groups is not None
            bound.arguments["process_group"] = _groups.models()
        init(*bound.args, **bound.kwargs)

    return wrapped


def bound_only_models() -> None:
    """See gloo_ubt.bound_only_models()."""
    global _groups
    if _groups is not None:
        return
    if dist.is_initialized():
        raise RuntimeError("gloo_ubt.bound_only_models(): call it before "
                           "init_process_group()")
    _groups = _Groups()
    for module in (dist, _c10d):
        module.init_process_group = _groups.init_process_group
        module.new_group = _groups.new_group
    _give_own_group(torch.nn.parallel, "DistributedDataParallel")
    imports.after("torch.distributed.fsdp", lambda module: _give_own_group(
        module, "FullyShardedDataParallel"))


def _give_own_group(module: Any, name: str) -> None:
    kind = getattr(module, name)
    kind.__init__ = _with_own_group(kind.__init__)


def group_of(model: Any) -> Any:
    """The group that a model was made with, if it is the models' group; else
    None."""
    if _groups is None or model.process_group is not _groups._models:
        return None
    return _groups._models
