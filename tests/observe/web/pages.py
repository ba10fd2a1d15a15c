"""The pages, asked for in this process, and what they are made of."""

from __future__ import annotations

import asyncio
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import httpx2

from tests.observe.stores import NOW_MS
from wc_observe.callers.calls import ServerContext
from wc_observe.web.app import build_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp

SECRET = "a-secret-of-some-length"
HERE = "http://127.0.0.1:8422"
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input"}) | {
    *("link", "meta", "source", "track", "wbr")
}

_INLINE = frozenset({"a", "b", "bdi", "code", "em", "mark", "s", "strong"})


class Site:
    """What is served for a folder. The server's time is `NOW_MS`, unless it has a
    clock."""

    def __init__(
        self,
        folder: Path,
        env: dict[str, str],
        ticket: str = "",
        topic: str = "",
        clock: Callable[[], int] = lambda: NOW_MS,
    ) -> None:
        start = ServerContext(str(folder), env, clock)
        self.site = build_site(start, SECRET, ticket, topic)

    def ask(self, path: str, method: str = "GET", /, **headers: str) -> httpx2.Response:
        """The answer to any request."""
        return ask(self.site.app, path, method, **headers)

    def get(self, path: str = "", status: int = 200) -> str:
        """A page below the secret, as it is sent; it is one that is sound."""
        found = self.ask(f"/{SECRET}/{path}")
        assert found.status_code == status, found.text
        assert found.headers["content-type"] == "text/html; charset=utf-8"
        elements(found.text)
        return found.text

    def said(self, path: str = "", status: int = 200) -> str:
        """What a page says, without its markup and its white space."""
        return words(self.get(path, status))


def ask(
    app: ASGIApp, path: str, method: str = "GET", /, **headers: str
) -> httpx2.Response:
    async def told() -> httpx2.Response:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=HERE) as client:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return await client.request(method, path, headers=named)

    return asyncio.run(told())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of a page with their attributes: each is closed where it
    was opened, and no id stands for two."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    ids = [str(said["id"]) for _, said in reader.found if "id" in said]
    assert len(ids) == len(set(ids)), sorted(one for one in ids if ids.count(one) > 1)
    return reader.found


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self.said.append(" ")


def words(page: str) -> str:
    reader = _Words()
    reader.feed(re.sub(r"(?s)<head>.*</head>", "", page))
    return " ".join("".join(reader.said).split())


def links(page: str) -> list[str]:
    """Where the links of a page lead."""
    return [
        said["href"] or ""
        for tag, said in elements(page)
        if tag == "a" and "href" in said
    ]
