# SPDX-License-Identifier: Apache-2.0
"""Features of PyTorch that sit on top of allreduce. Prints what each gave, the
same over plain Gloo as over bounded sums that lack nothing, and how many sums
were bounded."""

import contextlib
import datetime
import json

import gloo_ubt
import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from ending import end

said = {}
# Kept to the end. If torch 1.13's worker threads release a tensor last, they
# wait for the interpreter, which waits for them when a group is destroyed.
kept = []


def note(name, run):
    """Notes the numbers that `run` returns, and its bounded sums."""
    before = gloo_ubt.stats().get("bounded_ops", 0)
    values = run()
    said[name] = {"values": values, "bounded":
                  gloo_ubt.stats().get("bounded_ops", 0) - before}


def model(**options):
    torch.manual_seed(1)
    made = DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 8)),
        **options)
    kept.append(made)
    return made


def batch(step):
    generator = torch.Generator().manual_seed(100 * dist.get_rank() + step)
    return torch.randn(16, 64, generator=generator)


def weights(trained):
    return [parameter.double().sum().item()
            for parameter in trained.parameters()]


def train(trained, optimizer, steps):
    for step in range(steps):
        optimizer.zero_grad()
        trained(batch(step)).square().mean().backward()
        optimizer.step()


def static_graph():
    trained = model(static_graph=True)
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
    train(trained, optimizer, 4)
    return weights(trained)


def accumulation():
    trained = model()
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
    for step in range(4):
        last = step % 2 == 1
        with contextlib.nullcontext() if last else trained.no_sync():
            trained(batch(step)).square().mean().backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    return weights(trained)


def uneven_inputs():
    trained = model()
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
    with trained.join():
        train(trained, optimizer, 2 + 2 * dist.get_rank())
    return weights(trained)


def zero_optimizer():
    trained = model()
    optimizer = ZeroRedundancyOptimizer(
        trained.parameters(), optimizer_class=torch.optim.SGD, lr=0.1,
        momentum=0.9)
    train(trained, optimizer, 4)
    return weights(trained)


def scaler():
    trained = model()
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
    scaling = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for step in range(4):
        optimizer.zero_grad()
        loss = trained(batch(step)).square().mean()
        scaling.scale(loss).backward()
        scaling.step(optimizer)
        scaling.update()
    return weights(trained)


def monitored_barrier():
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=30))
    return []


def reduce_scatter():
    size = dist.get_world_size()
    part = torch.zeros(1 << 12)
    dist.reduce_scatter_tensor(part, torch.ones(size << 12) * dist.get_rank())
    return [part.sum().item()]


def profiler():
    with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        tensor = torch.ones(1 << 12)
        dist.all_reduce(tensor)
    kept.append(tensor)
    names = [event.key for event in profile.key_averages()]
    said["bounded range"] = "gloo_ubt::bounded_allreduce" in names
    return [any("all_reduce" in name or "allreduce" in name
                for name in names if "bounded" not in name)]


def flight_recorder():
    dump = getattr(torch._C._distributed_c10d, "_dump_fr_trace_json", None)
    if dump is None:  # torch 1.13
        return []
    return [sum("all_reduce" in entry["profiling_name"]
                for entry in json.loads(dump())["entries"])]


dist.init_process_group("gloo")
for run in (static_graph, accumulation, uneven_inputs, zero_optimizer,
            monitored_barrier, profiler, flight_recorder):
    note(run.__name__, run)
if not torch.__version__.startswith("1."):  # 1.13 has neither for gloo on CPUs
    for run in (scaler, reduce_scatter):
        note(run.__name__, run)
dist.barrier()
end()
print(json.dumps(said), flush=True)
