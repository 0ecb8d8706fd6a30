# SPDX-License-Identifier: Apache-2.0
"""Gloo's collectives that a training may use, other than large sums. Prints
digests."""

import hashlib
import json

import torch
import torch.distributed as dist

from ending import end

# Kept to the end. If torch 1.13's worker threads release a tensor last, they
# wait for the interpreter, which waits for them when a group is destroyed.
kept = []


def digest(tensor):
    kept.append(tensor)
    return hashlib.sha256(tensor.contiguous().view(-1).numpy().tobytes()
                          ).hexdigest()[:16]


dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
results = {}


def reduce(name, tensor, op=dist.ReduceOp.SUM):
    dist.all_reduce(tensor, op=op)
    results[name] = digest(tensor)


large = 1 << 18
reduce("integers", torch.randint(-1000, 1000, (large,)))
reduce("bytes", torch.randint(0, 3, (large,), dtype=torch.uint8))
reduce("maximum", torch.randn(large), dist.ReduceOp.MAX)
reduce("minimum", torch.randn(large, dtype=torch.float64), dist.ReduceOp.MIN)
reduce("product", torch.randn(large), dist.ReduceOp.PRODUCT)
reduce("small", torch.randn(100))
reduce("one", torch.randn(1))
# Sums of these are exact in any order.
reduce("large", torch.randint(-100, 100, (large,)).float())
reduce("double", torch.randint(-100, 100, (large,)).double())
reduce("half", torch.randint(-100, 100, (large,)).half())
reduce("two dimensions", torch.randint(-9, 9, (512, 600)).float())

strided = torch.randint(-9, 9, (1024, 1024)).float()[:, ::2]
try:
    reduce("strided", strided)
except RuntimeError as error:
    results["strided"] = str(error).split("\n")[0][:60]

try:
    reduce("average", torch.randint(-9, 9, (large,)).float() * size,
           dist.ReduceOp.AVG)
except (RuntimeError, ValueError) as error:
    results["average"] = str(error).split("\n")[0][:60]

sparse = torch.sparse_coo_tensor([[rank, size]], [1.0, 2.0], (size + 1,))
try:
    kept.append(sparse)
    dist.all_reduce(sparse)
    results["sparse"] = digest(sparse.to_dense())
except RuntimeError as error:
    results["sparse"] = str(error).split("\n")[0][:60]

shared = torch.randn(large) if rank == 0 else torch.zeros(large)
dist.broadcast(shared, 0)
results["broadcast"] = digest(shared)
parts = [torch.zeros(large) for _ in range(size)]
dist.all_gather(parts, torch.full((large,), float(rank)))
results["all_gather"] = digest(torch.cat(parts))
dist.barrier()
if hasattr(dist, "reduce_scatter_tensor"):
    try:
        part = torch.zeros(large)
        kept.append(torch.randint(-9, 9, (large * size,)).float())
        dist.reduce_scatter_tensor(part, kept[-1])
        results["reduce_scatter"] = digest(part)
    except RuntimeError as error:
        results["reduce_scatter"] = str(error).split("\n")[0][:60]
for name, make in (("bfloat16", lambda: torch.randint(
        -9, 9, (large,)).to(torch.bfloat16)),):
    try:
        tensor = make()
        dist.all_reduce(tensor)
        kept.append(tensor)
        results[name] = digest(tensor.float())
    except RuntimeError as error:
        results[name] = str(error).split("\n")[0][:60]
end()
print(json.dumps(results), flush=True)
