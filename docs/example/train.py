# SPDX-License-Identifier: Apache-2.0
"""A small training with DistributedDataParallel. Nothing in it knows of the
bounded allreduce (docs/first_steps.md)."""
import socket

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
print(f"rank {rank} of {dist.get_world_size()} on {socket.gethostname()}")
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Sequential(
    torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(1, 101):
    inputs = torch.randn(64, 256)
    loss = (model(inputs) - inputs).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 25 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
dist.destroy_process_group()
