"""Optional packages, and the extras of pyproject.toml that bring them, as the metadata of the installed gpunim tells it."""

import re
from collections import Counter
from functools import cache

from gpu_nim.model.errors import MissingDependency

_OPTIONAL = re.compile(r"([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")


def missing(need: str, distribution: str, otherwise: str = "") -> MissingDependency:
    """Return the error for an optional package that is not installed.

    need: what needs which package, as a clause; distribution: the name under which the package is installed; otherwise: what helps
    as well, begun with a comma.

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
    """The extra for each optional package: the smallest that brings it.  Empty where gpunim runs from its source, not installed."""
    from importlib import metadata  # here, for its start-up time

    try:
        lines = metadata.requires("gpunim") or ()
    except metadata.PackageNotFoundError:
        return {}
    pairs = [(match[1], match[2]) for match in map(_OPTIONAL.match, lines) if match]
    sizes = Counter(extra for _, extra in pairs)
    return dict(sorted(pairs, key=lambda pair: -sizes[pair[1]]))
