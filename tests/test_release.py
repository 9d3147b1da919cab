"""The facts of a release and of the package agree wherever they stand; `scripts/check-package` checks what is built."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_nim import __version__
from scripts.lib.release import obstacles, version_of

CHECKOUT = Path(__file__).parents[1]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FILES = ("gpu_nim/_version.py", "CITATION.cff", "CHANGELOG.md", "recipe/recipe.yaml", "pyproject.toml")


def replaced(path: Path, pattern: str, text: str) -> None:
    """Replace the first match of a pattern in a file."""
    before = path.read_text(encoding="utf-8")
    after = re.sub(pattern, text, before, count=1, flags=re.MULTILINE)
    assert before != after
    path.write_text(after, encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the files that name the version, ready to be released."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    replaced(tmp_path / "CHANGELOG.md", r"^## \[.*$", f"## [{__version__}] - 2030-01-31")
    replaced(tmp_path / "CITATION.cff", r"^version: .*$", f"version: {__version__}\ndate-released: 2030-01-31")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "x")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false", *words],
        check=True,
    )


def read_yaml(path: Path) -> Any:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_citation_is_complete() -> None:
    citation = read_yaml(CHECKOUT / "CITATION.cff")
    assert citation["version"] == __version__
    heading = re.search(r"^## \[(.*?)\]", (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
    assert heading[1] in ("Unreleased", __version__)
    assert citation["license"] in PROJECT["license"]
    for field in ("cff-version", "message", "title", "abstract", "authors", "keywords"):  # Zenodo needs most of them
        assert citation[field], field
    assert not (CHECKOUT / ".zenodo.json").exists(), "Zenodo would read it in place of CITATION.cff"
    assert [reference["authors"][0]["family-names"] for reference in citation["references"]] == [
        "Khovanova", "Khovanova", "Matsui", "Ferguson",
    ]  # fmt: skip


def test_the_recipe_has_the_facts_of_the_package() -> None:
    recipe = read_yaml(CHECKOUT / "recipe" / "recipe.yaml")
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    python = f"python >={recipe['context']['python_min']}".replace(recipe["context"]["python_min"], "${{ python_min }}")
    assert recipe["context"]["version"] == __version__
    assert PROJECT["requires-python"] == f">={recipe['context']['python_min']}"
    needed = [each.replace(">=", " >=").replace("matplotlib", "matplotlib-base") for each in PROJECT["dependencies"]]
    assert recipe["requirements"]["run"] == [python, *needed]  # conda-forge's matplotlib has Qt, too
    assert recipe["requirements"]["host"][2:] == [each.replace(">=", " >=") for each in build["requires"]]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {entry}" for name, entry in PROJECT["scripts"].items()]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]


def test_no_classifier_claims_what_nothing_runs() -> None:
    matrix = read_yaml(CHECKOUT / ".github" / "workflows" / "tests.yml")["jobs"]["fast"]["strategy"]["matrix"]
    assert matrix["untried"] == [False]
    claimed = [each.rpartition(" :: ")[2] for each in PROJECT["classifiers"] if " :: Python :: 3." in each]
    assert claimed == matrix["python"]
    assert [each for each in PROJECT["classifiers"] if each.startswith("Operating System")] == [
        "Operating System :: POSIX :: Linux"
    ]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu"}


def test_the_description_for_an_index_has_no_relative_link(monkeypatch: pytest.MonkeyPatch) -> None:
    for parent in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin", "hatchling.metadata.plugin.interface"):
        monkeypatch.setitem(sys.modules, parent, SimpleNamespace(MetadataHookInterface=object))
    described = import_module("hatch_build").described
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    known = described(readme, "https://example.org/nim", "v1.2.3")
    assert "![The 4,096" in known
    assert "(https://example.org/nim/raw/v1.2.3/docs/gallery/nim-63-cinema.jpg)" in known
    assert "[the papers' slips](https://example.org/nim/blob/v1.2.3/docs/results.md)" in known
    assert "#how-gpunim-itself-is-verified)" in known
    unknown = described(readme, None, "v1.2.3")
    assert "the papers' slips" in unknown
    for text in (known, unknown):
        assert [target for target in re.findall(r"\]\(([^)]+)\)", text) if not target.startswith("https://")] == []


def test_a_checkout_that_is_ready_is_released_once(checkout: Path) -> None:
    assert list(obstacles(checkout)) == []
    assert version_of(checkout) == __version__
    git(checkout, "tag", f"v{__version__}")
    assert list(obstacles(checkout)) == [f"the tag v{__version__} must be new"]


@pytest.mark.parametrize(
    ("file", "pattern", "text", "words"),
    [
        ("gpu_nim/_version.py", r'"\d.*"$', '"0.2.0.dev1"', "must have a version such as 1.2.3, got 0.2.0.dev1"),
        ("CITATION.cff", "^date-released: .*$", "", "CITATION.cff must have 2030-01-31, got none"),
        ("CHANGELOG.md", r"^## \[.*$", "## [Unreleased]", "YEAR-MONTH-DAY, got [Unreleased]"),
        ("recipe/recipe.yaml", "^  version: .*$", '  version: "9.9.9"', f"recipe/recipe.yaml must have {__version__}, got 9.9.9"),
    ],
)
def test_a_version_that_differs_is_no_release(checkout: Path, file: str, pattern: str, text: str, words: str) -> None:
    replaced(checkout / file, pattern, text)
    found = list(obstacles(checkout))
    assert "all changes must be committed, got 1 files that are not" in found
    assert any(words in each for each in found)


def test_the_container_gets_what_the_build_needs() -> None:
    copied = {
        source
        for sources in re.findall(r"^COPY (?!--from)(.*) \S+$", (CHECKOUT / "Dockerfile").read_text(), re.MULTILINE)
        for source in sources.split()
    }
    let_in = {line[1:] for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    wheel = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert copied == let_in
    assert copied >= {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", *wheel["only-include"]}


def test_the_container_has_the_extras_to_draw_and_to_export() -> None:
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)$", (CHECKOUT / "Dockerfile").read_text(), re.MULTILINE)
    known = PROJECT["optional-dependencies"]
    brought = {re.split("[<>=[]", each)[0] for extra in extras.split(",") for each in known[extra]}
    assert brought >= {"cupy-cuda13x", "imageio-ffmpeg", "pyvista", "trimesh"}
    shown = re.findall(r"EXTRAS=([\w,]+)", (CHECKOUT / "Dockerfile").read_text() + (CHECKOUT / "docs" / "install.md").read_text())
    for each in shown:
        assert set(each.split(",")) <= known.keys(), each
