# SPDX-License-Identifier: Apache-2.0
"""How a script ends."""

import time

import torch.distributed as dist


def end():
    """Destroys the process group, when no thread of it has anything to do.

    A thread that drops a tensor wants the interpreter: where that is ending,
    PyTorch 2.13 ends the process by SIGABRT, and where the main thread, with
    the interpreter in hand, waits for that thread, 1.13 waits for ever.
    """
    time.sleep(0.5)
    dist.destroy_process_group()
