"""Every page as a whole, in a real browser: accessible, and no wider than its window.

`tests.observe.web.gallery` does the same at all widths, and takes pictures of it.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.observe.web.gallery import PAGES, THEMES, WIDTHS, gallery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.observe.web.gallery import Gallery

# The short form looks at the narrow window, in which most goes wrong.
_WIDTHS = WIDTHS if amounts.is_long() else WIDTHS[-1:]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    with gallery(tmp_path_factory.mktemp("gallery")) as opened:
        yield opened


@pytest.mark.parametrize("theme", THEMES if amounts.is_long() else THEMES[:1])
@pytest.mark.parametrize(("width", "height"), _WIDTHS)
def test_axe_finds_no_violation(
    shown: Gallery, width: int, height: int, theme: str
) -> None:
    shown.page.sized(width, height)
    shown.page.prefers(theme)
    for name in PAGES:
        shown.open(name)
        assert shown.violations() == [], name
        assert shown.too_wide() <= 0, name


@pytest.mark.parametrize(("width", "height"), _WIDTHS)
def test_axe_finds_no_violation_in_what_opens_over_a_page(
    shown: Gallery, width: int, height: int
) -> None:
    page = shown.page
    page.sized(width, height)
    shown.open("board-filtered")
    page.js("document.getElementById('go').click()")
    page.until("document.querySelector('#palette .topic')")
    assert shown.violations() == []
    assert shown.too_wide() <= 0
    page.press("Escape")
    # A key that is pressed while the browser gives the focus back goes astray.
    page.until("!document.getElementById('palette').open")
    page.until("!document.activeElement.closest('#palette')")
    time.sleep(0.2)
    page.press("j")
    page.until("document.activeElement.matches('[data-item]')")
    page.press(" ")
    page.until("document.querySelector('#peek h1')")
    assert shown.violations() == []
    assert shown.too_wide() <= 0
    page.press("Escape")
    page.js("document.querySelector('#saved button').click()")
    assert shown.violations() == []
    page.js("localStorage.clear()")


def test_axe_sees_what_is_wrong(shown: Gallery) -> None:
    shown.open("board")
    shown.page.js("document.documentElement.removeAttribute('lang')")
    shown.page.js("document.querySelector('.home').replaceChildren()")
    rules = {found["rule"] for found in shown.violations()}
    assert {"html-has-lang", "link-name"} <= rules


def test_a_menu_opens_on_a_narrow_screen(shown: Gallery) -> None:
    page = shown.page
    page.sized(390, 844)
    shown.open("threads")
    header = "document.querySelector('body > header').getBoundingClientRect().height"
    assert page.js(header) < 60
    visible = "document.querySelector('#to-edits').checkVisibility()"
    assert not page.js(visible)
    page.js("document.querySelector('header .opens').click()")
    page.until(visible)
    assert page.js("document.querySelector('#q').checkVisibility()")
    page.js("document.querySelector('#menu').hidePopover()")
    page.js("document.querySelector('.filter .opens').click()")
    page.until("document.querySelector('#filter').checkVisibility()")
    page.js("document.querySelector('#filter').focus()")
    page.type("passkey")
    page.until("document.querySelectorAll('tr[id]').length === 2")


def test_options_of_commands_stay_whole(shown: Gallery) -> None:
    shown.page.sized(390, 844)
    shown.open("empty")
    # The command takes two lines, and its option is in one of them.
    code, option = "main li code", "main li code .option:last-child"
    tall = "document.querySelector('{}').getBoundingClientRect().height"
    height, line = (shown.page.js(tall.format(one)) for one in (code, option))
    assert height > 1.8 * line


def test_one_agent_with_many_threads_leaves_no_void(shown: Gallery) -> None:
    page = shown.page
    page.sized(1440, 900)
    shown.open("board")
    page.js(
        "{ const [first, ...rest] = document.querySelectorAll('.others-columns > *');"
        "for (const column of rest) {"
        "first.querySelector('ul').append(...column.querySelectorAll('li'));"
        "column.remove(); } }"
    )
    cards = "[...document.querySelectorAll('.others-columns li')]"
    boxes = page.js(f"{cards}.map((one) => one.getBoundingClientRect().toJSON())")
    first_row = [box for box in boxes if box["top"] == boxes[0]["top"]]
    assert len(first_row) >= 3
    assert 1440 - first_row[-1]["right"] < 60


def test_the_head_is_in_one_place_on_a_wide_screen(shown: Gallery) -> None:
    page = shown.page
    page.sized(1920, 1000)
    places = set()
    for name in ("board", "threads", "thread", "empty"):
        shown.open(name)
        places.add(page.js("document.querySelector('.home').offsetLeft"))
        width = "document.querySelector('body > header').offsetWidth"
        assert page.js(width) == 1920, name
    assert len(places) == 1


def test_paper_has_no_controls(shown: Gallery) -> None:
    page = shown.page
    page.sized(794, 1123)
    page.send("Emulation.setEmulatedMedia", media="print")
    controls = "form, nav, button, details, body > header, body > footer"
    seen = (
        f"[...document.querySelectorAll('{controls}')]"
        ".filter((one) => one.checkVisibility()).map((one) => one.outerHTML)"
    )
    try:
        for name in ("board", "thread", "threads", "search", "edits"):
            shown.open(name)
            assert page.js(seen) == [], name
        shown.open("thread")
        fade = "getComputedStyle(document.querySelector('.aside'), '::after').display"
        assert page.js(fade) == "none"
        # An age means nothing on paper.
        said = "getComputedStyle(document.querySelector('time.age'), '::after').content"
        assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", page.js(said))
    finally:
        page.send("Emulation.setEmulatedMedia", media="")


def test_a_command_is_copied(shown: Gallery) -> None:
    page = shown.page
    page.sized(1440, 900)
    shown.open("thread")
    page.js(
        "navigator.clipboard.writeText = (text) => { window.copied = text; "
        "return Promise.resolve() }"
    )
    page.js("document.querySelector('.aside .command .copy').click()")
    page.until("window.copied === 'wc say login'")
    page.press("n")
    page.until("location.pathname.endsWith('/threads/rounding')")
