"""The facts of a release agree wherever they stand, and what is built is checked before it is published."""

import io
import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu_nim import __version__
from scripts.lib.check_distributions import NEEDED, faults
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
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false", *words],
        check=True,
    )


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")


def read_yaml(path: Path) -> Any:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_citation_is_complete() -> None:
    citation = read_yaml(CHECKOUT / "CITATION.cff")
    assert citation["version"] == __version__
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
    assert recipe["requirements"]["run"] == [python, *(each.replace(">=", " >=") for each in PROJECT["dependencies"])]
    assert recipe["requirements"]["host"][2:] == [each.replace(">=", " >=") for each in build["requires"]]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {entry}" for name, entry in PROJECT["scripts"].items()]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]


def test_a_checkout_that_is_ready(checkout: Path) -> None:
    assert list(obstacles(checkout)) == []
    assert version_of(checkout) == __version__


@pytest.mark.parametrize(
    ("file", "pattern", "text", "words"),
    [
        ("gpu_nim/_version.py", r'"\d.*"$', '"0.2.0.dev1"', "must have a version such as 1.2.3, got 0.2.0.dev1"),
        ("CITATION.cff", "^version: .*$", "version: 0.0.1", f"CITATION.cff must have {__version__}, got 0.0.1"),
        ("CITATION.cff", "^date-released: .*$", "", "CITATION.cff must have 2030-01-31, got none"),
        ("CHANGELOG.md", r"^## \[.*$", "## [Unreleased]", "YEAR-MONTH-DAY, got [Unreleased]"),
        ("recipe/recipe.yaml", "^  version: .*$", '  version: "9.9.9"', f"recipe/recipe.yaml must have {__version__}, got 9.9.9"),
    ],
)
def test_a_version_that_differs_is_no_release(checkout: Path, file: str, pattern: str, text: str, words: str) -> None:
    replaced(checkout / file, pattern, text)
    assert "all changes must be committed, got 1 files that are not" in list(obstacles(checkout))
    commit(checkout)
    assert any(words in each for each in obstacles(checkout))


def test_a_version_is_released_once(checkout: Path) -> None:
    git(checkout, "tag", f"v{__version__}")
    assert list(obstacles(checkout)) == [f"the tag v{__version__} must be new"]


def metadata() -> str:
    """The metadata of the package, as a build makes them."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {PROJECT['name']}",
        f"Version: {__version__}",
        f"Summary: {PROJECT['description']}",
        f"License-Expression: {PROJECT['license']}",
        *(f"License-File: {each}" for each in PROJECT["license-files"]),
        *(f"Classifier: {each}" for each in PROJECT["classifiers"]),
        f"Requires-Python: {PROJECT['requires-python']}",
        *(f"Requires-Dist: {each}" for each in PROJECT["dependencies"]),
        *(f"Provides-Extra: {each}" for each in PROJECT["optional-dependencies"]),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n# gpunim\n"


Change = Callable[[dict[str, str], dict[str, str]], object]


def built(folder: Path, change: Change = lambda wheel, sdist: None) -> list[str]:
    """The faults of a small wheel and sdist, after a change of their files."""
    info, root = f"gpunim-{__version__}.dist-info", f"gpunim-{__version__}"
    wheel = {"gpu_nim/__init__.py": "", f"{info}/METADATA": metadata()}
    sdist = {f"{root}/PKG-INFO": metadata(), **dict.fromkeys((f"{root}/{name}" for name in NEEDED), "")}
    for licence in PROJECT["license-files"]:
        wheel[f"{info}/licenses/{licence}"] = sdist[f"{root}/{licence}"] = "MIT"
    change(wheel, sdist)
    places = folder / f"{root}-py3-none-any.whl", folder / f"{root}.tar.gz"
    with zipfile.ZipFile(places[0], "w") as archive:
        for name, text in wheel.items():
            archive.writestr(name, text)
    with tarfile.open(places[1], "w:gz") as tape:
        for name, text in sdist.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tape.addfile(member, io.BytesIO(text.encode()))
    return list(faults(CHECKOUT, *places))


INFO, ROOT = f"gpunim-{__version__}.dist-info", f"gpunim-{__version__}"


def in_both(old: str, new: str) -> Change:
    """A change of the metadata of both files."""

    def change(wheel: dict[str, str], sdist: dict[str, str]) -> None:
        wheel[f"{INFO}/METADATA"] = sdist[f"{ROOT}/PKG-INFO"] = metadata().replace(old, new)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda wheel, _: wheel.update({"tests/x.py": ""}), "tests/x.py, which is outside of the package"),
        (lambda wheel, _: wheel.update({"gpu_nim/__pycache__/a.pyc": ""}), "a.pyc does not belong in a built file"),
        (lambda _, sdist: sdist.update({f"{ROOT}/tests/oeis/A000027.txt": ""}), "under a licence that the metadata do not name"),
        (lambda _, sdist: sdist.pop(f"{ROOT}/CITATION.cff"), "lacks CITATION.cff"),
        (lambda wheel, _: wheel.pop(f"{INFO}/licenses/LICENSE"), "names the licence LICENSE, which is missing"),
        (lambda wheel, _: wheel.update({f"{INFO}/METADATA": metadata() + "x"}), "metadata of the wheel and of the sdist differ"),
        (lambda wheel, _: wheel.pop(f"{INFO}/METADATA"), "METADATA is missing"),
        (in_both(" AND Bitstream-Vera", ""), "License-Expression is ['MIT']"),
        (in_both("Requires-Dist: numpy>=2.0\n", ""), "Requires-Dist is "),
        (in_both("Provides-Extra: mpi\n", ""), "Provides-Extra is "),
        (in_both("text/markdown", "text/x-rst"), "Description-Content-Type is ['text/x-rst']"),
        (in_both("# gpunim", ""), "the description is not the README"),
    ],
)
def test_faults_of_built_files_are_seen(tmp_path: Path, change: Change, words: str) -> None:
    assert any(words in fault for fault in built(tmp_path, change))


def test_files_without_faults(tmp_path: Path) -> None:
    assert built(tmp_path) == []
    odd = tmp_path / "gpunim-0.0.0.tar.gz"
    shutil.copy(tmp_path / f"{ROOT}.tar.gz", odd)
    assert "are not named by gpunim and its version" in next(faults(CHECKOUT, tmp_path / f"{ROOT}-py3-none-any.whl", odd))
