# SPDX-License-Identifier: Apache-2.0
"""Collects the workers' reports until the workers have ended."""
from .in_lab import Accounts
from .processes import Workers
from .progress import Progress


def collect(workers: Workers, per_size: int, accounts: Accounts | None,
            progress: Progress) -> list[tuple[dict, list[float] | None]]:
    """Returns (row, samples in microseconds) in the order of measurement,
    `per_size` rows for each size. In a lab, `accounts` adds fields to the
    rows."""
    results = []
    for event in workers.events():
        if event["event"] == "connected":
            progress.connected()
        elif event["event"] == "progress":
            progress.take(event, len(results) // per_size)
        elif event["event"] == "turn":
            assert accounts is not None
            accounts.take(event)
            workers.go_on()
        elif event["event"] == "row":
            row = event["row"]
            if accounts:
                row |= accounts.close(row["algorithm"])
            results.append((row, event.get("samples_us")))
    return results
