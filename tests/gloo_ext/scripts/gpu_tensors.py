# SPDX-License-Identifier: Apache-2.0
"""Tensors on a GPU, which PyTorch's gloo stages through the host's memory."""

import json

import gloo_ubt
import torch
import torch.distributed as dist

from ending import end

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
for _ in range(3):
    tensor = torch.full((1 << 17,), float(rank + 1), device="cuda:0")
    dist.all_reduce(tensor)
    assert torch.all(tensor == size * (size + 1) / 2), tensor
bounded = gloo_ubt.stats()["bounded_ops"]
dist.barrier()
end()
print(json.dumps({"bounded": bounded}), flush=True)
