# SPDX-License-Identifier: Apache-2.0
"""Several process groups, threads, and repeated creation of one group."""

import json
import os
import sys
import threading

import gloo_ubt
import torch
import torch.distributed as dist

from ending import end

LARGE = 1 << 17
# Kept to the end. If torch 1.13's worker threads release a tensor last, they
# wait for the interpreter, which waits for them when a group is destroyed.
kept = []


def check(group=None, members=None):
    tensor = torch.full((LARGE,), float(dist.get_rank() + 1))
    kept.append(tensor)
    dist.all_reduce(tensor, group=group)
    members = range(dist.get_world_size()) if members is None else members
    assert torch.all(tensor == sum(rank + 1 for rank in members)), tensor


def begin(life):
    # Each has its own store: a store on a port could still be the previous
    # one's.
    dist.init_process_group(
        "gloo", init_method=f"file://{sys.argv[1]}/{life}",
        rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))


for life in range(3):
    begin(life)
    for _ in range(3):
        check()
    end()

begin("last")
rank, size = dist.get_rank(), dist.get_world_size()
pairs = [[first, first + 1] for first in range(0, size - 1, 2)]
groups = [dist.new_group(pair) for pair in pairs]
whole = dist.new_group(range(size))
for pair, group in zip(pairs, groups):
    if rank in pair:
        for _ in range(3):
            check(group, pair)
threads = [threading.Thread(target=lambda group=group: [
    check(group) for _ in range(10)]) for group in (None, whole)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

# Several at once on one context.
tensors = [torch.full((LARGE,), float(index)) for index in range(8)]
for work in [dist.all_reduce(tensor, async_op=True) for tensor in tensors]:
    work.wait()
assert all(torch.all(tensor == size * index)
           for index, tensor in enumerate(tensors))

before = gloo_ubt.stats()
gloo_ubt.exact(whole)
for _ in range(3):
    check(whole)
after = gloo_ubt.stats()
assert after["bounded_ops"] == before["bounded_ops"]
check()
assert gloo_ubt.stats()["bounded_ops"] == before["bounded_ops"] + 1
assert gloo_ubt.last()["bytes"] == 4 * LARGE

# Exact for a while.
before = gloo_ubt.stats()["bounded_ops"]
with gloo_ubt.exact():
    check()
    with gloo_ubt.exact():  # changes nothing
        check()
    check()
gloo_ubt.exact(check)()
with gloo_ubt.exact(whole):  # it is, and stays so
    check(whole)
check(whole)
assert gloo_ubt.stats()["bounded_ops"] == before
check()
assert gloo_ubt.stats()["bounded_ops"] == before + 1
try:
    with gloo_ubt.exact():
        raise KeyError
except KeyError:
    check()
assert gloo_ubt.stats()["bounded_ops"] == before + 1

model = torch.nn.Linear(30, 30)
gloo_ubt.resync(model)
weights = [torch.zeros_like(model.weight) for _ in range(size)]
dist.all_gather(weights, model.weight.data)
assert all(torch.equal(weights[0], other) for other in weights)
end()
print(json.dumps({"bounded": gloo_ubt.stats()["bounded_ops"]}), flush=True)
