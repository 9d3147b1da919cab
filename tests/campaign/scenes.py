"""Scenes: what a shell has done to files, folders or limits before a command line, which then does as undisturbed or is refused."""

import random
import re
import shlex
import subprocess
import tomllib
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from string import Template
from tempfile import mkdtemp

from tests.campaign import judge, works
from tests.campaign.runner import Run, cut_short, forked, spawned
from tests.campaign.works import Work

_ALTERNATIVES = re.compile(r"\{([^{}]*\|[^{}]*)\}")


@dataclass(frozen=True, repr=False)
class Scene:
    """A command line in the folder `here`. In its texts $NAME is one of the choices of that name, and {a|b} is a or b.

    Attributes:
        kind: what is disturbed.
        line: the command line.
        like: the line that does the same undisturbed, in an empty folder: by default the same one; empty where it is to be refused,
            ANY where its results may be others.
        made: patterns of the files that it makes, of which the other has the names without folders.
        first: lines that were run before, each in a folder $FIRST/0, $FIRST/1, ...
        cut: whether these were ended by a full disk.
        before: what a shell does in the folder that holds `here`, and perhaps `kept`, where nothing may change from then on.
        enter: what the shell does from which a process of its own is started; if it is empty, the line is run in a fork.
        spare: the megabytes of memory that are left to it within the user's cap.
        choices: the choices of a name.
    """

    kind: str
    line: str
    like: str = "$LINE"
    made: str = "o*"
    first: str = ""
    cut: bool = False
    before: str = ""
    enter: str = ""
    spare: str = ""
    choices: dict[str, list[str]] = field(default_factory=dict)

    def play(self, choose: random.Random, folder: Path) -> str:
        """Run the line with some choices, in a folder for all scenes; return what was wrong, an empty text if nothing was."""
        work = folder / "work"
        here = work / "here"
        names = {"HERE": str(here)} | {name: choose.choice(texts) for name, texts in self.choices.items()}

        def filled(text: str) -> str:
            for _ in range(2):  # a choice may have further ones
                text = Template(text).safe_substitute(names)
            return _ALTERNATIVES.sub(lambda match: choose.choice(match[1].split("|")), text)

        names["FIRST"] = str(_begun(filled(self.first), folder, self.cut))
        of_others = (work / "kept", Path(names["FIRST"]))
        before, enter, spare = filled(self.before), filled(self.enter), filled(self.spare)
        line = names["LINE"] = filled(self.line)
        like = filled(self.like)
        works.anew(work)
        here.mkdir()
        subprocess.run(["sh", "-ec", before], cwd=work, check=True, capture_output=True)
        held, found_here = [*map(judge.contents, of_others)], judge.contents(here)
        words = shlex.split(line)
        outcome = spawned(words, here, enter) if enter else forked(words, here, spare=int(spare) << 20 if spare else None)
        found = judge.faults(outcome) + judge.litter(outcome, found_here, judge.contents(here))
        if [*map(judge.contents, of_others)] != held:
            found.append("it changed what is another's")
        if outcome.status == 0 and not like:
            found.append("it was to be refused")
        elif outcome.status == 0 and like != "ANY":
            made = " ".join(Path(pattern).name for pattern in self.made.split())
            results, expected = works.results(outcome, here, self.made), works.alone(Work(like, made), folder / "alone")[1]
            if results != expected:
                found.append(f"another result than {str(expected)[-1500:]}, {str(results)[-1500:]}")
        return f"{found}\n{before}\n{enter}\nlike {like}, with {spare} MB to spare\n{outcome}" if found else ""


@cache
def _begun(lines: str, folder: Path, cut: bool) -> Path:
    """Run some lines, each in a folder 0, 1, ... with a folder `sub`, and return the folder of these."""
    place = Path(mkdtemp(dir=folder))
    (place / "kept/sub").mkdir(parents=True)
    for number, line in enumerate(lines.strip().splitlines()):
        (place / f"{number}/sub").mkdir(parents=True)
        words = tuple(shlex.split(line))
        outcome = Run(words, place / str(number), partial(cut_short, words) if cut else None).outcome()
        assert (outcome.status, "; what is written so far is in " in outcome.errors) == (int(cut), cut), outcome
    return place


SCENES = [Scene(**scene) for scene in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["scenes"]]
