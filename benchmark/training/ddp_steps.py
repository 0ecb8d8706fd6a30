# SPDX-License-Identifier: Apache-2.0
"""Steps of DistributedDataParallel with little to compute, in turns.

A turn begins with a line that names its number of steps, in the pipe rank<R>
of --turns; the end of the pipe ends the script. Rank 0 writes for each step the
milliseconds that it took there, a line each, to --log.
"""
import argparse
import os
import time

import torch
import torch.distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import data_parallel

_LAYERS, _WIDTH = 10, 810  # 6,569,100 weights and biases, 26 MB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", required=True, metavar="FOLDER")
    parser.add_argument("--log", required=True, metavar="FILE")
    arguments = parser.parse_args()
    data_parallel.join(seed=1)
    rank = torch.distributed.get_rank()
    model = DistributedDataParallel(
        nn.Sequential(*(nn.Linear(_WIDTH, _WIDTH) for _ in range(_LAYERS))))
    optimizer = torch.optim.SGD(model.parameters(), 0.001)
    inputs = torch.randn(4, _WIDTH)
    log = open(arguments.log, "w", encoding="utf-8") if rank == 0 else None
    with open(os.path.join(arguments.turns, f"rank{rank}"),
              encoding="utf-8") as turns:
        for turn in iter(turns.readline, ""):
            torch.distributed.barrier()
            for _ in range(int(turn)):
                began = time.monotonic()
                optimizer.zero_grad()
                model(inputs).square().mean().backward()
                optimizer.step()
                if log:
                    print(1000 * (time.monotonic() - began), file=log)
            if log:
                log.flush()
    data_parallel.leave()


if __name__ == "__main__":
    main()
