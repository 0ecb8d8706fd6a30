# SPDX-License-Identifier: Apache-2.0
"""DDP with this package's hook ("hook"; also "feedback" and "resync") or its
own ("plain"). Prints the distance between the replicas, before and after steps
that are all exact."""

import json
import sys

import gloo_ubt
import torch
import torch.distributed as dist

from ending import end

kind, steps = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512),
    torch.nn.ReLU(), torch.nn.Linear(512, 64))
# Several buckets; the first one takes a megabyte.
parallel = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.2)
if kind != "plain":
    gloo_ubt.register_hook(parallel, error_feedback=kind != "hook")
optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
torch.manual_seed(100 + rank)
zero_steps = skipped = 0


def step():
    global zero_steps, skipped
    inputs = torch.randint(-2, 3, (8, 128)).float()
    optimizer.zero_grad()
    parallel(inputs).square().mean().backward()
    zero_steps += not any(p.grad.any() for p in parallel.parameters())
    if gloo_ubt.skipped():
        skipped += 1
    optimizer.step()


def apart():
    """The largest difference between any two ranks' weights."""
    own = torch.nn.utils.parameters_to_vector(parallel.parameters()).detach()
    most, least = own.clone(), own.clone()
    dist.all_reduce(most, dist.ReduceOp.MAX)
    dist.all_reduce(least, dist.ReduceOp.MIN)
    return float((most - least).max())


for _ in range(steps):
    step()
before = apart()
if kind == "resync":
    gloo_ubt.resync(model)
gloo_ubt.exact()
for _ in range(3):
    step()
after = apart()
weights = [float(w) for w in torch.nn.utils.parameters_to_vector(
    parallel.parameters()).detach()[:200]]
stats = gloo_ubt.stats()
end()
print(json.dumps({
    "apart": before, "apart_after_exact_steps": after, "weights": weights,
    "zero_steps": zero_steps, "skipped": skipped, "stats": stats}), flush=True)
