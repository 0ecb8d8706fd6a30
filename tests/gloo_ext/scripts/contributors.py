# SPDX-License-Identifier: Apache-2.0
"""Sums of which every element tells whose contributions it holds."""

import hashlib
import json

import gloo_ubt
import torch
import torch.distributed as dist

from ending import end

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
digest = hashlib.sha256()
missing = 0


def contributors(value):
    """How many sum to this value: each contributes the power of two of its
    rank, and a sum of c is scaled by size / c."""
    for count in range(1, size + 1):
        whole = round(value * count / size)
        if (abs(whole * size / count - value) < 1e-4
                and bin(whole).count("1") == count):
            return count
    assert value == 0, value
    return 0


for _ in range(30):
    tensor = torch.full((1 << 17,), float(2 ** rank))
    dist.all_reduce(tensor)
    digest.update(tensor.numpy().tobytes())
    values, counts = tensor.unique(return_counts=True)
    missing += sum((size - contributors(value)) * count
                   for value, count in zip(values.tolist(), counts.tolist()))
stats = gloo_ubt.stats()
end()
print(json.dumps({"sums": digest.hexdigest(), "missing": missing,
                  "reported": stats["pairs_missing"],
                  "drift_elements": stats["drift_elements"]}), flush=True)
