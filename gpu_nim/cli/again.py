"""Starting a command again when it has found that it needs an extra, by the script of the checkout, which installs it."""

import os
import sys

from gpu_nim.cli.output import say
from gpu_nim.model.errors import MissingDependency

_SCRIPT = "GPUNIM_SCRIPT"  # set by scripts/gpunim to itself
_MISSING = "GPUNIM_MISSING"  # read by scripts/lib/environment.sh: extras to install beside the user's choice


def start_again(error: MissingDependency) -> None:
    """Put this process in the hands of the script that started it, which installs the extra that is missing and runs it anew.

    Returns where no script started it, where no extra helps, and where the extra is installed and has not helped.
    """
    script = os.environ.get(_SCRIPT)
    tried = os.environ.get(_MISSING, "").split(",")
    if script is None or error.extra is None or error.extra in tried:
        return
    say(f"gpunim: {error}", err=True)
    sys.stdout.flush()
    extras = ",".join([*filter(None, tried), error.extra])
    os.execve(script, [script, *sys.argv[1:]], {**os.environ, _MISSING: extras})
