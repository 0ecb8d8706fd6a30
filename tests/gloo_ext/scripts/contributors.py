# SPDX-License-Identifier: Apache-2.0
"""Sums whose elements, or coefficients if they are transformed, show which
contributions they contain."""

import hashlib
import json
import os

import gloo_ubt
import torch
import torch.distributed as dist

import hadamard
from ending import end

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
transforms = os.environ["GLOO_UBT_HADAMARD"] == "on"
digest = hashlib.sha256()
missing = 0
ELEMENTS = 1 << 17
SHARD = ELEMENTS // size
assert SHARD * size == ELEMENTS


def contributors(value):
    """The number of contributors to this value. Each contributes two to the
    power of its rank, and a sum of c is scaled by size / c."""
    for count in range(1, size + 1):
        whole = round(value * count / size)
        if (abs(whole * size / count - value) < 1e-4
                and bin(whole).count("1") == count):
            return count
    assert abs(value) < 1e-4, value
    return 0


def missing_in(values):
    """The number of (contributor, value) pairs that are missing."""
    values, counts = values.unique(return_counts=True)
    return sum((size - contributors(value)) * count
               for value, count in zip(values.tolist(), counts.tolist()))


def input_of_ones():
    """The common factor of all contributions: ones or, for transformed shards,
    values with coefficients of one or minus one."""
    if not transforms:
        return torch.ones(ELEMENTS)
    shard = torch.ones(SHARD)  # elements in no block stay ones
    for begin, columns in hadamard.matrices(SHARD):
        shard[begin:begin + columns] = 8
        shard[begin + columns:begin + hadamard.ROWS * columns] = 0
    return shard.repeat(size)


def coefficients(result, report):
    """The coefficients of all shards, divided by those of an input of ones."""
    for shard in range(size):
        begin = shard * SHARD
        seed = hadamard.seed_of(report, shard)
        ones = hadamard.forward(inputs[begin:begin + SHARD], seed)
        assert torch.equal(ones.abs(), torch.ones_like(ones))
        yield hadamard.forward(result[begin:begin + SHARD], seed) / ones


inputs = input_of_ones()
results = []
for _ in range(30):
    tensor = inputs * float(2 ** rank)
    dist.all_reduce(tensor)
    results.append((tensor, gloo_ubt.last()))
# After all calls, because a rank that takes longer between calls is late.
for tensor, report in results:
    digest.update(tensor.numpy().tobytes())
    assert report["transformed_shards"] == (size if transforms else 0), report
    if transforms:
        for values in coefficients(tensor, report):
            # Rounds, because rounding errors would make each value distinct.
            missing += missing_in((values * 1e4).round() / 1e4)
    else:
        missing += missing_in(tensor)
stats = gloo_ubt.stats()
end()
print(json.dumps({"sums": digest.hexdigest(), "missing": missing,
                  "reported": stats["pairs_missing"],
                  "drift_elements": stats["drift_elements"]}), flush=True)
