"""The pages in a real browser, by a server that refuses to write."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.observe.stores import Store
from tests.observe.web import browsers
from tests.observe.web.browser import browsing
from tests.observe.web.served import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.observe.web.browser import Page
    from tests.observe.web.served import Served

ARMED = (sys.executable, "-m", "tests.observe.web.armed")
HERE = "document.activeElement.id"
_HOSTILE = (
    "<script>window.bad = 1</script> <img src=https://elsewhere.example/x.png> "
    "![x](https://elsewhere.example/y.png) [z](javascript:window.bad=1)"
)


@pytest.fixture(scope="module")
def machine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def shared(machine_folder: Path) -> Store:
    """A store with a few threads; tests add to it, and each to its own."""
    store = Store(machine_folder / "work" / ".watercooler")
    for topic, holder in (
        *(("auth", "Pat"), ("sync", "Pat"), ("notes", None)),
        *(("search", "Codex"), ("api", "Codex"), ("docs", "Claude Code")),
    ):
        store.thread(topic, store.give(topic, holder, title=f"About {topic}"))
    store.thread("hostile", store.give("hostile", "Codex", body=_HOSTILE))
    return store


@pytest.fixture(scope="module")
def served(machine_folder: Path, shared: Store) -> Iterator[Served]:
    home = machine_folder / "home"
    home.mkdir()
    env = {"HOME": str(home), "USER": "Pat", "GIT_CONFIG_NOSYSTEM": "1"}
    with serving(shared.root.parent, env, program=ARMED) as page:
        yield page
        assert page.end() == 0
    told = json.loads(page.out)
    assert told == {"refused": [], "bitten": 4}
    assert "Traceback" not in page.err


@pytest.fixture(scope="module")
def tab(machine_folder: Path) -> Iterator[Page]:
    program = browsers.found()
    with browsing(program.path, machine_folder, program.env) as browser:
        yield browser.page()


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """A page that remembers nothing; in the end, that nothing was loaded from
    elsewhere, and that nothing was complained of."""
    yield tab
    assert tab.asked
    assert [one for one in tab.asked if not one.startswith("http://127.0.0.1:")] == []
    assert tab.complaints == []
    tab.js("localStorage.clear()")
    tab.forget()


def live(page: Page) -> None:
    page.until("document.querySelector('#live')?.dataset.was === 'live'")


def test_it_is_gone_through_with_keys_alone(page: Page, served: Served) -> None:
    page.open(served.url)
    live(page)
    page.press("j")
    assert page.js(HERE) == "t-sync"
    page.press("ArrowDown")
    assert page.js(HERE) == "t-auth"
    page.press("l")
    assert page.js(HERE) == "t-notes"
    for key, there in (("k", "t-auth"), ("j", "t-notes"), ("h", "t-sync")):
        page.press(key)
        assert page.js(HERE) == there
    page.press("j")
    page.press("Enter")
    page.until("location.pathname.endsWith('/threads/auth')")
    page.until("document.querySelector('#live')")
    page.press("j")
    assert page.js(HERE) == "e0"
    page.press("Enter")
    page.until("location.pathname.endsWith('/auth/0')")
    page.until("document.querySelector('#live')")
    page.press("Escape")
    page.until(f"location.hash === '#e0' && {HERE} === 'e0'")
    page.until("document.querySelector('#live')")
    page.press("Escape")
    page.until(f"document.querySelector('#live') && {HERE} === 't-auth'")
    page.press("2")
    page.until("location.pathname.endsWith('/threads')")
    page.until("document.querySelector('#live')")
    page.press("3")
    page.until("location.pathname.endsWith('/edits')")


def test_fields_take_keys_as_letters(page: Page, served: Served) -> None:
    page.open(served.url)
    live(page)
    page.press("/")
    assert page.js(HERE) == "q"
    page.press("j")
    assert page.js("document.activeElement.value") == "j"
    page.press("Escape")
    assert page.js("document.activeElement === document.body")
    page.press("f")
    page.type("auth")
    page.until("document.querySelectorAll('.column li').length === 1")
    assert page.js("location.search") == "?filter=auth"
    assert page.js(f"{HERE} + document.activeElement.value") == "filterauth"
    page.press("Escape")
    page.press("/")
    page.type("about")
    page.press("Enter")
    page.until("document.querySelectorAll('.hits mark').length > 3")


def test_keys_are_listed_and_letters_can_be_switched_off(
    page: Page, served: Served
) -> None:
    page.open(served.url)
    live(page)
    page.press("?")
    assert page.js("document.querySelector('dialog').open")
    page.js("document.querySelector('dialog input').click()")
    page.press("Escape")
    page.until("document.activeElement === document.body")
    assert not page.js("document.querySelector('dialog').open")
    page.press("j")
    assert page.js("document.activeElement === document.body")
    page.open(served.url + "threads")
    live(page)
    page.press("/")
    assert page.js("document.activeElement === document.body")


def test_what_is_written_shows_without_touching_the_rest(
    page: Page, served: Served, shared: Store
) -> None:
    page.open(served.url)
    live(page)
    page.js("document.getElementById('t-docs').same = 1")
    page.js("document.getElementById('t-docs').focus()")
    shared.thread("fresh", shared.give("fresh", "Pat", title="<b>Just</b> written"))
    page.until("document.getElementById('t-fresh')?.textContent.includes('<b>Just')")
    assert page.js("document.getElementById('t-docs').same === 1")
    assert page.js(HERE) == "t-docs"
    page.until("document.title.startsWith('(3)')")
    page.until("document.getElementById('said').textContent === 'fresh changed'")
    assert page.js("document.getElementById('i-fresh').classList.contains('moved')")
    page.open(served.url + "threads/fresh")
    live(page)
    shared.append("fresh", shared.entry("fresh", "And **more**."))
    page.until("document.querySelector('#e1 strong')?.textContent === 'more'")


def test_nothing_that_anyone_wrote_acts_or_loads(page: Page, served: Served) -> None:
    page.open(served.url + "threads/hostile")
    live(page)
    assert page.js("window.bad === undefined")
    assert page.js("document.querySelectorAll('main img, main script').length") == 0
    text = page.js("document.querySelector('.body').textContent")
    assert text.startswith("<script>window.bad = 1</script> <img src=")
    # Nor would the browser run it, or read another page, if it were let in.
    ran = (
        "const s = document.createElement('script'); s.textContent = 'window.bad = 1';"
    )
    page.js(f"{{ {ran} document.body.append(s) }}")
    page.js("fetch('https://elsewhere.example/').catch(() => 0)")
    assert page.js("window.bad === undefined")
    complaints = page.forgiven()
    assert len(complaints) > 1
    assert all("Content Security Policy" in one for one in complaints)


def test_nothing_is_wider_than_a_phone(page: Page, served: Served) -> None:
    page.sized(360, 740)
    pages = ("", "threads", "threads/auth", "search?q=about", "edits")
    for path in pages:
        page.open(served.url + path)
        assert page.js("document.documentElement.scrollWidth") == 360, path
    page.send("Emulation.clearDeviceMetricsOverride")


def test_colours_are_those_of_the_system_until_chosen(
    page: Page, served: Served
) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page.prefers("dark")
    page.open(served.url)
    live(page)
    dark = page.js(paper)
    page.prefers("light")
    light = page.js(paper)
    assert dark != light
    page.js("document.getElementById('colours').click()")
    page.prefers("dark")
    assert page.js(paper) == light
    page.open(served.url + "threads")
    assert page.js(paper) == light


def test_a_screen_reader_finds_its_way(page: Page, served: Served) -> None:
    page.open(served.url)
    live(page)
    roles = page.roles()
    assert {"banner", "navigation", "search", "main", "contentinfo"} <= roles.keys()
    assert roles["navigation"] == ["Pages"]
    assert "Search" in roles["searchbox"]
    assert "Keys" in roles["button"]
    # Each column is a place of its own, under its holder's name.
    assert {"Claude Code 1", "Codex 3"} <= {*roles["region"]}
    assert any(
        one.startswith("About docs ") and " docs " in one for one in roles["link"]
    )
    page.press("Tab")
    assert page.js("document.activeElement.className") == "skip"
    page.press("Enter")
    page.until(f"{HERE} === 'content'")


def test_a_store_that_comes_and_a_server_that_goes_are_reported(
    page: Page, machine_folder: Path, served: Served
) -> None:
    folder = machine_folder / "other"
    folder.mkdir()
    home = {"HOME": str(machine_folder), "GIT_CONFIG_NOSYSTEM": "1"}
    env = {"USER": "Pat", "WATERCOOLER_DIR": str(folder / "store")} | home
    with serving(folder, env, program=ARMED) as other:
        page.open(other.url)
        live(page)
        assert "NOT_FOUND" in page.js("document.body.textContent")
        footer = "document.querySelector('footer p').textContent"
        assert page.js(footer).startswith("Folder ")
        store = Store(folder / "store")
        store.thread("first", store.give("first", "Pat"))
        page.until("document.getElementById('t-first')")
        page.until(f"{footer}.startsWith('Store ')")
        assert other.end() == 0
    page.until(
        "document.querySelector('#live').textContent.startsWith('Not connected')"
    )
    page.sized(390, 844)
    row = "document.querySelector('body > header').getBoundingClientRect()"
    mark = "document.querySelector('#live').getBoundingClientRect()"
    assert page.js(f"{row}.height") < 60
    assert page.js(f"{mark}.top >= {row}.bottom && {mark}.bottom <= innerHeight")
    page.sized(1280, 900)
    page.open(served.url)  # first: until then the page tries again and again
    page.forgiven()


def chord(page: Page, key: str) -> None:
    """A key with Ctrl."""
    told = {"key": key, "code": f"Key{key.upper()}", "modifiers": 2}
    page.send("Input.dispatchKeyEvent", type="keyDown", **told)
    page.send("Input.dispatchKeyEvent", type="keyUp", **told)


CHOSEN = "document.querySelector('#palette [aria-selected=true]')?.innerText ?? ''"


def test_a_palette_leads_everywhere(page: Page, served: Served) -> None:
    page.open(served.url)
    live(page)
    chord(page, "k")
    assert page.js("document.getElementById('palette').open")
    for words, kind in (("timel", "page"), ("notes", "thread")):
        page.js("document.activeElement.select()")
        page.type(words)
        page.until(f"{CHOSEN}.endsWith('{kind}')")
    page.until("document.querySelectorAll('#palette li').length === 2")
    # A frame later, a screen reader knows it as well.
    page.js("new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")
    roles = page.roles()
    assert "About notes notes thread" in roles["option"]
    assert any("go to a page or thread" in one.lower() for one in roles["combobox"])
    chosen = "document.activeElement.getAttribute('aria-activedescendant')"
    assert page.js(chosen) == "palette-0"
    page.press("ArrowDown")
    assert page.js(chosen) == "palette-1"
    page.press("ArrowUp")
    page.press("Enter")
    page.until("location.pathname.endsWith('/threads/notes')")
    live(page)
    # Also with letters switched off, and from a field; here it copies a command.
    page.js("localStorage.setItem('wc-no-letters', 1)")
    page.js("document.getElementById('q').focus()")
    chord(page, "k")
    page.until(f"{CHOSEN}.startsWith('wc ')")
    page.js("navigator.clipboard.writeText = async (text) => (window.copied = text); 0")
    page.press("Enter")
    page.until("window.copied?.startsWith('wc ')")
    chord(page, "k")
    page.press("Escape")
    assert not page.js("document.getElementById('palette').open")


def test_a_thread_can_be_looked_at_from_the_list(page: Page, served: Served) -> None:
    page.open(served.url + "?filter=about")
    live(page)
    page.press("j")
    page.press("j")
    assert page.js(HERE) == "t-auth"
    page.press(" ")
    page.until("document.querySelector('#peek h1')?.innerText === 'About auth'")
    assert page.js("location.pathname").endswith("/")
    assert page.js("document.querySelectorAll('#peek [id]').length") == 0
    assert "About auth" in page.roles()["dialog"]
    page.press("k")
    page.until("document.querySelector('#peek h1').innerText === 'About sync'")
    page.press("Escape")
    page.until(f"{HERE} === 't-sync'")
    page.press(" ")
    page.until("document.querySelector('#peek h1').innerText === 'About sync'")
    page.press("Enter")
    page.until("location.pathname.endsWith('/threads/sync')")


def test_a_filter_is_kept_and_come_back_to(page: Page, served: Served) -> None:
    page.open(served.url + "threads")
    live(page)
    assert page.js("document.getElementById('saved').hidden")
    page.press("f")
    page.type("auth")
    page.until("location.search === '?filter=auth'")
    page.until("document.querySelector('#saved button')")
    page.js("document.querySelector('#saved button').click()")
    assert page.js("document.querySelector('#saved a').innerText") == "auth (threads)"
    kept = page.js("localStorage.getItem('wc-filters')")
    assert kept == '[{"place":"threads","query":"filter=auth"}]'
    page.open(served.url)
    live(page)
    page.js("document.querySelector('#saved a').click()")
    page.until("location.pathname.endsWith('/threads') && location.search")
    live(page)
    assert page.js("document.querySelectorAll('main tbody tr').length") == 1
    page.js("document.querySelector('#saved button').click()")
    assert page.js("localStorage.getItem('wc-filters')") == "[]"
    # Back from a thread, the board has the filter that it had.
    page.open(served.url + "?filter=auth")
    live(page)
    page.press("j")
    page.press("Enter")
    page.until("location.pathname.endsWith('/threads/auth')")
    live(page)
    page.press("Escape")
    page.until(f"location.search === '?filter=auth' && {HERE} === 't-auth'")
