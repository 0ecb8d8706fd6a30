# SPDX-License-Identifier: Apache-2.0
"""Jobs with ranks that end right after their last allreduce.

    ends.py WAY [JOBS] [SUMS] [LATE]

WAY is "return", "sys.exit", "os._exit", "exception", "multiprocessing" (like a
child of its fork context), or one of these after "destroy+": then the process
group is destroyed first. LATE: rank 0 waits for this many seconds before its
last three sums.

Forks three ranks for each job, and prints how many jobs did not end as
expected. With the library preloaded, 300 jobs of the default 25 sums:

    LD_PRELOAD=.../libgloo_ubt.so GLOO_ALGO=optireduce ends.py os._exit 300
"""

import collections
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist

SIZE = 3
LARGE = 1 << 20  # elements: 4 MB
LAST = 3
JOB_SECONDS_MAX = 120
# Exit statuses of a rank.
RAISED = 3
EXPECTED = {"exception": 1, "destroy+exception": 1}
WAYS = ("return", "sys.exit", "os._exit", "exception", "multiprocessing")
# Kept to the end. If torch's worker threads release a tensor last, they need
# the interpreter, which is ending at that time.
kept = []


def reduce(rank, folder, sums, late):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store",
                            rank=rank, world_size=SIZE)
    try:
        for number in range(sums):
            if late > 0 and rank == 0 and number == sums - LAST:
                time.sleep(late)
            tensor = torch.full((LARGE,), float(rank + 1))
            kept.append(tensor)
            dist.all_reduce(tensor)
    except RuntimeError as error:
        print(f"rank {rank}: {error}", file=sys.stderr, flush=True)
        os._exit(RAISED)


def exit_by_vfork():
    """A child that shares this process's memory calls _exit()."""
    try:
        subprocess.Popen(["/nowhere/to/be/found"], close_fds=True)
    except FileNotFoundError:
        return
    raise AssertionError("there is such a program")


def end(way):
    """Ends this rank, or returns if its caller should end it."""
    exit_by_vfork()
    how = way.rsplit("+", 1)[-1]
    if how != way:
        dist.destroy_process_group()
    if how == "os._exit":
        os._exit(0)
    if how == "sys.exit":
        sys.exit(0)
    if how == "exception":
        raise ValueError("the script has an error of its own")


def rank_of(way, rank, folder, sums, late):
    reduce(rank, folder, sums, late)
    end(way)


def wait(pids):
    """The exit statuses by rank; None for a rank that has to be killed."""
    statuses = {}
    deadline = time.monotonic() + JOB_SECONDS_MAX
    while len(statuses) < len(pids):
        for rank, pid in enumerate(pids):
            if rank not in statuses:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    statuses[rank] = os.waitstatus_to_exitcode(status)
                elif time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    statuses[rank] = None
        time.sleep(0.005)
    return [statuses[rank] for rank in range(len(pids))]


def main():
    way = sys.argv[1]
    assert way.rsplit("+", 1)[-1] in WAYS, way
    jobs, sums, late = (int(text) for text in
                        sys.argv[2:] + ["1", "25", "0"][len(sys.argv) - 2:])
    bad = collections.Counter()
    failed = 0
    start = time.monotonic()
    for _ in range(jobs):
        with tempfile.TemporaryDirectory() as folder:
            pids = []
            for rank in range(SIZE):
                if "multiprocessing" in way:
                    process = multiprocessing.get_context("fork").Process(
                        target=rank_of, args=(way, rank, folder, sums, late))
                    process.start()
                    pids.append(process.pid)
                    continue
                pid = os.fork()
                if pid == 0:
                    rank_of(way, rank, folder, sums, late)
                    return
                pids.append(pid)
            statuses = wait(pids)
        wrong = [status for status in statuses
                 if status != EXPECTED.get(way, 0)]
        failed += bool(wrong)
        bad.update(str(status) for status in wrong)
    print(json.dumps({"way": way, "jobs": jobs, "failed": failed,
                      "statuses": bad,
                      "seconds": round(time.monotonic() - start, 1)}),
          flush=True)


if __name__ == "__main__":
    main()
