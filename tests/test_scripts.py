"""The set-up scripts, run as they are on a machine made of fakes: a folder for a PATH, and in it a Python, uv and nvidia-smi
that do as little as the scripts ask of them and write down what that was.
"""

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.helpers import PATIENCE, wait_for

CHECKOUT = Path(__file__).parents[1]
TOOLS = ("bash", "chmod", "cp", "env", "flock", "grep", "ln", "mkdir", "readlink", "rm", "sleep", "tail", "timeout", "touch", "tr")

PYPROJECT = """[project.optional-dependencies]
cuda12 = []
cuda13 = []
render = []
dev = []
browser = []
"""

KERNEL_MODULES = {
    "proprietary": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Sun Jul 27 07:04:19 UTC 2025\nGCC version:  gcc 12\n",
    "open": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (dvs-builder@U22)\nGCC version:  gcc 12\n",
}

# Prologue of each fake: it writes down how it was called.
NOTE = '#!/usr/bin/env bash\nprintf "%s\\n" "NAME $*" >>"$CALLS"\n'

PYTHON = (
    NOTE
    + """
install() {
    [[ ! -e $CALLS.slow ]] || { touch "$CALLS.started"; sleep 30; }
    if [[ -e $CALLS.offline ]]; then
        echo "WARNING: Retrying: NewConnectionError('Temporary failure in name resolution')"
        echo "ERROR: No matching distribution found for hatchling"
        exit 1
    elif [[ -e $CALLS.failure ]]; then
        while IFS= read -r line; do printf "%s\\n" "$line"; done <"$CALLS.failure"
        exit 1
    fi
    mkdir -p "$1/../lib"
    touch "$1/gpunim"
    chmod +x "$1/gpunim"
}
run() {
    if [[ -n ${NEEDS-} && ,${GPUNIM_MISSING-}, != *,"$NEEDS",* ]]; then
        GPUNIM_MISSING=${GPUNIM_MISSING:+$GPUNIM_MISSING,}$NEEDS exec "$GPUNIM_SCRIPT" "$@"
    fi
    printf '[%s]' ran "$@"
    exit "${STATUS:-0}"
}
case "$1 $2" in
    "-P -m") run "${@:4}" ;;
    *version_info*) echo VERSION ;;
    *ensurepip*) exit VENV ;;
    "-m venv") mkdir -p "${@: -1}/bin"; cp "$0" "${@: -1}/bin/python" ;;
    "-m pip") install "${0%/*}" ;;
    "-m pytest") printf '[%s]' "${@:3}" ;;
esac
"""
)

UV = (
    NOTE
    + """
case $1 in
    venv) [[ ! -e $CALLS.uv-broken ]] || exit 2; mkdir -p "${@: -1}/bin"; cp "$FAKES/python3" "${@: -1}/bin/python" ;;
    pip) "$4" -m pip install "$6" ;;
esac
"""
)


@dataclass
class Machine:
    """A checkout at `checkout` with fake programs on its PATH; nothing of the real machine's driver can be seen from it."""

    root: Path
    checkout: Path = field(init=False)
    programs: Path = field(init=False)
    calls_file: Path = field(init=False)

    def __post_init__(self) -> None:
        self.checkout, self.programs, self.calls_file = self.root / "a check out", self.root / "bin", self.root / "calls"
        self.programs.mkdir(parents=True)
        shutil.copytree(CHECKOUT / "scripts", self.checkout / "scripts")
        (self.checkout / "pyproject.toml").write_text(PYPROJECT)
        driver = self.checkout / "scripts/lib/driver.sh"
        text, substitutions = re.subn(r"(?<=[ =(])/(?=(proc|usr)/)", f"{self.root}/", driver.read_text())
        assert substitutions == 7
        driver.write_text(text)
        for name in TOOLS:
            program = shutil.which(name)
            assert program is not None
            (self.programs / name).symlink_to(program)

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(text.replace("NAME", name))
        path.chmod(0o755)

    def python(self, name: str = "python3", version: str = "3.12", venv: bool = True) -> None:
        self.program(name, PYTHON.replace("VERSION", version).replace("VENV", "0" if venv else "1"))

    def driver(self, version: str, seen_in: str = "proprietary", capabilities: str = "") -> None:
        """Install a driver, whose version is seen in one place, and a program that knows the GPUs' compute capabilities, if any."""
        module = self.root / "proc/driver/nvidia/version"
        library = self.root / "usr/lib/x86_64-linux-gnu/libcuda.so.1"
        for folder in (module.parent, library.parent):
            folder.mkdir(parents=True, exist_ok=True)
        if seen_in in KERNEL_MODULES:
            module.write_text(KERNEL_MODULES[seen_in].format(version))
        elif seen_in == "smi":
            self.program("nvidia-smi", NOTE + f"[[ $* == *driver* ]] && printf '{version}\\n{version}\\n'\n")
        else:
            library.with_name(f"libcuda.so.{version}").touch()
            library.symlink_to(f"libcuda.so.{version}")
        if capabilities:
            self.program("nvidia-smi", NOTE + f"[[ $* == *compute_cap* ]] && printf '{capabilities}\\n'\n")

    def mood(self, name: str, text: str = "") -> None:
        """Make the fakes fail in one way: slow, offline, uv-broken, or failure with these last words."""
        Path(f"{self.calls_file}.{name}").write_text(text)

    def environ(self, **more: str) -> dict[str, str]:
        return {"PATH": str(self.programs), "CALLS": str(self.calls_file), "FAKES": str(self.programs), **more}

    def start(self, *args: str, script: str = "gpunim", **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.checkout / "scripts" / script, *args],
            env=self.environ(**more),
            cwd=self.root,
            text=True,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *args: str, script: str = "gpunim", **more: str) -> subprocess.CompletedProcess[str]:
        with self.start(*args, script=script, **more) as process:
            stdout, stderr = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(args, process.returncode, stdout, stderr)

    def works(self, *args: str, **more: str) -> str:
        """Run gpunim, check that it ran with these arguments, and return its stderr."""
        done = self.run(*args, **more)
        assert done.stdout == "".join(f"[{word}]" for word in ("ran", *args)), done.stderr
        assert done.returncode == 0
        return done.stderr

    def refuses(self, *args: str, **more: str) -> str:
        """Run gpunim, check that it was not started, and return the last sentence."""
        done = self.run(*args, **more)
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr.splitlines()[-1]

    def calls(self, prefix: str = "") -> list[str]:
        """What was called, but for the command itself."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        return [line for line in lines if line.startswith(prefix) and " -P -m gpu_nim" not in line]

    def installed(self) -> list[str]:
        """What each run of pip was asked to install."""
        return [line.rsplit(" ", 1)[1] for line in self.calls() if " pip " in line and line.startswith("python")]

    @property
    def stamp(self) -> Path:
        return self.checkout / ".venv/gpunim-stamp"

    @property
    def mark(self) -> Path:
        """A file among the installed ones: it is gone when the environment has been recreated."""
        return self.checkout / ".venv/lib/mark"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.python()
    return machine


def test_first_call_makes_the_environment_and_later_calls_only_run(machine: Machine) -> None:
    machine.driver("580.65.06")
    assert "making the environment" in machine.works("grow", "--gen", "a b", "*", "")
    assert machine.installed() == [".[cuda13]"]
    assert not (machine.checkout / ".venv/gpunim-log").exists()
    for name in (*TOOLS[1:], "python3"):
        (machine.programs / name).unlink()
    assert machine.works("info") == ""
    for status in (0, 1, 2, 130):
        assert machine.run(STATUS=str(status)).returncode == status


def test_called_through_a_symbolic_link_by_bare_name_and_from_elsewhere(machine: Machine) -> None:
    machine.works()
    (machine.programs / "nim").symlink_to(machine.checkout / "scripts/gpunim")
    for command, cwd in (("nim", "/"), ("bash gpunim", "scripts"), ("./scripts/gpunim", "."), ("../scripts/gpunim", "gpu")):
        (machine.checkout / "gpu").mkdir(exist_ok=True)
        done = subprocess.run(
            ["bash", "-c", f"{command} x"], env=machine.environ(), cwd=machine.checkout / cwd, capture_output=True, text=True
        )
        assert (done.stdout, done.stderr) == ("[ran][x]", "")


def test_it_links_itself_on_path_on_request(machine: Machine) -> None:
    """Programs such as mpirun find a link, and know no alias."""
    said = f"{machine.checkout}/scripts/gpunim --link"
    assert machine.works().splitlines()[-1] == f"gpunim: to have gpunim on PATH, run once: {said}"
    assert machine.works() == ""
    for folder, advice in ((machine.programs, 0), (machine.root / "home/.local/bin", 1)):
        done = machine.run("--link", *([] if advice else [f"{folder}/"]), HOME=str(machine.root / "home"))
        assert (done.returncode, done.stdout, done.stderr.count("add the folder to PATH")) == (0, "", advice)
        assert f"gpunim: {folder}/gpunim runs {machine.checkout}/scripts/gpunim\n" in done.stderr
        found = machine.environ(PATH=f"{folder}:{machine.programs}")
        done = subprocess.run(["env", "gpunim", "x"], env=found, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("[ran][x]", "")
        assert machine.run("--link", str(folder)).returncode == 0  # again
    (machine.programs / "gpunim").unlink()
    (machine.programs / "gpunim").write_text("another")
    assert machine.refuses("--link", str(machine.programs)).endswith("gpunim is there already: remove it first")
    assert (machine.programs / "gpunim").read_text() == "another"
    assert "HOME is not set" in machine.refuses("--link")


def test_a_changed_pyproject_updates_in_place_and_keeps_the_extras(machine: Machine) -> None:
    machine.works(GPUNIM_EXTRAS="render")
    machine.mark.touch()
    with (machine.checkout / "pyproject.toml").open("a") as file:
        file.write("# new\n")
    assert "updating the environment" in machine.works()
    assert machine.installed() == [".[render]", ".[render]"]
    assert machine.mark.exists()
    assert machine.works() == ""
    assert "'rendr' is not an extra" in machine.refuses(GPUNIM_EXTRAS="rendr")


@pytest.mark.parametrize("broken", ["stamp", "interpreter", "command", "moved"])
def test_a_broken_environment_is_repaired(machine: Machine, broken: str) -> None:
    machine.works()
    environment = machine.checkout / ".venv"
    for path in (machine.mark, environment / "notes"):
        path.touch()
    if broken == "stamp":
        machine.stamp.write_text("")
    elif broken == "interpreter":
        (environment / "bin/python").unlink()
    elif broken == "command":
        (environment / "bin/gpunim").unlink()
    else:
        machine.checkout = machine.checkout.rename(machine.root / "elsewhere")
    machine.works()
    # Only a missing command is put right by installing again; the rest cannot be trusted.
    assert machine.mark.exists() == (broken == "command")
    assert (machine.checkout / ".venv/notes").exists()  # what a user keeps there
    assert machine.works() == ""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_an_interrupted_set_up_is_made_anew(machine: Machine, number: signal.Signals, status: int) -> None:
    machine.mood("slow")
    process = machine.start()
    wait_for(Path(f"{machine.calls_file}.started").exists, "the installer")
    os.killpg(process.pid, number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    machine.mark.parent.mkdir(exist_ok=True)
    machine.mark.touch()
    Path(f"{machine.calls_file}.slow").unlink()
    machine.works()
    assert not machine.mark.exists()


def test_concurrent_first_calls_make_one_environment(machine: Machine) -> None:
    processes = [machine.start(str(i)) for i in range(6)]
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in processes]
    assert outputs == [f"[ran][{i}]" for i in range(6)]
    assert machine.installed() == ["."]


def test_another_call_may_begin_at_any_moment(machine: Machine) -> None:
    """While this one looks whether the folder is somebody else's, that one makes the stamp in it."""
    (machine.checkout / ".venv").mkdir()
    make = machine.checkout / "scripts/lib/make.sh"
    text, looks = make.read_text(), "is_occupied() {\n"
    assert looks in text
    make.write_text(text.replace(looks, f'{looks}    : >>"$stamp"\n'))
    machine.works()


@pytest.mark.parametrize("name", [".venv", ".venv/precious", ".venv/.precious", ".venv/lib/precious"])
def test_what_somebody_else_made_is_never_touched(machine: Machine, name: str) -> None:
    path = machine.checkout / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    assert "was not made by this script" in machine.refuses()
    assert path.read_text() == "precious"
    assert [*(machine.checkout / ".venv").glob("*")] == [machine.checkout.joinpath(*Path(name).parts[:2])] * (name != ".venv")


def test_the_place_of_the_environment_can_be_chosen(machine: Machine) -> None:
    machine.works(GPUNIM_VENV="else where/env/")
    assert (machine.root / "else where/env/bin/gpunim").exists()
    assert not (machine.checkout / ".venv").exists()
    (machine.root / "file").touch()
    assert "cannot be written to" in machine.refuses(GPUNIM_VENV=str(machine.root / "file/env"))


@pytest.mark.parametrize(
    ("pythons", "refusal"),
    [
        ((), "no Python was found: on Debian and Ubuntu, apt-get install python3-venv"),
        ((("python3", "3.12", False), ("python3.12", "3.12", False)), "Python 3.12 is here without its venv module: on Debian"),
        ((("python3", "3.9", True),), "Python 3.9 was found, but 3.11 or newer is needed"),
    ],
)
def test_without_a_python(machine: Machine, pythons: tuple[tuple[str, str, bool], ...], refusal: str) -> None:
    (machine.programs / "python3").unlink()
    for python in pythons:
        machine.python(*python)
    assert refusal in machine.refuses()


def test_the_first_python_that_can_is_taken(machine: Machine) -> None:
    machine.program("python3.13", NOTE + "echo 'python3.13: command not found' >&2; exit 127\n")  # a version manager's shim
    machine.python("python3.12", venv=False)
    machine.python("python3.11", version="3.11")
    machine.python(version="3.10")
    assert "Python 3.11" in machine.works()
    machine.stamp.write_text("")
    machine.python("python", version="3.13")
    place = machine.root / "pyenv/versions/3.13.0/bin/python3"  # behind its shim
    place.parent.mkdir(parents=True)
    (machine.programs / "python").rename(place)
    assert "Python 3.13" in machine.works(PYENV_ROOT=str(machine.root / "pyenv"))


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_both_installers_take_the_newest_python(machine: Machine, installer: str) -> None:
    for minor in (11, 13, 12):
        machine.python(f"python3.{minor}", version=f"3.{minor}")
    if installer == "uv":
        machine.program("uv", UV)
    machine.works()
    [made] = [line for line in machine.calls() if re.match(r"(uv|\S+ -m) venv ", line)]
    assert "python3.13" in made


@pytest.mark.skipif(shutil.which("perl") is None, reason="Perl is not installed")
def test_perl_locks_where_flock_is_missing(machine: Machine) -> None:
    (machine.programs / "flock").unlink()
    assert "util-linux" in machine.refuses()
    (machine.programs / "perl").symlink_to(str(shutil.which("perl")))
    machine.mood("slow")
    first = machine.start()
    wait_for(Path(f"{machine.calls_file}.started").exists, "the installer")
    Path(f"{machine.calls_file}.slow").unlink()
    second = machine.start("second")
    assert second.stderr is not None
    assert "waiting for another call" in second.stderr.readline()
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=PATIENCE)
    assert second.communicate(timeout=PATIENCE)[0] == "[ran][second]"


def test_offline_is_one_sentence_and_works_again_online(machine: Machine) -> None:
    machine.mood("offline")
    assert "pip cannot reach the package index" in machine.refuses()
    assert "name resolution" in (machine.checkout / ".venv/gpunim-log").read_text()
    Path(f"{machine.calls_file}.offline").unlink()
    machine.works()
    machine.mark.touch()
    machine.mood("offline")
    machine.refuses(GPUNIM_EXTRAS="render")  # which leaves what is there
    assert machine.works() == ""
    assert machine.mark.exists()


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        # As pip, and as uv, whose reason is in the line below.
        (
            "error: one\n  ERROR: No matching distribution\n  [end]\nerror: one\nnote: This error\n",
            "ERROR: No matching distribution",
        ),
        ("error: No solution found:\n  cause: Because numpy>=99\nhint: something else\n", "cause: Because numpy>=99"),
        ("a warning\nerror: it is broken\n  and how\n", "error: it is broken"),
        ("Segmentation fault\n", "Segmentation fault"),
        ("", "it said nothing"),
    ],
)
def test_another_failure_is_quoted(machine: Machine, said: str, quoted: str) -> None:
    machine.mood("failure", said)
    assert f"pip cannot make the environment ({quoted}): see " in machine.refuses()


@pytest.mark.parametrize("name", ["$HOME", "a$b c", "`x`", "'q' \"q\"", "[a]*?", "~", "#", "-n", "a\\b", "é"])
def test_a_path_with_odd_characters(machine: Machine, name: str) -> None:
    machine.checkout = machine.checkout.rename(machine.root / name)
    machine.works("a", "$b")
    assert machine.works() == ""
    assert machine.works(GPUNIM_EXTRAS="render").count("updating") == 1
    assert (machine.checkout / ".venv/bin/gpunim").exists()


def test_a_path_with_a_line_break_is_refused(machine: Machine) -> None:
    machine.checkout = machine.checkout.rename(machine.root / "a\nb")
    assert "without a line break" in machine.refuses()


def test_uv_is_taken_where_present_and_pip_where_uv_fails(machine: Machine) -> None:
    machine.program("uv", UV)
    assert "with uv" in machine.works()
    (machine.programs / "uv").rename(machine.root / "uv")
    assert "with pip" in machine.works(GPUNIM_EXTRAS="dev")  # made anew
    (machine.root / "uv").rename(machine.programs / "uv")
    machine.mood("uv-broken")
    machine.stamp.write_text("")
    assert "with pip" in machine.works()
    machine.stamp.write_text("")
    (machine.programs / "python3").unlink()
    assert re.search("uv cannot make .*; no Python was found", machine.refuses())


# The NVIDIA driver and extras


@pytest.mark.parametrize(
    ("version", "extra"),
    [
        *(("610.10", "cuda13"), ("580.65.06", "cuda13"), ("579.99", "cuda12"), ("525.60.13", "cuda12")),
        *(("524.9", ""), ("470.82.01", "")),
    ],
)
@pytest.mark.parametrize("seen_in", [*KERNEL_MODULES, "smi", "libcuda"])
def test_the_extra_fits_the_driver(machine: Machine, version: str, extra: str, seen_in: str) -> None:
    machine.driver(version, seen_in)
    said = machine.works()
    assert machine.installed() == [f".[{extra}]" if extra else "."]
    assert f"NVIDIA driver {version}" in said
    assert ("is older than 525" in said) == (not extra)
    assert machine.works() == ""
    assert len(machine.calls("nvidia-smi")) == 2 * (seen_in == "smi")


@pytest.mark.parametrize(
    ("capabilities", "extra"),
    [*(("6.1", ""), (r"5.2\n7.0", "")), *(("7.5", "cuda13"), (r"6.1\n12.0", "cuda13"), ("[N/A]", "cuda13"), ("10.0", "cuda13"))],
)
def test_the_extra_fits_the_gpu(machine: Machine, capabilities: str, extra: str) -> None:
    machine.driver("580.65.06", capabilities=capabilities)
    said = machine.works()
    assert machine.installed() == [f".[{extra}]" if extra else "."]
    assert ("and the kernels need 7.5, so NumPy will do the work" in said) == (not extra)
    for _ in range(2):
        assert machine.works() == ""
    assert len(machine.calls("nvidia-smi")) == 1


def test_a_driver_that_does_not_answer(machine: Machine) -> None:
    machine.program("nvidia-smi", NOTE + "echo NVIDIA-SMI has failed because it could not communicate with the driver.\nexit 9\n")
    assert "does not tell its version" in machine.works()
    assert machine.installed() == ["."]


@pytest.mark.parametrize(
    ("calls", "installed"),
    [
        ((None, "render, dev", "dev", None), ". .[render,dev]"),  # they stay
        # Drivers, seen at once, or by a program; what was made for CUDA 12 runs where CUDA 13 does.
        ((None, "550.54 smi", None, "580.65.06", None), ". .[cuda12]"),
        (("580.65.06 smi", "render", None, "render"), ".[render,cuda13]"),
        (("580.65.06 smi", "cuda12", None), ".[cuda12]"),
        (("cuda13,render", "550.54", None), ".[cuda13,render] .[cuda12,render]"),
        (("cuda13", "580.65.06 smi", None), ".[cuda13]"),
        (("580.65.06 smi", "", ""), "."),
    ],
)
def test_extras_and_drivers(machine: Machine, calls: tuple[str | None, ...], installed: str) -> None:
    """A call with these extras, or a driver that comes; and what each environment was made with."""
    for call in calls:
        if call is not None and call[:1].isdigit():
            machine.driver(*call.split())
        else:
            machine.works(**({} if call is None else {"GPUNIM_EXTRAS": call}))
    assert " ".join(machine.installed()) == installed


@pytest.mark.parametrize(
    ("extras", "installed"),
    [({}, "render,cuda13"), ({"GPUNIM_EXTRAS": ""}, "render"), ({"GPUNIM_EXTRAS": "dev"}, "dev,render,cuda13")],
)
def test_an_extra_that_a_command_needs_is_brought(machine: Machine, extras: dict[str, str], installed: str) -> None:
    machine.driver("580.65.06", "smi")
    machine.works(**extras)
    assert "updating the environment" in machine.works("show", "a b", NEEDS="render", **extras)
    assert machine.installed()[-1] == f".[{installed}]"
    assert machine.works("show", NEEDS="render", **extras) == ""


@pytest.mark.parametrize("status", [0, 3])
def test_test_runs_lint_and_the_fast_tests_or_what_it_is_asked_for(machine: Machine, status: int) -> None:
    (machine.checkout / "scripts/lint").write_text(f"#!/usr/bin/env bash\necho lint\nexit {status}\n")
    fast, asked, every = (machine.run(*args, script="test") for args in ((), ("-x", "tests/test_a b.py"), ("--all", "-n0")))
    assert (fast.stdout, fast.returncode) == ("lint\n" + (FAST if status == 0 else ""), status)
    assert asked.stdout == "[-n][auto][--dist][worksteal][-x][tests/test_a b.py]"
    assert every.stdout == "[-n][auto][--dist][worksteal][-n0]"
    assert machine.installed() == [".[dev,render]", ".[dev,render,browser]"]


FAST = "[-n][auto][--dist][worksteal][-m][not slow and not thorough][--few]"
