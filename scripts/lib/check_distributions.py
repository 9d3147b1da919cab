"""Check the built files of gpunim before they are published: what they hold, and their metadata.

python -m scripts.lib.check_distributions CHECKOUT WHEEL SDIST
"""

import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Any

from scripts.lib.release import version_of

NEEDED = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "gpu_nim/__init__.py", "cuda/common.cuh")
_REFUSED = ("__pycache__", ".git", ".venv", "gpunim-stamp")


def contents(path: Path) -> dict[str, bytes]:
    """Return the files of a wheel or of an sdist, by name."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
    with tarfile.open(path) as sdist:
        files = {member.name: sdist.extractfile(member) for member in sdist.getmembers()}
        return {name: file.read() for name, file in files.items() if file is not None}


def faults(checkout: Path, wheel: Path, sdist: Path) -> Iterator[str]:
    """Yield what is wrong with the built files, one sentence each.

    Args:
        checkout: the folder they were built from.
        wheel: the wheel.
        sdist: the sdist.
    """
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = version_of(checkout)
    if wheel.name != f"gpunim-{version}-py3-none-any.whl" or sdist.name != f"gpunim-{version}.tar.gz":
        yield f"{wheel.name} and {sdist.name} are not named by gpunim and its version {version}"
        return
    of_wheel, of_sdist = contents(wheel), contents(sdist)
    for name in of_wheel | of_sdist:
        if set(PurePosixPath(name).parts) & set(_REFUSED):
            yield f"{name} does not belong in a built file"
    info, root = f"gpunim-{version}.dist-info", f"gpunim-{version}"
    for name in of_wheel:
        if PurePosixPath(name).parts[0] not in ("gpu_nim", info):
            yield f"{wheel.name} has {name}, which is outside of the package"
    for name in of_sdist:
        if name.startswith(f"{root}/tests/oeis/"):
            yield f"{sdist.name} has {name}, which is under a licence that the metadata do not name"
    for needed in NEEDED:
        if f"{root}/{needed}" not in of_sdist:
            yield f"{sdist.name} lacks {needed}"
    if of_wheel.get(f"{info}/METADATA") != of_sdist.get(f"{root}/PKG-INFO"):
        yield "the metadata of the wheel and of the sdist differ"
    for place, files, licences in (
        (f"{info}/METADATA", of_wheel, f"{info}/licenses"),
        (f"{root}/PKG-INFO", of_sdist, root),
    ):
        if place not in files:
            yield f"{place} is missing"
            continue
        yield from _of_metadata(message_from_bytes(files[place]), project, version)
        for licence in project["license-files"]:
            if f"{licences}/{licence}" not in files:
                yield f"{place} names the licence {licence}, which is missing"


def _of_metadata(metadata: Message, project: dict[str, Any], version: str) -> Iterator[str]:
    """What differs from pyproject.toml, or would be refused by an index."""
    expected = {
        "Name": [project["name"]],
        "Version": [version],
        "Summary": [project["description"]],
        "License-Expression": [project["license"]],
        "License-File": project["license-files"],
        "Requires-Python": [project["requires-python"]],
        "Description-Content-Type": ["text/markdown"],
        "Classifier": project["classifiers"],
        "Provides-Extra": list(project["optional-dependencies"]),
    }
    for field, values in expected.items():
        if sorted(metadata.get_all(field, [])) != sorted(values):
            yield f"{field} is {metadata.get_all(field, [])}, and pyproject.toml has {values}"
    required = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    if sorted(required) != sorted(each.replace(" ", "") for each in project["dependencies"]):
        yield f"Requires-Dist is {required}, and pyproject.toml has {project['dependencies']}"
    if len(project["description"]) > 512:
        yield "the summary has more than 512 characters"
    if not str(metadata.get_payload()).lstrip().startswith("# gpunim"):
        yield "the description is not the README"


if __name__ == "__main__":
    found = list(faults(*map(Path, sys.argv[1:])))
    for fault in found:
        print(f"check-package: {fault}", file=sys.stderr)
    sys.exit(bool(found))
