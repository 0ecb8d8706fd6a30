# SPDX-License-Identifier: Apache-2.0
"""The end of a script."""

import time

import torch.distributed as dist


def end():
    """Destroys the process group after its threads have finished.

    A thread that releases a tensor needs the interpreter. If the interpreter
    is ending, PyTorch 2.13 ends the process by SIGABRT. If the main thread
    holds the interpreter and waits for that thread, 1.13 waits forever.
    """
    time.sleep(0.5)
    dist.destroy_process_group()
