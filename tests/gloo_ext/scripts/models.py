# SPDX-License-Identifier: Apache-2.0
"""Only models are bounded. Prints what was bounded, by kind of sum."""

import json
import sys
import warnings

import gloo_ubt
import torch

if "startup" not in sys.argv:  # then the launcher's code did it
    gloo_ubt.bound_only_models()
    gloo_ubt.bound_only_models()  # a second call changes nothing

import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

from ending import end  # noqa: E402

SUMS = 30  # the first 20 of a size class are exact
said = {}


def bounded(name, function):
    """Notes how many sums of the function's were bounded."""
    before = gloo_ubt.stats().get("bounded_ops", 0)
    function()
    said[name] = gloo_ubt.stats().get("bounded_ops", 0) - before


def all_reduces(group):
    def run():
        for _ in range(SUMS):
            tensor = torch.ones(1 << 17)
            dist.all_reduce(tensor, group=group)
            assert torch.all(tensor == dist.get_world_size())
    return run


def train(model):
    def run():
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(SUMS):
            optimizer.zero_grad()
            model(torch.ones(4, 512)).square().mean().backward()
            optimizer.step()
    return run


def linear():
    torch.manual_seed(1)
    return torch.nn.Linear(512, 512)


dist.init_process_group("gloo")
bounded("default group", all_reduces(None))
own = dist.new_group()
bounded("new group", all_reduces(own))
model = DistributedDataParallel(linear())
if "hook" in sys.argv:
    gloo_ubt.register_hook(model)
bounded("ddp", train(model))
bounded("second ddp", train(DistributedDataParallel(linear())))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = DistributedDataParallel(linear(), process_group=own)
said["warnings"] = sum("gradients stay exact" in str(each.message)
                       for each in caught)
bounded("ddp with a group", train(model))
if "fsdp" in sys.argv:
    from torch.distributed.fsdp import FullyShardedDataParallel

    bounded("fsdp", train(FullyShardedDataParallel(
        linear(), device_id=torch.device("cpu"))))
bounded("default group again", all_reduces(None))
dist.barrier()
end()
print(json.dumps(said), flush=True)
