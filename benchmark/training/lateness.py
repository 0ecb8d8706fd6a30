# SPDX-License-Identifier: Apache-2.0
"""Ranks that compute longer in some steps (--late)."""
import argparse
import random

# Each time another rank except 0, whose clock counts; or each rank for itself.
_ANY, _EACH = "any", "each"

Late = tuple[int | str, float, float]  # who, share of the steps, seconds


def parse(text: str) -> Late:
    try:
        rank, share, seconds = text.split(",")
        return (rank if rank in (_ANY, _EACH) else int(rank), float(share),
                float(seconds))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not as 3,0.1,0.3: rank (or {_ANY} or {_EACH}), "
            "share, seconds"
            ) from None


class Lateness:
    """How much longer one rank computes, step by step."""

    def __init__(self, late: Late | None, seed: int, rank: int,
                 size: int) -> None:
        """`late`: of parse(); None: no rank is late."""
        self._who, self._share, self._seconds = late or (-1, 0.0, 0.0)
        self._rank = rank
        self._size = size
        # All ranks draw the same one, or each draws for itself.
        self._random = random.Random(f"{seed} {rank}" if self._who == _EACH
                                     else seed)

    def next(self) -> float:
        """Seconds, for the next step."""
        return self._seconds if self._late() == self._rank else 0.0

    def _late(self) -> int | str | None:
        if self._random.random() >= self._share:
            return None
        if self._who == _EACH:
            return self._rank
        if self._who == _ANY:
            return (self._random.randrange(1, self._size) if self._size > 1
                    else None)
        return self._who
