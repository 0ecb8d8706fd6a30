# SPDX-License-Identifier: Apache-2.0
"""How far ranks' models are apart that should be the same."""
import math

import torch
import torch.distributed
from torch import nn


def divergence(model: nn.Module) -> float:
    """The largest over ranks r of |p_r - m| / |m|: p_r all its parameters as
    one vector, m the ranks' mean, both lengths Euclidean. 0 where all are the
    same, bit for bit.

    A collective, the same on all ranks. Exact: it adds up in float64 what an
    allgather brings, and asks for no sum over ranks.
    """
    size = torch.distributed.get_world_size()
    from_mean = torch.zeros(size, dtype=torch.float64)  # squares, by rank
    of_mean = 0.0
    with torch.no_grad():
        for parameter in model.parameters():
            own = parameter.detach().contiguous()
            all_ranks = [torch.empty_like(own) for _ in range(size)]
            torch.distributed.all_gather(all_ranks, own)
            # Of differences from one rank: a mean of equals is not always
            # equal to them.
            first = all_ranks[0].double()
            apart = torch.stack([one.double() - first for one in all_ranks])
            mean = apart.mean(0)
            from_mean += (apart - mean).square().flatten(1).sum(1)
            of_mean += float((first + mean).square().sum())
    most = float(from_mean.max())
    return math.sqrt(most / of_mean) if of_mean else 0.0
