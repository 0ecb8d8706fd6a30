# SPDX-License-Identifier: Apache-2.0
"""Start-up code of a rank, if GLOO_UBT_BOUNDED=ddp: Python runs it before the
script. The launcher puts this folder into PYTHONPATH.

When the script imports torch, models get a process group of their own, and
that is bounded. Nothing else is."""
import importlib.machinery
import importlib.util
import os
import sys


def _run_the_other():
    """Runs the sitecustomize that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _bound_only_models(_):
    import gloo_ubt

    gloo_ubt.bound_only_models()


def _prepare():
    if os.environ.get("GLOO_UBT_BOUNDED") != "ddp":
        return
    try:
        from gloo_ubt import imports
    except ImportError:
        print(f"warning: {sys.executable} has no gloo_ubt, so "
              "GLOO_UBT_BOUNDED=ddp bounds nothing; install it there",
              file=sys.stderr)
        return
    imports.after("torch", _bound_only_models)


_prepare()
_run_the_other()
