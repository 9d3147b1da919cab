"""Packages with plug-ins, as pip installs them: modules in a folder, and beside them the entry points of their pyproject.toml."""

import shutil
import tomllib
from pathlib import Path

ZOO = Path(__file__).parents[1] / "docs" / "tutorials" / "plug-in"


def installed(project: Path, site: Path) -> Path:
    """Install the packages of a project into a folder, without its build backend, and return the folder."""
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in project.glob("*/__init__.py"):
        shutil.copytree(package.parent, site / package.parent.name, ignore=shutil.ignore_patterns("__pycache__"))
    about = site / f"{declared['name'].replace('-', '_')}-{declared['version']}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n")
    with (about / "entry_points.txt").open("w", encoding="utf-8") as file:
        for group, points in declared["entry-points"].items():
            file.writelines([f"[{group}]\n", *(f"{name} = {place}\n" for name, place in points.items())])
    return site
