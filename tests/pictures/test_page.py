"""The page, as its readers see it: Chromium opens the pages of `gpunim export`, with mouse and touch.

What is seen is compared as pixels of screenshots; a test waits for what should happen and never says when.
"""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from gpu_nim import grow, solve
from gpu_nim.backends.numpy.trace import NumpyTracer
from gpu_nim.backends.shared.brick_scenes import BrickPacker
from gpu_nim.model.arguments import parse_integer
from gpu_nim.model.tracing import NimScene, Rays
from gpu_nim.render.source import blocks_of
from gpu_nim.render.themes import THEMES
from tests.chromium import DESK, PHONE, differ, needs_chromium
from tests.helpers import printed, wait_for
from tests.render_files import assert_apart, frame

pytestmark = [needs_chromium, pytest.mark.nightly]

HOSTILE = "</script><script>alert(1)</script><!--<script> <img src=x onerror=alert(2)> & " + "long " * 30


@pytest.fixture
def browser(chromium):
    """The browser; its last page must not have reported errors."""
    yield chromium
    assert chromium.complaints() == []


def fills(mask):
    """Whether the object is complete, centred, and as large as the frame allows."""
    height, width = mask.shape
    left, right, top, bottom = frame(mask)
    whole = min(left, top, width - 1 - right, height - 1 - bottom) > 0
    return whole and max((right - left) / width, (bottom - top) / height) > 0.75


def middle_of(picture):
    """The rows that are neither behind the texts nor behind the controls."""
    height = len(picture)
    return picture[height * 2 // 5 : height * 3 // 5]


@pytest.mark.parametrize(
    ("source", "size"),
    [("edge:127", DESK), ("ulam-warburton:20", PHONE), ("nim:2^60", PHONE)],
)
def test_a_page_opens_with_all_of_the_object(browser, source, size):
    browser.open(browser.page(source), size, phone=size is PHONE)
    last = parse_integer(source.partition(":")[2])
    assert browser.generation() == last
    assert browser.do("return slider.max === slider.value")
    if source == "edge:127":
        assert browser.do("return count.textContent") == f"generation 127 of 127: {grow('edge', 127).population:,} cells"
    if last == 2**60:
        assert browser.do("return count.textContent").endswith(": 1.33\u00a0×\u00a010³⁶ cells")  # 4^60 = 1.329... × 10^36
    opened = browser.picture()
    assert fills(browser.object())
    browser.do("gpunim.controls.show(0n)")
    browser.changed(opened)
    browser.do("gpunim.controls.show(gpunim.object.last)")
    browser.shows(opened)


def rays_of(browser, places):
    """The rays through places of the canvas in pixels from the bottom left, from the numbers of the camera, and their level."""
    camera = browser.do("""
        const { camera, controls } = gpunim, { width, middle, half } = controls.room(devicePixelRatio);
        const { basis, reach, lens, parallel } = camera;
        return { eye: camera.eye().map(String), basis, reach, lens, parallel, width, middle, half, height: canvas.height }""")
    across = (places[:, 0] - camera["width"] / 2) / camera["half"]
    high = (places[:, 1] - camera["height"] + camera["middle"]) / camera["half"]
    right, up, toward = np.array(camera["basis"])
    moved = across[:, None] * right + high[:, None] * up
    directions = -toward + (0 if camera["parallel"] else camera["lens"]) * moved
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    offsets = moved * camera["reach"] if camera["parallel"] else np.zeros_like(moved)
    eye = [divmod(int(part), 2**40) for part in camera["eye"]]
    fractions = np.array([part / 2**40 for _, part in eye]) + offsets
    whole = np.floor(fractions)
    cells = np.array([cell for cell, _ in eye]) + whole.astype(np.int64)
    pixel, spread = (camera["reach"] / camera["half"], 0.0) if camera["parallel"] else (0.0, camera["lens"] / camera["half"])
    return cells, fractions - whole, directions, pixel, spread


def traced(scene, rays):
    """What the rays hit by the NumPy tracer, which begins with cubes as wide as a pixel where they enter the box."""
    cells, fractions, directions, pixel, spread = rays
    with np.errstate(divide="ignore"):
        sides = [(np.array(side) - cells - fractions) / directions for side in (scene.corner, np.add(scene.corner, scene.shape))]
    entry = np.maximum(np.minimum(*sides).max(axis=1), 0)
    levels = np.maximum(np.log2(np.maximum(pixel + spread * entry, 1)), 0).astype(np.int8)
    return NumpyTracer(scene).trace(Rays(cells.T.copy(), fractions.T.copy(), directions.T.copy(), levels, spread))


def brick_scene(source, cut):
    """The scene of an object, cut or not, and where the object's box begins."""
    cells = blocks_of(source).corners
    low = cells.min(axis=0)
    if cut:
        axis, at, below = map(int, cut.split(","))
        cells = cells[(cells[:, axis] - low[axis] < at) == below]
    shape = tuple((cells.max(axis=0) - cells.min(axis=0) + 1).tolist())
    packer = BrickPacker(tuple(cells.min(axis=0).tolist()), shape)
    packer.add(cells)
    return packer.scene(), low


@pytest.mark.parametrize(
    ("source", "view", "zoom", "cut"),
    [
        ("nim:31", "three-quarter", 1, ""),
        ("nim:2^40", "three-quarter", 2.0**36, ""),
        ("nim:2^40", "isometric", 0, ""),  # at a corner where the coordinates' lower 30 bits begin again
        ("edge:15", "three-quarter", 3, ""),
        ("fcc:9", "isometric", 1, "2,8,0"),
    ],
)
def test_what_is_seen_is_what_the_numpy_tracer_hits(browser, source, view, zoom, cut):
    """Away from edges: where rays through the corners of a pixel hit the same cube as the one through its middle."""
    browser.open(browser.page(source, view=view), ratio=1)
    low = np.zeros(3, np.int64)
    if cut:
        browser.do("location.hash = gpunim.controls.fragment() + '&cut=' + arguments[0]", cut)
        wait_for(lambda: browser.do("return Boolean(gpunim.controls.cut)"), "the cut")
        scene, low = brick_scene(source, cut)
    elif source.startswith("nim:"):
        scene = NimScene(parse_integer(source.removeprefix("nim:")))
    else:
        scene, low = brick_scene(source, cut)
    if not zoom:
        browser.do("""const { camera, picture } = gpunim, corner = 1n << 70n;
            Object.assign(camera, { focus: [corner, corner, 0n], reach: 5 }); picture.change()""")
    browser.do(
        """const places = []; for (let x = 120; x < 360; x += 9) for (let y = 90; y < 210; y += 9) places.push([x, y]);
        for (let times = arguments[0]; times > 1; times /= 8) {
          gpunim.controls.zoom(Math.min(times, 8), ...places.find(place => gpunim.controls.hit(...place)));
        }""",
        zoom,
    )
    browser.picture()
    random = np.random.default_rng(5)
    middles = np.column_stack([random.integers(60, DESK[0] - 60, 500), random.integers(130, DESK[1] - 70, 500)]) + 0.5
    found = browser.do(
        """const { controls, tracer } = gpunim, { rays, shown } = controls.scene([canvas.width, canvas.height], devicePixelRatio);
        return arguments[0].map(place => { const hit = tracer.pointed(rays, shown, place);
          return hit && [...hit.cell.map(String), hit.level, hit.axis] })""",
        middles.tolist(),
    )
    hits = []
    for shift in ((0, 0), (-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)):
        cells, *rest = rays_of(browser, middles + shift)
        hits.append(traced(scene, (cells + low, *rest)))
    first = hits[0]
    cubes = [hit.cells >> hit.levels for hit in hits]
    clear = np.ones(len(middles), bool)
    for hit, cube in zip(hits[1:], cubes[1:], strict=True):
        clear &= (cube == cubes[0]).all(axis=0) & (hit.levels == first.levels) & (hit.faces == first.faces)
    missed = first.faces == -1
    assert (clear & ~missed).sum() > 10, "too few places are clear of edges"
    image = browser.screenshot()
    theme = THEMES["dark"]
    down = (np.arange(DESK[1])[:, None] + 0.5) / DESK[1]
    behind = 255 * (np.array(theme.top) * (1 - down) + np.array(theme.bottom) * down)
    for k in np.flatnonzero(clear):
        x, y = int(middles[k][0]), DESK[1] - 1 - int(middles[k][1])
        if missed[k]:
            assert found[k] is None, middles[k]
            assert np.abs(image[y, x] - behind[y]).max() <= 2
            continue
        *cell, level, axis = found[k]
        cube = [(int(part) + int(least)) >> level for part, least in zip(cell, low, strict=True)]
        assert (cube, level, axis) == (cubes[0][:, k].tolist(), first.levels[k], first.faces[k]), middles[k]
        assert np.abs(image[y, x] - behind[y]).max() > 8


BOXES = """
const found = ["h1", "#note", "#help", "#play", "#slider", "#count", "#views", "#themes", "#cuts", "#plane", "#kept",
  "#lens", "#spin", "#link", "#save"];
return found.map(name => { const b = document.querySelector(name).getBoundingClientRect();
  return [name, b.left, b.top, b.right, b.bottom] }).filter(b => b[3] > b[1]);
"""

UPPERMOST = """const { help } = window, list = help.lastElementChild; help.open = true; list.style.pointerEvents = "auto";
const b = list.getBoundingClientRect(), [x, y] = [b.right - 40, Math.min(b.bottom, innerHeight) - 40];
const over = list.contains(document.elementFromPoint(x, y)); help.open = false; return over"""


def test_words_and_controls_keep_clear_of_each_other(browser):
    blocks = replace(blocks_of("nim:15"), note="drawn as 256 blocks of 2x2x2 cells")
    browser.open(browser.page(blocks, title="The P-positions of Nim " * 8), PHONE, phone=True)
    browser.key("x")
    for size in (PHONE, (320, 568), (844, 390), (1280, 720)):
        browser.resize(size, phone=size != (1280, 720))
        wait_for(lambda: browser.do("return innerWidth") == size[0], "the new size")  # noqa: B023
        boxes = browser.do(BOXES)
        assert len(boxes) == 15
        assert_apart(boxes, size)
        assert browser.do("return document.documentElement.scrollWidth") <= size[0]
        assert browser.do(UPPERMOST), size
        room = browser.do("const { width, half } = gpunim.controls.room(); return [width, 2 * half]")
        assert size != (844, 390) or (room[0] == 844 and room[1] > 0.8 * 390)


def test_a_hand_on_the_mouse(browser):
    browser.open(browser.page("nim:15"))
    opened, whole = browser.picture(), browser.object()
    browser.drag(90, 70)
    browser.changed(opened)
    left, right, _, _ = frame(browser.object())
    assert abs((left + right) / 2 - opened.shape[1] / 2) < opened.shape[1] / 6
    browser.key("0")
    browser.shows(opened)
    shares = []
    for amount in (300, -600):
        before = browser.picture()
        browser.wheel(amount)
        browser.changed(before)
        shares.append(browser.object().mean() / whole.mean())
    assert shares[0] < 0.8 < 1.2 < shares[1]


def test_fingers_on_the_glass(browser):
    browser.open(browser.page("nim:15"), PHONE, phone=True)
    opened, reach = browser.picture(), browser.do("return gpunim.camera.reach")
    share = browser.object().mean()
    browser.fingers([(150, 400)], [(180, 400)], [(250, 430)])
    browser.changed(opened)
    assert browser.do("return gpunim.camera.reach") == reach
    browser.key("0")
    browser.shows(opened)
    browser.fingers([(150, 400), (240, 400)], [(160, 400), (230, 400)], [(170, 400), (220, 400)])
    smaller = browser.changed(opened)
    assert browser.object().mean() < 0.6 * share
    browser.fingers([(170, 400), (220, 400)], [(160, 400), (230, 400)], [(150, 400), (240, 400)])
    browser.changed(smaller)
    assert browser.object().mean() == pytest.approx(share, rel=0.03)


def test_a_page_changes_to_any_theme(browser):
    """It is then the page of that theme."""
    expected, legends = {}, {}
    legend = "return slider.style.getPropertyValue('--colours')"
    for theme in THEMES:
        browser.open(browser.page("edge:7", theme=theme))
        expected[theme], legends[theme] = browser.picture(), browser.do(legend)
    for theme in THEMES:  # from the last one
        browser.key("t")
        browser.shows(expected[theme])
        assert browser.do(legend) == legends[theme]
        assert browser.do("return themes.value") == theme


def test_every_key_does_what_the_page_says(browser):
    browser.open(browser.page("nim:7"))
    opened, home = browser.picture(), browser.camera()
    for keys, generation in ((["arrow_left"], 6), (["home", "arrow_left"], 0), (["arrow_right"], 1), (["end", "arrow_right"], 7)):
        browser.key(*keys)
        assert browser.generation() == generation
    browser.key("5")
    browser.changed(opened)
    browser.key("0", " ")
    wait_for(lambda: browser.camera() != home, "the object to spin")
    browser.key(" ", "0")
    browser.shows(opened)
    browser.key("p")
    wait_for(lambda: browser.generation() < 7, "the growth to begin again")
    wait_for(lambda: browser.generation() == 7, "the growth to end")
    browser.shows(opened)
    cuts = []
    for _ in "abc":
        browser.key("x")
        cuts.append(browser.do("return kept.textContent"))
    assert cuts == ["a < 4", "b ≥ 4", "c < 4"]  # so that the section faces the eye
    browser.key(".")
    assert browser.do("return [kept.textContent, plane.ariaValueText]") == ["c < 5", "c < 5"]
    browser.key("x")
    assert browser.do("return [kept.checkVisibility(), cuts.value]") == [False, ""]
    browser.shows(opened)


@pytest.mark.parametrize("source", ["edge:15", "hexagonal:2^20"])
def test_a_talk_steps_through_its_views_without_controls(browser, source):
    browser.open(browser.page(source))
    browser.key("h")
    assert browser.do("return [header.offsetHeight, footer.offsetHeight, 2 * gpunim.controls.room().half]") == [0, 0, DESK[1]]

    def shown():
        return browser.do(
            "const { camera: { basis, reach }, controls } = gpunim;"
            "return [...basis[2], reach, Number(controls.generation), Object.keys(data.themes).indexOf(controls.theme)]"
        )

    views = []
    for _ in range(3):
        browser.drag(60, 30)
        browser.key("t", "v")
        views.append(shown())
        browser.key("arrow_left")
    wait_for(lambda: browser.do("return location.hash === gpunim.controls.fragment()"), "the address to hold the views")
    browser.open(browser.do("return location.href"))
    for key, at in (("page_down", 0), ("arrow_down", 1), ("page_down", 2), ("page_down", 2), ("page_up", 1), ("arrow_up", 0)):
        browser.key(key)
        assert shown() == pytest.approx(views[at], rel=1e-4)
    assert len({view[-1] for view in views}) == 3
    browser.key("V", "page_down")
    assert browser.do("return gpunim.controls.view.name") == "initial view"


def test_a_slider_goes_through_the_values_of_a_sweep(browser):
    address = browser.page("chocolate:a=1..3,size=15")
    pictures = []
    for a, link in ((1, ""), (3, ""), (3, browser.open(address).do("return gpunim.controls.here()").replace("value=0", "value=2"))):
        browser.open(address + link)
        if a == 3 and not link:
            browser.key("]", "]")
        said = [f"a = {a}", f"{len(solve('chocolate', 15, a=a).p_positions)} cells"]
        wait_for(lambda: browser.do("return [swept.textContent, count.textContent.split(': ')[1]]") == said, said)  # noqa: B023
        pictures.append(browser.picture())
    assert differ(*pictures[:2])
    browser.shows(pictures[1])


@pytest.mark.parametrize("source", ["edge:15", "nim:31"])
def test_an_object_that_spins_stays_in_the_picture(browser, source):
    browser.open(browser.page(source))
    browser.key(" ", " ")
    for _ in range(12):
        browser.do("gpunim.camera.turn(-Math.PI / 6, 0); gpunim.controls.redraw()")
        mask = browser.object()
        left, right, top, bottom = frame(mask)
        assert min(left, top, mask.shape[1] - 1 - right, mask.shape[0] - 1 - bottom) > 0


def test_a_page_is_light_where_that_is_preferred_and_no_theme_was_chosen(browser):
    for theme, scheme, expected in (("dark", "dark", "dark"), ("dark", "light", "paper"), ("neon", "light", "neon")):
        browser.open(browser.page("nim:7", theme=theme), scheme=scheme)
        assert browser.do("return gpunim.controls.theme") == expected


def test_a_page_prints_the_view_that_is_seen_on_paper(browser):
    browser.open(browser.page("nim:7"))
    seen = browser.screenshot()
    browser.do("window.dispatchEvent(new Event('beforeprint'))")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    wait_for(
        lambda: browser.do("return still.offsetHeight > 0 && [still.naturalHeight, still.naturalWidth]") == [*seen.shape[:2]], "it"
    )
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    corner = """const pen = document.createElement("canvas").getContext("2d"); pen.drawImage(still, 0, 0);
        return [gpunim.controls.theme, Math.min(...pen.getImageData(0, 0, 1, 1).data) > 200]"""
    assert browser.do(corner) == ["dark", True]


@pytest.mark.parametrize(
    ("source", "view", "text"),
    [
        ("nim:3", "0,89", "(3, 0, 3): nim-sum 0, generation 3, parent (2, 0, 2)"),
        ("edge:2", "0,89", "(2, 0, 2): nim-sum 0, generation 2, parent (1, 0, 1)"),
        ("chocolate:a=3,size=3", "0,89", "(3, 0, 3): nim-sum 0, generation 3"),
    ],
)
def test_a_cell_is_named(browser, source, view, text):
    browser.open(browser.page(source, view=view))
    browser.picture()
    places = browser.do("""
        const { camera, controls, object } = gpunim, last = object.extent.map(side => side - 1n);
        const middle = [last[0], 0n, last[2]].map(x => (x << 40n) + (1n << 39n));
        middle[2] += 1n << 39n;
        return camera.project(middle, controls.room())""")
    size = browser.do("return [innerWidth, innerHeight]")
    x, y = (round(place - side / 2) for place, side in zip(places, size, strict=True))
    canvas = browser.driver.find_element("id", "view")
    browser.actions().move_to_element_with_offset(canvas, x, y).perform()
    wait_for(lambda: browser.do("return label.textContent") == text, text)
    wait_for(lambda: browser.do("return said.textContent") == text, "the words for a screen reader")
    assert browser.do("return mark.firstElementChild.getAttribute('d').length") > 20
    browser.actions().move_to_element_with_offset(canvas, -DESK[0] // 2 + 10, 0).perform()
    wait_for(lambda: browser.do("return label.hidden"), "the words to go")


def test_a_screen_reader_is_told_what_everything_is(browser):
    browser.open(browser.page("nim:15"))
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    told = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]}
    assert {("image", "nim:15 in three dimensions"), ("heading", "nim:15"), ("slider", "generation")} <= told
    assert {name for role, name in told if role == "combobox"} == {"view", "theme", "cut"}
    assert {name for role, name in told if role == "button"} == {"Play", "Parallel", "Spin", "full screen", "Link", "Save"}
    assert browser.do("return slider.ariaValueText") == "generation 15 of 15: 256 cells"
    browser.key("tab")
    assert browser.do("return document.activeElement.id") == "view"
    browser.key("c")
    wait_for(lambda: browser.do("return said.textContent !== ''"), "the words for a screen reader")
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    live = [part["value"]["value"] for node in nodes for part in node.get("properties", []) if part["name"] == "live"]
    assert live.count("polite") == 1  # else a cell would be read twice, and a growth that plays generation by generation


def test_a_link_leads_to_the_same_view(browser):
    browser.open(browser.page("nim:2^40"))
    browser.picture()
    browser.wheel(-3000)
    browser.drag(40, 20)
    browser.key("arrow_left", "t", "x")
    there, camera, generation = browser.picture(), browser.camera(), browser.generation()
    wait_for(lambda: browser.do("return location.hash === gpunim.controls.fragment()"), "the address to say where we are")
    address = browser.do("return location.href")
    browser.open(address)
    assert np.abs(browser.picture() - there).mean() < 0.5
    assert (browser.camera(), browser.generation()) == (camera, generation)
    browser.open(browser.page("nim:2^40") + "#generation=x&reach=-1&theme=papyrus&cut=3,0,0")
    assert browser.generation() == 2**40
    assert browser.do("const { theme, cut } = gpunim.controls; return [theme, cut]") == ["dark", None]


def test_without_webgl_the_page_says_so(browser):
    with browser.without_webgl():
        browser.open(browser.page("nim:15"))
        said = browser.do("return document.getElementById('message').innerText")
        assert said == "This browser has no WebGL 2, which draws the picture."
        assert browser.do("return document.querySelector('footer').offsetHeight") == 0
        assert browser.do("return still.offsetHeight * still.naturalWidth") == DESK[1] * 640


def test_a_page_brings_all_that_it_needs_and_saves_its_picture(browser, tmp_path):
    """With a title that is meant to break out of its place."""
    printed("export", "nim:15", "--title", HOSTILE, "-o", tmp_path / "nim.html")
    browser.open((tmp_path / "nim.html").as_uri())
    assert browser.do("return document.querySelector('h1').textContent") == HOSTILE
    assert browser.do("return [document.images.length, document.scripts.length]") == [1, 1]
    # Without an icon of its own a page makes a browser with a frame ask for one.
    assert browser.do("return document.querySelector('link[rel=icon]').href").startswith("data:")
    fetched = browser.do("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []
    assert fills(browser.object())
    seen = browser.screenshot()
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.key("s")
    file = tmp_path / "gpunim.png"
    wait_for(file.exists, "the picture")
    with Image.open(file) as image:
        kept = np.asarray(image.convert("RGB"), int)
    assert kept.shape == seen.shape
    assert np.abs(middle_of(kept) - middle_of(seen)).max() <= 3
