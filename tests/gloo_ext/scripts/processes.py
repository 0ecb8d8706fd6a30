# SPDX-License-Identifier: Apache-2.0
"""Forked and spawned children that reduce after their parents have reduced."""

import json
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

from ending import end

LARGE = 1 << 17
# Kept to the end. If torch 1.13's worker threads release a tensor last, they
# wait for the interpreter, which waits for them when a group is destroyed.
kept = []


def reduce(rank, size, folder, name):
    dist.init_process_group("gloo", init_method=f"file://{folder}/{name}",
                            rank=rank, world_size=size)
    for _ in range(3):
        tensor = torch.full((LARGE,), float(rank + 1))
        kept.append(tensor)
        dist.all_reduce(tensor)
        assert torch.all(tensor == size * (size + 1) / 2)
    end()


if __name__ == "__main__":
    folder, start = sys.argv[1], sys.argv[2]
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    reduce(rank, size, folder, "parents")
    child = multiprocessing.get_context(start).Process(
        target=reduce, args=(rank, size, folder, "children"))
    child.start()
    child.join()
    assert child.exitcode == 0, child.exitcode
    reduce(rank, size, folder, "parents again")
    print(json.dumps({"ended": True}), flush=True)
