"""The gallery of components: accessible in every theme, size and setting of a reader's system."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.template import Template
from django.test.signals import template_rendered
from playwright.sync_api import Browser, Page

from tests.support.browser.accessibility_checks import TAGS, find_violations
from tests.support.browser.gallery import ROOT, gallery_html, open_gallery

pytestmark = pytest.mark.browser

READERS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced colours": {"forced_colors": "active"},
    "more contrast": {"contrast": "more"},
    "more contrast, dark": {"contrast": "more", "color_scheme": "dark"},
}
THEMES = ("light", "dark")

# -- pairs of tokens ------------------------------------------------------------------------------

SURFACES = ("canvas", "surface", "raised", "sunken", "hover", "selected", "here")
OUTCOMES = ("ok", "bad", "warn", "edit")
SERIES = ("rule", "approved", "edited", "rejected", "expired", "waiting")
#: Each text on each background that it may stand on, and their lowest contrast (WCAG 1.4.3).
TEXTS = [
    *product(("ink", "ink-2", "ink-3", "accent-ink"), SURFACES),
    *product([f"{outcome}-ink" for outcome in OUTCOMES], SURFACES),
    *((f"{name}-ink", f"{name}-bg") for name in ("accent", *OUTCOMES)),
    *product(("ink", "ink-2"), [f"{name}-bg" for name in ("accent", *OUTCOMES, "ins", "del")]),
    *((f"on-{name}", name) for name in ("accent", "ok", "bad")),
]
#: Marks: the focus ring, outlines of fields, icons, and the series of charts (WCAG 1.4.11).
MARKS = [
    *product(("accent", "ok", "bad", "warn"), ("canvas", "surface", "raised", "sunken")),
    ("accent", "hover"),
    ("accent", "selected"),
    ("accent", "here"),
    *product(("line-input",), ("canvas", "surface", "raised", "sunken")),
    *product([f"c-{name}" for name in SERIES], ("surface", "sunken")),
]
#: The contrast of each pair, from the bytes that the browser paints.
_CONTRASTS = """(pairs) => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const probe = document.body.appendChild(document.createElement("i"));
  const luminance = (token) => {
    probe.style.color = `var(--${token})`;
    context.fillStyle = getComputedStyle(probe).color;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((byte) => {
      const value = byte / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return pairs.map((pair) => {
    const [dark, light] = pair.map(luminance).sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  });
}"""


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    with open_gallery(chromium, reduced_motion="reduce") as page:
        yield page


def show(page: Page, *, width: int = 1440, **reader: Any) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    settings = {"color_scheme": "light", "forced_colors": "none", "contrast": "no-preference"}
    page.emulate_media(**settings | reader)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("reader", READERS)
def test_components_have_no_violation(page, reader, width):
    show(page, width=width, **READERS[reader])

    assert find_violations(page, "tag", TAGS) == []


def test_components_have_no_violation_with_text_twice_as_large(page):
    show(page)
    page.evaluate("document.documentElement.style.fontSize = '200%'")

    violations = find_violations(page, "tag", TAGS)

    page.evaluate("document.documentElement.style.fontSize = ''")
    assert violations == []


def test_components_fit_320_pixels_and_twice_as_large_text_on_640(page):
    for width, size in ((320, ""), (640, "200%")):
        show(page, width=width)
        page.evaluate("(size) => (document.documentElement.style.fontSize = size)", size)

        assert page.evaluate("document.scrollingElement.scrollWidth") <= width

    page.evaluate("document.documentElement.style.fontSize = ''")


def test_nothing_moves_for_readers_who_want_less_motion(chromium, page):
    count = "document.getAnimations().filter(({ playState }) => playState === 'running').length"
    assert page.evaluate(count) == 0

    with open_gallery(chromium, reduced_motion="no-preference") as moving:
        assert moving.evaluate(count) > 0  # so that the count above says something


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("pairs", "limit"), [(TEXTS, 4.5), (MARKS, 3)], ids=["texts", "marks"])
def test_tokens_have_contrast_on_each_surface(page, theme, pairs, limit):
    show(page, color_scheme=theme)

    contrasts = page.evaluate(_CONTRASTS, pairs)

    low = {pair: round(value, 2) for pair, value in zip(pairs, contrasts, strict=True)}
    assert {pair: value for pair, value in low.items() if value < limit} == {}


def test_the_gallery_shows_every_component():
    rendered: set[str] = set()

    def note(sender: Template, **_: Any) -> None:
        rendered.add(str(sender.name))

    template_rendered.connect(note)
    gallery_html()
    template_rendered.disconnect(note)

    folder = ROOT / "templates/components"
    assert {f"components/{path.name}" for path in folder.rglob("*.html")} - rendered == set()
