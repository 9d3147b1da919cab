"""Chromium without a window, driven by selenium, as tests of pages open it."""

import shutil
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

_MISSING = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
_MISSING += [] if find_spec("selenium") else ["selenium"]
needs_chromium = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}")

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic "
    "--no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage"
)


@contextmanager
def chromium_driver(folder):
    """Yield a selenium driver of Chromium with its profile in a folder, which records the console."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium")
    for flag in [*_FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()
