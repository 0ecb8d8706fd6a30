# SPDX-License-Identifier: Apache-2.0
"""Bounds the gradients of models, and no other sum."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any, Callable, Optional

import torch
import torch.distributed as dist

_c10d = dist.distributed_c10d


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
        return self._models


_groups: Optional[_Groups] = None


def _make_exact(group: Any) -> None:
    import gloo_ubt

    config = getattr(_c10d, "get_backend_config", dist.get_backend)
    if "gloo" in str(config(group)):
        gloo_ubt.exact(group)


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
    kinds = [torch.nn.parallel.DistributedDataParallel]
    try:
        from torch.distributed.fsdp import FullyShardedDataParallel
        kinds.append(FullyShardedDataParallel)
    except (ImportError, ValueError):  # torch 1.13's needs an older Python
        pass
    for kind in kinds:
        kind.__init__ = _with_own_group(kind.__init__)


def group_of(model: Any) -> Any:
    """The group that a model was made with, if it is the models' group; else
    None."""
    if _groups is None or model.process_group is not _groups._models:
        return None
    return _groups._models
