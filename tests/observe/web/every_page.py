"""Every address of the page, with good and bad words, in a process that refuses
to write: ``python -m tests.observe.web.every_page FOLDER``.

Prints what it did as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import httpx2
from starlette.routing import Route

from tests.observe.every_call import arm
from wc_core.ledger.git import discovery
from wc_observe.callers.calls import ServerContext
from wc_observe.web.app import build_site
from wc_observe.web.stores import key_of

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from wc_observe.web.app import WebSite

SECRET = "a-secret-of-some-length"
_TOPICS = ("plan", "forked", "torn", "garbage", "markdown", "a%20b", "linked", "empty")
_BAD = ("nope", "..%2Fplan", "a%00b", "%2e%2e", "x" * 300, "%25")

# Beside these, every address without parameters.
PATHS = [
    *("", "?filter=hello", "nowhere", "nowhere/at/all"),
    *("threads", "threads?open=1&ball=me", "threads?status=closed&filter=a"),
    *("threads?file=a.py&branch=main", "threads?file=%2F"),
    *("threads?ball=anyone", "threads?cursor=odd", "threads?status=odd"),
    *(f"threads/{topic}" for topic in (*_TOPICS, *_BAD)),
    *(f"threads/{topic}?from=1" for topic in (*_TOPICS, *_BAD)),
    *(f"threads/{topic}/0" for topic in (*_TOPICS, *_BAD)),
    *("threads/plan/odd", "threads/plan/99", "threads/plan/0?offset=3"),
    *("search", "search?q=hello", "search?q=%22hello%22+title:x&file=a.py&pr=1"),
    *("search?commit=abcd&branch=main", "search?q=e&ball=Codex&status=OPEN"),
    *("search?kind=decision&severity=low", "threads/plan?kind=decision"),
    *("search?q=..", "search?q=e&cursor=7~", "search?q=e&pr=odd"),
    *("edits", "edits?x=1"),
    *("plan", "plan/linked", "plan/..%2Fplan"),
    "threads?sort=-entries",
]
# The pages of a store that is not the first one, by its key.
OTHERS = [
    *("", "threads", "threads/plan", "threads/plan/0", "search?q=hello"),
    "edits",
    *("plan", "icon.svg", "nowhere"),
]


async def ask_everything(site: WebSite, key: str) -> dict[str, Any]:
    """What was asked, and which routes nobody asked for. ``key`` is that of a store."""
    app = site.inner
    others = [f"in/{key}/{path}" for path in OTHERS]
    paths = [*PATHS, *_plain_paths(app), *others, "in/nope/", "in/nope/icon.svg"]
    transport = httpx2.ASGITransport(site.app)
    statuses: dict[int, int] = {}
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        for path in paths:
            found = await client.get(f"/{SECRET}/{path}")
            statuses[found.status_code] = statuses.get(found.status_code, 0) + 1
            assert "Traceback" not in found.text
        for path in ("/files/x/style.css", "/files/x/nope", "/", "/open/x"):
            await client.get(path)
        await _a_stream(client, site)
    left_out = _left_out(app, paths)
    return {"asked": len(paths), "statuses": statuses, "left_out": left_out}


async def _a_stream(client: httpx2.AsyncClient, site: WebSite) -> None:
    """One that is open until the server leaves."""
    asked = asyncio.create_task(
        client.get(f"/{SECRET}/events", headers={"Accept": "text/event-stream"})
    )
    while not site.under_way.streams:  # noqa: ASYNC110  (nobody tells us)
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    await site.under_way.leave(0)
    found = await asked
    assert "event: ready" in found.text


def _plain_paths(app: Starlette) -> list[str]:
    """The pages without parameters: all but the stream, which does not end."""
    base = f"/{SECRET}/"
    paths = [route.path for route in app.routes if isinstance(route, Route)]
    return [
        path.removeprefix(base)
        for path in paths
        if path.startswith(base) and "{" not in path and path != f"{base}events"
    ]


def _left_out(app: Starlette, paths: list[str]) -> list[str]:
    """The routes that none of the paths is for."""
    asked = [f"/{SECRET}/{path.partition('?')[0]}" for path in paths]
    asked += [f"/{SECRET}/events", f"/{SECRET}/in/x/events", "/files/x/style.css"]
    return [
        one.path
        for one in app.routes
        if isinstance(one, Route) and not any(one.path_regex.match(p) for p in asked)
    ]


def main() -> None:
    """Ask, then tell."""
    folder, env = sys.argv[1], dict(os.environ)
    start = ServerContext(folder, env, lambda: 1_770_000_000_000, all_stores=True)
    site = build_site(start, SECRET)
    key = key_of(discovery.find(folder, env).root)
    refused = arm()
    told = asyncio.run(ask_everything(site, key))
    sys.stdout.write(json.dumps(told | {"refused": refused}))


if __name__ == "__main__":
    main()
