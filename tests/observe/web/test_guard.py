"""Who may open the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.observe.web.pages import HERE, SECRET, Site
from wc_observe.web.guard import HEADERS

if TYPE_CHECKING:
    from tests.observe.stores import Store

pytestmark = pytest.mark.usefixtures("store")

LOCAL = ("127.0.0.1:8422", "127.0.0.1", "localhost:9000", "LOCALHOST", "[::1]:8422")
FOREIGN = (
    *("evil.example", "evil.example:8422", "127.0.0.1.evil.example", "localhost.evil"),
    *("", "127.0.0.1@evil.example", "evil.example#@127.0.0.1", "0.0.0.0", "[::2]:1"),
    *("127.0.0.1:0", "127.0.0.1:x", "[", "10.0.0.1"),
)


@pytest.mark.parametrize("host", LOCAL)
def test_this_machine_is_reached_by_its_own_names(site: Site, host: str) -> None:
    assert site.ask(f"/{SECRET}/", host=host).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_a_name_that_someone_else_points_here_is_refused(site: Site, host: str) -> None:
    found = site.ask(f"/{SECRET}/", host=host)
    assert found.status_code == 421
    assert "Watercooler" not in found.text


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (HERE, 200),
        ("http://localhost:8422", 403),
        ("http://127.0.0.1:9", 403),
        ("https://evil.example", 403),
        ("null", 403),
    ],
)
def test_only_our_own_pages_may_ask(site: Site, origin: str, status: int) -> None:
    assert site.ask(f"/{SECRET}/", origin=origin).status_code == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "X"])
def test_there_is_nothing_but_reading(site: Site, method: str) -> None:
    found = site.ask(f"/{SECRET}/", method)
    assert (found.status_code, found.headers["allow"]) == (405, "GET, HEAD")


def test_the_address_without_its_slash_says_the_way(site: Site) -> None:
    found = site.ask(f"/{SECRET}")
    assert (found.status_code, f'href="/{SECRET}/"' in found.text) == (404, True)


def test_a_head_is_that_of_the_page(site: Site) -> None:
    found = site.ask(f"/{SECRET}/", "HEAD")
    assert (found.status_code, found.text) == (200, "")


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/",
            "/threads",
            "/wrong/",
            f"/{SECRET[:-1]}/",
            f"/{SECRET}x/",
            f"//{SECRET}/",
        ),
        *("/events", "/wrong/events", "/%C3%A9/", "/open/", "/open/x", "/files"),
    ],
)
def test_without_the_secret_there_is_nothing(site: Site, path: str) -> None:
    found = site.ask(path)
    assert found.status_code == 403
    assert "Open the complete address" in found.text
    assert SECRET not in found.text


def test_a_ticket_opens_the_page_once(env: dict[str, str], store: Store) -> None:
    site = Site(store.root.parent, env, "a-ticket")
    assert site.ask("/open/a-tickets").status_code == 403
    found = site.ask("/open/a-ticket")
    assert (found.status_code, found.headers["location"]) == (303, f"/{SECRET}/")
    assert site.ask("/open/a-ticket").status_code == 403


def test_a_ticket_may_lead_to_a_thread(env: dict[str, str], store: Store) -> None:
    site = Site(store.root.parent, env, "a-ticket", "a plan")
    found = site.ask("/open/a-ticket")
    assert found.headers["location"] == f"/{SECRET}/threads/a%20plan"
    assert site.site.path == found.headers["location"]


@pytest.mark.parametrize(
    "path", [f"/{SECRET}/", "/", f"/{SECRET}/threads/nope", f"/{SECRET}/nowhere"]
)
def test_no_answer_lets_anything_else_in(site: Site, path: str) -> None:
    found = site.ask(path).headers
    assert {name: found[name] for name in HEADERS} == HEADERS
    assert found["cache-control"] == "no-store"
    assert "set-cookie" not in found
    policy = dict(
        one.split(" ", 1) for one in HEADERS["Content-Security-Policy"].split("; ")
    )
    assert policy["default-src"] == "'none'"
    assert {*policy.values()} == {"'none'", "'self'"}


@pytest.mark.parametrize(
    "path",
    ["", "threads", "search", "edits", "threads/x/0"],
)
def test_pages_load_nothing_but_our_own_files(
    site: Site, store: Store, path: str
) -> None:
    from tests.observe.web.pages import elements

    store.thread("x")
    found = elements(site.get(path))
    loaded = [
        said.get("src") or said.get("href") or ""
        for tag, said in found
        if tag in {"script", "link", "img", "iframe"}
    ]
    icons = {name for name in loaded if name == f"/{SECRET}/icon.svg"}
    assert site.ask(*icons).headers["content-type"].startswith("image/svg+xml")
    others = [name for name in loaded if name not in icons]
    assert len(others) == 7
    for name in others:
        assert name.startswith("/files/")
        file = site.ask(name)
        assert file.status_code == 200
        assert "immutable" in file.headers["cache-control"]
    # The policy would refuse these; so there are none.
    assert not [tag for tag, said in found if "style" in said or tag == "style"]
    assert not [said for _, said in found if any(one.startswith("on") for one in said)]


@pytest.mark.parametrize(
    "path", ["x", "", "x/style.css/y", "/threads", "x/..%2Fy", "x/nope", "%2e%2e/"]
)
def test_what_is_open_to_all_tells_nobody_the_secret(site: Site, path: str) -> None:
    found = site.ask(f"/files/{path}")
    assert found.status_code in {403, 404}
    assert SECRET not in found.text
    assert SECRET not in str(found.headers)
    assert "wc-observe" not in found.text


def test_no_file_is_served_but_those_that_come_with_the_program(site: Site) -> None:
    for name in ("nope.js", "..%2Fwebapp.py", "%2e%2e/webapp.py", "webapp.py"):
        assert site.ask(f"/files/x/{name}").status_code in {403, 404}
