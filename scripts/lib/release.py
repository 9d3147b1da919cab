"""What keeps a checkout from being released: a version that is not the same everywhere, or changes that are not committed.

python -m scripts.lib.release CHECKOUT
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def version_of(checkout: Path) -> str:
    """Return the version of the package."""
    return _first(checkout / "gpu_nim" / "_version.py", r'^__version__ = "(.*)"$')


def obstacles(checkout: Path) -> Iterator[str]:
    """Yield what has to be done before the release, one sentence each."""
    version = version_of(checkout)
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"gpu_nim/_version.py must have a version such as 1.2.3, got {version}"
    heading = _first(checkout / "CHANGELOG.md", r"^## (.*)$")
    released = re.fullmatch(rf"\[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)", heading)
    if released is None:
        yield f"the first section of CHANGELOG.md must be [{version}] - YEAR-MONTH-DAY, got {heading}"
    for file, pattern, expected in (
        ("CITATION.cff", r"^version: (.*)$", version),
        ("CITATION.cff", r"^date-released: (.*)$", released and released[1]),
        ("recipe/recipe.yaml", r'^  version: "(.*)"$', version),
    ):
        found = _first(checkout / file, pattern)
        if expected is not None and found != expected:
            yield f"{file} must have {expected}, got {found or 'none'}"
    if changes := _git(checkout, "status", "--porcelain"):
        yield f"all changes must be committed, got {len(changes.splitlines())} files that are not"
    if _git(checkout, "tag", "--list", f"v{version}"):
        yield f"the tag v{version} must be new"


def _first(path: Path, pattern: str) -> str:
    """What the pattern finds first in a file, or ""."""
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def _git(checkout: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", checkout, *words], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    found = list(obstacles(Path(sys.argv[1])))
    for obstacle in found:
        print(f"release: {obstacle}", file=sys.stderr)
    if not found:
        print(version_of(Path(sys.argv[1])))
    sys.exit(bool(found))
