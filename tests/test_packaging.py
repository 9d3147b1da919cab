"""Facts about the package that are in several files agree."""

import re
import tomllib
from pathlib import Path

from gpu_nim import __version__

CHECKOUT = Path(__file__).parents[1]


def test_the_citation_and_the_changelog_know_this_version() -> None:

    headings = re.findall(r"^## \[(.*?)\]", (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] in ("Unreleased", __version__)


def test_the_container_gets_what_the_build_needs() -> None:
    copied = {
        source
        for sources in re.findall(r"^COPY (?!--from)(.*) \S+$", (CHECKOUT / "Dockerfile").read_text(), re.MULTILINE)
        for source in sources.split()
    }
    let_in = {line[1:] for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    wheel = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert copied == let_in
    assert copied >= {"pyproject.toml", "README.md", "LICENSE", *wheel["only-include"]}
