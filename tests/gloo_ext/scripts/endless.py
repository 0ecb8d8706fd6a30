# SPDX-License-Identifier: Apache-2.0
"""Reduces until an error occurs; prints the error and its time."""

import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

timeout = float(sys.argv[1]) if len(sys.argv) > 1 else 60
dist.init_process_group(
    "gloo", timeout=datetime.timedelta(seconds=timeout))
dist.barrier()  # from here on every rank has begun
tensor = torch.ones(1 << 18)
try:
    count = 0
    while True:
        dist.all_reduce(tensor)
        tensor.fill_(1)
        count += 1
        if count == 30:
            print("going", flush=True)
except RuntimeError as error:
    print(f"raised at {time.monotonic()}: {error}", flush=True)
    os._exit(3)  # a broken group may hang torch at its end
