"""Chromium without a window, driven by selenium, as tests of pages open it: the fixture `chromium`."""

import io
import re
import shutil
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from gpu_nim.render.exports import export
from gpu_nim.render.look import Look
from tests.helpers import wait_for

_MISSING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
_MISSING += [] if find_spec("selenium") else ["selenium"]
needs_chromium = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}")

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic "
    "--no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage"
)
#: The sizes of pages, small since pictures are drawn without a graphics card.
DESK, PHONE = (480, 320), (360, 640)
#: The pixels of the screen a pixel of the page, of a desk and of a phone: to draw fewer takes most of the time away.
COARSE = 0.5, 0.75


@contextmanager
def chromium_driver(folder):
    """Yield a selenium driver of Chromium with its profile in a folder, which records the console."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in [*_FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))) as driver:
        yield driver


class Browser:
    """Chromium, with a hand on its mouse, its keys and its glass."""

    def __init__(self, driver, folder):
        self.driver = driver
        self.folder = folder

    def page(self, source, **look):
        """Write a page, once, and return its address."""
        file = self.folder / (re.sub(r"\W", "-", f"{getattr(source, 'note', source)} {look}")[:80] + ".html")
        if not file.exists():
            export(source, file, Look(**look))
        return file.as_uri()

    def open(self, address, size=DESK, *, phone=False, ratio=None, scheme="dark"):
        """Open a page, which traces one ray a pixel and jumps to where it would fly.

        `ratio` is the number of the screen's pixels a pixel of the page, COARSE by default; `scheme` what the browser prefers.
        """
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": phone})
        preferred = {"prefers-reduced-motion": "reduce", "prefers-color-scheme": scheme}
        features = [{"name": name, "value": value} for name, value in preferred.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.resize(size, phone=phone, ratio=ratio)
        self.driver.get("about:blank")  # since only the fragment may differ
        self.driver.get(address)
        wait_for(
            lambda: self.do("return Boolean(window.gpunim?.picture ?? data.kind === 'bar') || message.textContent !== ''"),
            "the page to begin",
        )
        self.do("if (window.gpunim?.picture) { gpunim.picture.samples = 1; gpunim.picture.change() }")
        return self

    def resize(self, size, *, phone=False, ratio=None):
        screen = {"width": size[0], "height": size[1], "deviceScaleFactor": ratio or COARSE[phone], "mobile": phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)

    def do(self, script, *given):
        return self.driver.execute_script(script, *given)

    @contextmanager
    def without_webgl(self):
        """Open pages as a browser does that has none, which takes no time to draw."""
        source = "HTMLCanvasElement.prototype.getContext = () => null"
        added = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        try:
            yield self
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

    def generation(self):
        return int(self.do("return String(gpunim.controls.generation)"))

    def camera(self):
        """The camera as the address of the page tells it."""
        return self.do("return gpunim.controls.fragment().replace(/generation=[0-9]*/, '')")

    def complaints(self):
        """The page's messages on the console, except those about the speed of screenshots."""
        return [line for line in self.driver.get_log("browser") if "GPU stall due to ReadPixels" not in line["message"]]

    def screenshot(self):
        with Image.open(io.BytesIO(self.driver.get_screenshot_as_png())) as image:
            return np.asarray(image.convert("RGB"), int)

    def picture(self):
        """The picture between the texts and the controls, once it is still: (height, width, 3)."""
        last = [self.screenshot()]

        def rests():
            if not self.do("return gpunim.picture.rests"):
                return False
            last.append(self.screenshot())
            return np.array_equal(last[-1], last[-2])

        wait_for(rests, "the picture to come to rest")
        top, bottom = self.do(
            "return [document.querySelector('header').getBoundingClientRect().bottom,"
            " document.querySelector('footer').getBoundingClientRect().top].map(y => Math.round(y * devicePixelRatio))"
        )
        return last[-1][top:bottom]

    def object(self):
        """Where the object is in the picture, a mask: what differs from the background, which is the same along a row."""
        picture = self.picture()
        return np.abs(picture - picture[:, :1]).max(axis=2) > 24

    def shows(self, picture):
        """Wait until this picture is seen."""
        wait_for(lambda: np.array_equal(self.picture(), picture), "an earlier picture to come back")

    def changed(self, picture):
        """Wait until the picture changes, and return it."""

        def other():
            now = self.picture()
            return [now] if differ(now, picture) else []

        return wait_for(other, "another picture")[0]

    def actions(self):
        from selenium.webdriver.common.action_chains import ActionChains

        return ActionChains(self.driver, duration=0)

    def key(self, *keys):
        from selenium.webdriver.common.keys import Keys

        self.actions().send_keys(*(getattr(Keys, key.upper(), key) for key in keys)).perform()

    def drag(self, x, y):
        held = self.actions().move_to_element(self.driver.find_element("id", "view")).click_and_hold()
        held.move_by_offset(x // 2, y // 2).move_by_offset(x - x // 2, y - y // 2).release().perform()

    def wheel(self, amount):
        from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

        origin = ScrollOrigin.from_element(self.driver.find_element("id", "view"))
        self.actions().scroll_from_origin(origin, 0, amount).perform()

    def fingers(self, *moves):
        """Move fingers over the glass: each move has a place a finger, and the last one is followed by none."""
        for kind, places in zip(["touchStart", *["touchMove"] * (len(moves) - 1), "touchEnd"], [*moves, ()], strict=True):
            points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def differ(one, other):
    """Whether two pictures, (height, width, 3), differ in more than a few pixels."""
    return (np.abs(one - other).max(axis=2) > 24).mean() > 0.002
