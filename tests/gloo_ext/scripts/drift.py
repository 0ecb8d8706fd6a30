# SPDX-License-Identifier: Apache-2.0
"""500 steps of DDP; replicas must remain equal bit for bit."""

import hashlib
import json

import gloo_ubt
import torch
import torch.distributed as dist

from ending import end

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(),
                            torch.nn.Linear(512, 10))
parallel = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05)
torch.manual_seed(100 + rank)
for step in range(500):
    inputs = torch.randn(8, 256)
    labels = (inputs[:, 0] > 0).long()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(parallel(inputs), labels).backward()
    optimizer.step()
digest = hashlib.sha256(b"".join(
    parameter.detach().numpy().tobytes() for parameter in model.parameters()))
stats = gloo_ubt.stats()
end()
print(json.dumps({"digest": digest.hexdigest(), "stats": stats}), flush=True)
