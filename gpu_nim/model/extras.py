"""Optional packages, and the extras of pyproject.toml that install them, by the metadata of the installed gpunim."""

import re
from collections import Counter
from functools import cache

from gpu_nim.model.errors import MissingDependency

_OPTIONAL = re.compile(r"([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")


def missing(need: str, distribution: str, otherwise: str = "") -> MissingDependency:
    """Return the error for an optional package that is not installed.

    Args:
        need: what needs which package, as a clause.
        distribution: the name that the package is installed by.
        otherwise: an alternative, beginning with a comma.

    >>> error = missing("plots need matplotlib", "matplotlib")
    >>> str(error), error.extra
    ("plots need matplotlib: install the extra plot (pip install '.[plot]' in the checkout)", 'plot')
    """
    extra = _extras().get(distribution)
    if extra is None:
        return MissingDependency(f"{need}, which is not installed{otherwise}")
    return MissingDependency(f"{need}: install the extra {extra} (pip install '.[{extra}]' in the checkout){otherwise}", extra)


@cache
def _extras() -> dict[str, str]:
    """The smallest extra that installs each optional package.  Empty where gpunim runs from its source, not installed."""
    from importlib import metadata  # here, for its start-up time

    try:
        lines = metadata.requires("gpunim") or ()
    except metadata.PackageNotFoundError:
        return {}
    pairs = [(match[1], match[2]) for match in map(_OPTIONAL.match, lines) if match]
    sizes = Counter(extra for _, extra in pairs)
    return dict(sorted(pairs, key=lambda pair: -sizes[pair[1]]))
