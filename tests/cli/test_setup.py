"""The set-up of a checkout: which Pythons it takes, and what it says before a download."""

import json
import re
import subprocess

from tests.helpers import CHECKOUT


def test_one_list_of_pythons() -> None:
    names = "pyproject.toml", ".github/workflows/tests.yml", "scripts/lib/pythons.sh", "docs/install.md", "recipe/recipe.yaml"
    project, workflow, script, page, recipe = ((CHECKOUT / name).read_text(encoding="utf-8") for name in names)
    first, *_, last = minors = re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', project)
    assert f"python: {json.dumps([f'3.{minor}' for minor in minors])}" in workflow
    assert f"MINORS=({' '.join(reversed(minors))})" in script
    assert f"with Python 3.{first} to 3.{last}. " in page
    assert (f'requires-python = ">=3.{first}"' in project, f'python_min: "3.{first}"' in recipe) == (True, True)


def test_the_size_of_what_is_new_is_said() -> None:
    words = "extras=cuda13,fast made_extras=fast reason=; for verb in making updating; do announce $verb pip; done"
    script = f". scripts/lib/environment.sh; . scripts/lib/make.sh; {words}"
    said = subprocess.run(["bash", "-eu", "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=True).stderr
    assert re.findall(r"(\w+) takes? (\d+) MB", said) == [
        *zip(("packages", "cuda13", "fast", "cuda13"), ("240", "360", "210", "360"), strict=True)
    ]
