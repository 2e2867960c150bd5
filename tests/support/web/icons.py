"""
Make the PNG icons of the installed inbox from `static/icon.svg`: run `tests.support.web.icons`.

A maskable icon fills the whole square, as systems cut their own shape out of it; what matters is
in the inner 80 per cent.
"""

from pathlib import Path
from typing import Final

from playwright.sync_api import Page

from tests.support.chromium import open_chromium

ROOT: Final = Path(__file__).resolve().parents[3]
ICONS: Final = ROOT / "static/icons"
_BACKGROUND: Final = "#1b1e27"


def _draw(page: Page, name: str, size: int, *, is_square: bool = False) -> None:
    svg = (ROOT / "static/icon.svg").read_text()
    inner = round(size * 0.8) if is_square else size
    background = _BACKGROUND if is_square else "transparent"
    page.set_viewport_size({"width": size, "height": size})
    page.set_content(
        f"<style>html,body{{margin:0;height:100%;background:{background}}}"
        f"body{{display:grid;place-items:center}}svg{{width:{inner}px;height:{inner}px}}</style>{svg}"
    )
    page.screenshot(path=ICONS / f"{name}.png", omit_background=not is_square)


def main() -> None:
    ICONS.mkdir(exist_ok=True)
    with open_chromium() as browser:
        page = browser.new_page()
        _draw(page, "icon-180", 180, is_square=True)
        _draw(page, "icon-192", 192)
        _draw(page, "icon-512", 512)
        _draw(page, "icon-maskable-512", 512, is_square=True)


if __name__ == "__main__":
    main()
