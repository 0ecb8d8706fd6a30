# SPDX-License-Identifier: Apache-2.0
"""FSDP, because PyTorch implements its reduce_scatter by an allreduce; and
AVG."""

import json

import gloo_ubt
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

from ending import end

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
model = FullyShardedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(),
                        torch.nn.Linear(512, 256)),
    device_id=torch.device("cpu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(100 + rank)
losses = []
for _ in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(8, 256)).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
bounded = gloo_ubt.stats().get("bounded_ops", 0)

mean = torch.full((1 << 17,), float(rank))
dist.all_reduce(mean, op=dist.ReduceOp.AVG)
assert torch.all(mean == (size - 1) / 2), mean
averages = gloo_ubt.stats().get("bounded_ops", 0) - bounded
dist.barrier()
end()
print(json.dumps({"losses": losses, "bounded": bounded,
                  "averages": averages}), flush=True)
