"""Restarting a command that needs an extra, by the script of the checkout, which installs the extra."""

import os
import sys

from gpu_nim.cli.output import say
from gpu_nim.model.errors import MissingDependency

SCRIPT = "GPUNIM_SCRIPT"  # set by scripts/gpunim to its own path
_MISSING = "GPUNIM_MISSING"  # read by scripts/lib/environment.sh: extras to install beside the user's choice


def restart(error: MissingDependency) -> None:
    """Replace this process by the script that started it, which installs the missing extra and runs the command again.

    Returns if no script started it, if no extra has the dependency, or if the extra is already installed.
    """
    script = os.environ.get(SCRIPT)
    tried = os.environ.get(_MISSING, "").split(",")
    if script is None or error.extra is None or error.extra in tried:
        return
    say(f"gpunim: {error}", err=True)
    sys.stdout.flush()
    extras = ",".join([*filter(None, tried), error.extra])
    os.execve(script, [script, *sys.argv[1:]], {**os.environ, _MISSING: extras})
