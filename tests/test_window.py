"""The window: `gpunim show` on a separate display, controlled by xdotool and observed by screenshots.

X delivers events in order, so after the window has saved a picture it shows the effect of all earlier events.
"""

import ctypes
import os
import shutil
import signal
import string
import subprocess
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec

import numpy as np
import pytest

from gpu_nim.render.window import help_line, keys
from tests.helpers import gpunim, wait_for
from tests.render_files import frame

_MISSING = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
_MISSING += [] if find_spec("pyvista") else ["PyVista"]
pytestmark = [
    pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}"),
    pytest.mark.thorough,
]
WIDTH, HEIGHT = 360, 270
MIDDLE = WIDTH // 2, HEIGHT // 2
FOOT = HEIGHT * 84 // 100  # below it is the slider


@contextmanager
def display():
    """An X server, which does not reset when its last client ends, and its name."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server, os.fdopen(read) as told:
        os.close(write)
        try:
            number = told.readline().strip()
            assert number, "Xvfb did not start"
            yield f":{number}"
        finally:
            server.terminate()


class Desk:
    """A display of its own, and on it the window of one `gpunim show`.  A context manager."""

    def __init__(self, folder, *arguments):
        self.picture = folder / "kept.png"
        self.errors = folder / "errors.txt"
        command = gpunim("show", *arguments, "--resolution", f"{WIDTH}x{HEIGHT}", "--picture", self.picture)
        with ExitStack() as running:
            self.display = running.enter_context(display())
            errors = running.enter_context(self.errors.open("w"))
            self.process = subprocess.Popen(
                list(map(str, command)), env={**os.environ, "DISPLAY": self.display}, stdout=errors, stderr=errors
            )
            running.callback(self.process.wait)
            running.callback(self.process.kill)
            self.window = wait_for(self._found, "the window")
            self.xdotool("windowfocus", self.window)
            wait_for(lambda: self.body().any(), "the body")
            self._running = running.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._running.close()

    def _found(self):
        assert self.process.poll() is None, self.errors.read_text()
        return self.xdotool("search", "--onlyvisible", "--name", "gpunim").split()

    def xdotool(self, *arguments):
        flat = [str(part) for a in arguments for part in (a if isinstance(a, list) else [a])]
        environment = {**os.environ, "DISPLAY": self.display}
        return subprocess.run(["xdotool", *flat], env=environment, capture_output=True, text=True, check=False).stdout

    def key(self, *keys):
        self.xdotool("key", "--delay", "30", *keys)

    def drag(self, start, stop, *, button=1):
        half = [(a + b) // 2 for a, b in zip(start, stop, strict=True)]
        self.xdotool("mousemove", *start, "mousedown", button, "mousemove", *half, "mousemove", *stop, "mouseup", button)

    def wheel(self, button, times):
        self.xdotool("mousemove", *MIDDLE, "click", "--repeat", times, "--delay", "30", button)

    def close(self):
        """Ask the window to go, as the cross in its frame does; xdotool learnt it too late for Debian 12."""
        x = ctypes.CDLL("libX11.so.6")
        x.XOpenDisplay.restype, x.XInternAtom.restype = ctypes.c_void_p, ctypes.c_ulong
        server = ctypes.c_void_p(x.XOpenDisplay(self.display.encode()))
        atoms = [x.XInternAtom(server, name, False) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW")]
        window, client_message = int(self.window[0]), 33
        event = (ctypes.c_long * 24)(client_message, 0, 1, server.value, window, atoms[0], 32, atoms[1])
        x.XSendEvent(server, ctypes.c_ulong(window), False, ctypes.c_long(0), ctypes.byref(event))
        x.XCloseDisplay(server)

    def screen(self, width=WIDTH, height=HEIGHT):
        """What the screen shows now: (height, width, 3)."""
        from PIL import ImageGrab

        return np.asarray(ImageGrab.grab(xdisplay=self.display), int)[:height, :width]

    def catch_up(self):
        """Wait until the window has handled all events: the picture of a key press is saved."""
        before = self.picture.stat().st_ino if self.picture.exists() else None
        self.key("s")

        def saved():
            assert self.process.poll() is None, self.errors.read_text()
            return self.picture.exists() and self.picture.stat().st_ino != before

        wait_for(saved, "a picture of the window")

    def seen(self, width=WIDTH, height=HEIGHT):
        """The screen after all events, once it is still."""
        self.catch_up()
        last = [self.screen(width, height)]

        def rests():
            time.sleep(0.1)
            last.append(self.screen(width, height))
            return np.array_equal(last[-1], last[-2])

        wait_for(rests, "the picture to come to rest")
        return last[-1]

    def body(self, **size):
        """Where the body is, as a mask of the picture without its slider: what differs from the background, which is the
        same along a row.
        """
        picture = self.seen(**size)[: size.get("height", HEIGHT) * 84 // 100]
        return np.abs(picture - picture[:, :1]).max(axis=2) > 24

    def shows(self, picture, *, rows=FOOT):
        """Wait until the screen shows this picture, but for the slider."""
        wait_for(lambda: np.array_equal(self.seen()[:rows], picture[:rows]), "an earlier picture to come back")

    def changed(self, picture):
        """Wait until the screen shows another one, and return it."""
        wait_for(lambda: (np.abs(self.seen() - picture)[:FOOT].max(axis=2) > 24).mean() > 0.003, "another picture")
        return self.seen()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with Desk(tmp_path_factory.mktemp("desk"), "nim:15") as desk:
        yield desk


@pytest.fixture
def desk(shared):
    """The window as it opened."""
    assert shared.process.poll() is None, shared.errors.read_text()
    shared.key("End", "0")
    return shared


def in_view(mask):
    height, width = mask.shape
    left, right, top, bottom = frame(mask)
    middle = (left + right) / 2, (top + bottom) / 2
    return abs(middle[0] - width / 2) < width / 5 and abs(middle[1] - height / 2) < height / 5 and mask.mean() > 0.04


def test_the_body_fills_the_window_and_is_whole(desk):
    mask = desk.body()
    left, right, top, bottom = frame(mask)
    assert in_view(mask)
    assert min(left, top, WIDTH - 1 - right, FOOT - 1 - bottom) > 0
    assert max((right - left) / WIDTH, (bottom - top) / FOOT) > 0.7


@pytest.mark.parametrize("far", [(90, 0), (0, -70), (-110, 75)])
def test_dragging_turns_the_body_and_keeps_it_in_view(desk, far):
    before = desk.seen()
    desk.drag(MIDDLE, (MIDDLE[0] + far[0], MIDDLE[1] + far[1]))
    desk.changed(before)
    assert in_view(desk.body())
    desk.key("0")
    desk.shows(before)


@pytest.mark.parametrize("view", ["1", "2"])  # with a vanishing point, and parallel
def test_the_wheel_comes_nearer_and_goes_back(desk, view):
    desk.key(view)
    share = desk.body().mean()
    desk.wheel(5, 3)
    wait_for(lambda: desk.body().mean() < 0.8 * share, "a smaller body")
    desk.wheel(4, 3)
    wait_for(lambda: desk.body().mean() == pytest.approx(share, rel=0.05), "a body as large as before")
    desk.wheel(4, 3)
    wait_for(lambda: desk.body().mean() > 1.2 * share, "a larger body")


def test_shift_and_drag_move_the_body(desk):
    before = desk.body()
    desk.xdotool("keydown", "shift")
    desk.drag(MIDDLE, (MIDDLE[0] + 60, MIDDLE[1]))
    desk.xdotool("keyup", "shift")
    wait_for(lambda: frame(desk.body())[0] > frame(before)[0] + 30, "the body to the right of where it was")


def test_arrows_home_and_end_go_through_the_generations(desk):
    whole = desk.seen()
    desk.key("Left")
    less = desk.changed(whole)
    desk.key("Home")
    seed = desk.changed(less)
    assert (np.abs(seed - seed[:, :1])[:FOOT].max(axis=2) > 24).mean() < 0.01
    desk.key("Left")  # there is none before it
    desk.key("Right", "Left")
    desk.shows(seed)
    desk.key("End", "Right", "Left")
    desk.shows(less)
    desk.key("Home", "0", "End")
    desk.shows(whole)


def test_the_slider_goes_through_the_generations(desk):
    whole = desk.seen()
    row = round(HEIGHT * 0.93)
    desk.drag((round(WIDTH * 0.93), row), (WIDTH // 2, row))
    half = desk.changed(whole)
    desk.key("Right", "Left")
    desk.shows(half)
    desk.key("End")
    desk.shows(whole)


def test_each_view_has_a_key(desk):
    pictures = [desk.seen()]
    for key in "2345":
        desk.key(key)
        pictures.append(desk.changed(pictures[-1]))
        assert in_view(desk.body())
    assert len({picture.tobytes() for picture in pictures}) == 5
    desk.key("1")
    desk.shows(pictures[0])


def test_other_keys_leave_the_picture_as_it_is(desk):
    before = desk.seen()
    others = [key for key in string.ascii_letters + string.digits if key not in keys()]
    others += ["plus", "minus", "Up", "Down", "space", "Return", "Tab", "Escape", "F1", "Delete"]
    desk.key(*others)
    desk.key("Left")
    desk.changed(before)
    desk.key("Right")
    desk.shows(before, rows=HEIGHT)
    desk.drag(MIDDLE, (MIDDLE[0] + 60, MIDDLE[1] + 20))
    desk.changed(before)
    desk.key("0")
    desk.shows(before)


def test_a_picture_is_kept_as_it_is_shown(desk):
    from PIL import Image

    before = desk.seen()  # for which the key s was pressed
    with Image.open(desk.picture) as image:
        assert (image.format, image.size) == ("PNG", (WIDTH, HEIGHT))
        kept = np.asarray(image.convert("RGB"), int)
    assert np.abs(kept - before)[:FOOT].max() <= 1
    assert np.abs(kept - kept[:, :1])[FOOT:].max() <= 24  # no slider
    desk.shows(before)


def test_a_picture_that_cannot_be_written_leaves_the_window_open(desk):
    before = desk.seen()
    desk.picture.unlink()
    desk.picture.mkdir()
    desk.key("s")
    wait_for(lambda: not np.array_equal(desk.screen(), before), "words beside the slider")
    desk.picture.rmdir()
    desk.seen()
    assert desk.errors.read_text() == ""


def test_a_window_made_smaller_shows_all_of_the_body(desk):
    before = desk.seen()
    for width, height in ((225, 270), (360, 180), (WIDTH, HEIGHT)):
        desk.xdotool("windowsize", "--sync", desk.window, width, height)
        desk.key("Left", "Right")
        mask = desk.body(width=width, height=height)
        left, right, top, bottom = frame(mask)
        assert min(left, top, width - 1 - right, len(mask) - 1 - bottom) > 0
        assert in_view(mask)
    desk.key("0")
    desk.shows(before)


def test_the_help_names_every_key(desk):
    for key in keys():
        assert {"Left": "arrows", "Right": "arrows"}.get(key, "1-5" if key in "12345" else key) in help_line()


@pytest.mark.parametrize(
    ("end", "source", "options"),
    [
        ("q", "edge:9", ["--view", "gasket", "--cut", "corner", "--colour", "branch", "--generations", "3:10"]),
        ("close", "nim:0", ["--view", "200,30", "--theme", "neon", "--title", "gpunim <image> $x$"]),
        (signal.SIGINT, "ulam-warburton:7", ["--view", "hero", "--theme", "paper"]),
    ],
)
def test_a_window_opens_in_every_look_and_is_left(tmp_path, end, source, options):
    with Desk(tmp_path, source, *options) as desk:
        assert in_view(desk.body())
        if end == "q":
            desk.key("q")
        elif end == "close":
            desk.close()
        else:
            desk.process.send_signal(end)
        status = desk.process.wait(60)
    assert status == (130 if end == signal.SIGINT else 0)
    assert "Traceback" not in desk.errors.read_text()
