# SPDX-License-Identifier: Apache-2.0
"""The divergence of models that should be equal on all ranks."""
import math
from collections.abc import Iterable, Sequence

import torch
import torch.distributed
from torch import Tensor, nn


def divergence(model: nn.Module) -> float:
    """The maximum over ranks r of |p_r - m| / |m|. p_r is the vector of all
    parameters, m the ranks' mean, |.| the Euclidean length. 0 if all ranks are
    bitwise equal.

    A collective, with the same result on all ranks. Exact: it adds up an
    allgather's data in float64 and needs no sum over ranks.
    """
    return divergence_of(map(_of_all_ranks, model.parameters()))


def _of_all_ranks(parameter: Tensor) -> Sequence[Tensor]:
    own = parameter.detach().contiguous()
    all_ranks = [torch.empty_like(own)
                 for _ in range(torch.distributed.get_world_size())]
    torch.distributed.all_gather(all_ranks, own)
    return all_ranks


def divergence_of(parameters: Iterable[Sequence[Tensor]]) -> float:
    """The same, of each parameter's values on all ranks."""
    from_mean: Tensor | float = 0.0  # squares, by rank
    of_mean = 0.0
    with torch.no_grad():
        for all_ranks in parameters:
            # Uses differences from one rank, because the mean of equal values
            # may differ from them by rounding.
            first = all_ranks[0].double()
            apart = torch.stack([one.double() - first for one in all_ranks])
            mean = apart.mean(0)
            from_mean = from_mean + (apart - mean).square().flatten(1).sum(1)
            of_mean += float((first + mean).square().sum())
    return math.sqrt(float(from_mean.max()) / of_mean) if of_mean else 0.0
