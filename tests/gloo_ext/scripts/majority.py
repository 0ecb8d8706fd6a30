# SPDX-License-Identifier: Apache-2.0
"""Sums other than gradients, on ranks that enter a few milliseconds apart.

    majority.py PROGRAM [RUNS] [--exact]

PROGRAM is "bursts" (six bursts of asynchronous sums), "threads" (two threads,
each with a process group), "fork" (an allreduce after os.fork() for another
purpose) or "dtensor" (DTensor's Partial to Replicate). --exact keeps every
group exact by gloo_ubt.exact().

Forks three ranks for each run. Rank r contributes 2 ** r, so that a sum shows
its contributors. Prints how many sums had all ranks, a majority, or less.
"""

import collections
import json
import os
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist

import gloo_ubt

SIZE = 3
ELEMENTS = 1 << 17  # 512 KiB
BURSTS = 6
SUMS = 40
# A sum is rescaled by SIZE / contributors.
CONTRIBUTORS = {SIZE / bin(ranks).count("1") * ranks: bin(ranks).count("1")
                for ranks in range(1, 1 << SIZE)}
CONTRIBUTORS[0.0] = 0


def contribution(rank):
    return torch.full((ELEMENTS,), float(1 << rank))


def held(tensor):
    """The least number of contributors in any slot of a sum."""
    return min(CONTRIBUTORS.get(value, -1)
               for value in torch.unique(tensor).tolist())


def burst(rank, group, start, sums=SUMS):
    """Enters all sums of a rank together, 5 ms later than the previous
    rank."""
    time.sleep(max(0.0, start + 0.005 * rank - time.monotonic()))
    tensors = [contribution(rank) for _ in range(sums)]
    works = [dist.all_reduce(tensor, group=group, async_op=True)
             for tensor in tensors]
    for work in works:
        work.wait()
    return [held(tensor) for tensor in tensors]


def apart(rank, group=None):
    """A reference time that all ranks share."""
    dist.barrier(group=group)
    return time.monotonic() + 0.01


def bursts(rank, new_group):
    group = new_group()
    counts = []
    for _ in range(BURSTS):
        counts += burst(rank, group, apart(rank))
    return counts


def threads(rank, new_group):
    groups = [new_group(), new_group()]
    start = apart(rank)
    counts = [[], []]

    def run(index):
        for number in range(BURSTS):
            counts[index] += burst(rank, groups[index], start + number * 0.2,
                                   SUMS // 4)

    running = [threading.Thread(target=run, args=(index,)) for index in (0, 1)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return counts[0] + counts[1]


def fork(rank, new_group):
    group = new_group()
    counts = burst(rank, group, apart(rank))
    if os.fork() == 0:
        os._exit(0)
    for _ in range(BURSTS - 1):
        counts += burst(rank, group, apart(rank))
    return counts


def dtensor(rank, new_group):
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor, Partial, Replicate
    mesh = DeviceMesh.from_group(new_group(), "cpu")
    counts = []
    for _ in range(BURSTS):
        start = apart(rank)
        time.sleep(max(0.0, start + 0.005 * rank - time.monotonic()))
        for _ in range(SUMS):
            part = DTensor.from_local(contribution(rank), mesh, [Partial()],
                                      run_check=False)
            whole = part.redistribute(mesh, [Replicate()])
            counts.append(held(whole.to_local()))
    return counts


PROGRAMS = {"bursts": bursts, "threads": threads, "fork": fork,
            "dtensor": dtensor}


def rank_of(program, rank, folder, exact):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store",
                            rank=rank, world_size=SIZE)

    def new_group():
        group = dist.new_group(list(range(SIZE)))
        if exact:
            gloo_ubt.exact(group)
        return group

    counts = PROGRAMS[program](rank, new_group)
    with open(f"{folder}/{rank}", "w", encoding="utf-8") as out:
        json.dump(counts, out)
    dist.destroy_process_group()


def main():
    exact = "--exact" in sys.argv
    arguments = [text for text in sys.argv[1:] if text != "--exact"]
    program = arguments[0]
    assert program in PROGRAMS, program
    runs = int(arguments[1]) if len(arguments) > 1 else 1
    total = collections.Counter()
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            pids = []
            for rank in range(SIZE):
                pid = os.fork()
                if pid == 0:
                    rank_of(program, rank, folder, exact)
                    os._exit(0)
                pids.append(pid)
            for pid in pids:
                os.waitpid(pid, 0)
            for rank in range(SIZE):
                with open(f"{folder}/{rank}", encoding="utf-8") as counts:
                    total.update(json.load(counts))
    print(json.dumps({
        "program": program, "runs": runs, "sums": sum(total.values()),
        "whole": total[SIZE],
        "majority": sum(n for held_, n in total.items()
                        if SIZE // 2 < held_ < SIZE),
        "less": sum(n for held_, n in total.items() if held_ <= SIZE // 2)}),
          flush=True)


if __name__ == "__main__":
    main()
