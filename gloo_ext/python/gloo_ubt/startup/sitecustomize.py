# SPDX-License-Identifier: Apache-2.0
"""Start-up code of a rank, if GLOO_UBT_BOUNDED=ddp: Python runs it before the
script. The launcher puts this folder into PYTHONPATH.

When the script imports torch, models get a process group of their own, and
that is bounded. Nothing else is."""
import importlib.machinery
import importlib.util
import os
import sys

# The folder may be a link, and so may this file.
_HERE = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))


def _run_the_next():
    """Runs the sitecustomize that this one hides, if there is one."""
    places = [os.path.realpath(path) for path in sys.path]
    if _HERE not in places:
        return
    after = places.index(_HERE) + 1
    others = [path for path, place in zip(sys.path[after:], places[after:])
              if place != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _bound_only_models(torch):
    """A training must not fail because of this."""
    try:
        if torch.distributed.is_available():
            import gloo_ubt

            gloo_ubt.bound_only_models()
    except Exception as error:  # whatever this torch lacks
        print(f"warning: GLOO_UBT_BOUNDED=ddp bounds nothing: {error!r}",
              file=sys.stderr)


def _prepare():
    # Not every Python of the job has the package. Those without a torch need
    # none.
    if (os.environ.get("GLOO_UBT_BOUNDED") != "ddp"
            or importlib.util.find_spec("torch") is None):
        return
    try:
        from gloo_ubt import imports
    except ImportError as error:
        print(f"warning: GLOO_UBT_BOUNDED=ddp bounds nothing, because "
              f"{sys.executable} has no gloo_ubt ({error}); install it there",
              file=sys.stderr)
        return
    imports.after("torch", _bound_only_models)


try:
    _prepare()
finally:
    _run_the_next()
