"""The server over HTTP: what is where, for whom, and under which name."""

from __future__ import annotations

import asyncio
import itertools
import re
from typing import TYPE_CHECKING

import pytest
from fastmcp.exceptions import McpError

from tests.observe.serving import HEADERS, ROOT, Served, bearer, serving
from tests.observe.stores import MODES, Store, answer_text, only_text
from wc_core.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.observe.stores import Mode

ALEX, CI = "alexs-token-0123456789", "another-token-0123456789"
NAMELESS = ("nobodys-token-0123456789", "neither-token-0123456789")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("http")


@pytest.fixture(scope="module")
def team(place: Path) -> Store:
    store = Store(place / "team" / ".watercooler")
    store.thread("plan", store.give("plan", "Claude Code (alex)"))
    store.thread("other", store.give("other", "Claude Code (pat)"))
    return store


@pytest.fixture(scope="module")
def away(place: Path) -> Store:
    """A store that is not served."""
    store = Store(place / "away" / ".watercooler")
    store.thread("secret")
    return store


@pytest.fixture(scope="module")
def server(place: Path, team: Store, away: Store) -> Iterator[Served]:
    """Two stores, for holders of a token; the environment says a lot about the
    user who started it, and names a third store."""
    lab = Store(place / "lab" / ".watercooler")
    lab.thread("experiment")
    (place / "home").mkdir()
    (place / "home" / ".gitconfig").write_text("[user]\nname = pat\n")
    (place / "tokens").write_text(
        "\n".join(("# people", f"alex {ALEX}", "", f"CI {CI}", *NAMELESS))
    )
    env = {
        "HOME": str(place / "home"),
        "USER": "pat",
        "CLAUDECODE": "1",
        "WATERCOOLER_AGENT": "Codex@fix (pat)",
        "WATERCOOLER_SEAT": "fix",
        "WATERCOOLER_DIR": str(away.root),
        "CLAUDE_PROJECT_DIR": str(away.root.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    options = ["--auth", "token", "--token-file", str(place / "tokens")]
    stores = [f"--store=team={team.root.parent}", f"--store=lab={lab.root}"]
    more = ["--allow-host", "wc.example.org", "--rate", "10000"]
    more += ["--trust-proxy", "127.0.0.1", "--allow-origin", "http://localhost:5173"]
    with serving(away.root.parent, env, *options, *stores, *more) as served:
        yield served


# What a reverse proxy adds to a request that came to it by TLS.
PROXIED = {
    "Host": "wc.example.org",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "192.0.2.7",
}
TEAM, LAB = "/stores/team/mcp", "/stores/lab/mcp"
_ADDRESSES = itertools.count(1)


def from_elsewhere() -> dict[str, str]:
    """From another address each time: wrong tokens are counted for each."""
    return {"X-Forwarded-For": f"198.51.100.{next(_ADDRESSES)}"}


@pytest.mark.parametrize("mode", MODES)
def test_each_store_is_at_its_own_path(server: Served, mode: Mode) -> None:
    for path, topic in ((TEAM, "plan"), (LAB, "experiment")):
        found = server.call("list_threads", path=path, token=ALEX, mode=mode)
        assert topic in only_text(found)
        assert "secret" not in only_text(found)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_cannot_choose_a_folder(
    server: Served, away: Store, mode: Mode
) -> None:
    roots = [away.root.parent.as_uri()]
    found = server.call("list_threads", path=TEAM, token=ALEX, mode=mode, roots=roots)
    assert "plan" in only_text(found)
    assert "secret" not in only_text(found)


@pytest.mark.parametrize("mode", MODES)
def test_a_resource_is_that_of_the_store(server: Served, mode: Mode) -> None:
    assert "experiment" in resource(server, "watercooler://threads", mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_caller_is_the_client_and_whose_token_it_is(
    server: Served, mode: Mode
) -> None:
    found = server.fields("whoami", path=TEAM, token=ALEX, mode=mode)
    assert found == {
        "you": "Claude Code (alex)",
        "agent": "Claude Code",
        "seat": "",
        "tag": "alex",
        "source": "client",
        "client": "claude-code",
        "subject": "alex",
        "folder": "team",
        "store": "team",
        "exists": True,
    }
    mine = server.call("list_threads", {"ball": "me"}, path=TEAM, token=ALEX, mode=mode)
    assert "plan" in only_text(mine)
    assert "other" not in only_text(mine)


def test_no_answer_names_a_folder_of_the_server(server: Served, place: Path) -> None:
    for tool in ("health", "whoami", "list_threads", "reindex", "read_thread"):
        arguments = {"topic": "plan"} if tool == "read_thread" else {}
        found = server.call(tool, arguments, path=TEAM, token=ALEX)
        assert str(place) not in found.model_dump_json()
        assert "team" in answer_text(found)


def test_no_error_names_a_folder_of_the_server(server: Served, place: Path) -> None:
    folder, moved = place / "lab", place / "elsewhere"
    folder.rename(moved)
    try:
        for tool in ("health", "whoami", "list_threads", "reindex"):
            found = server.call(tool, path=LAB, token=ALEX).model_dump_json()
            assert str(place) not in found
            assert "lab" in found
        for mode in MODES:
            with pytest.raises(McpError) as caught:
                resource(server, "watercooler://index", mode)
            assert str(place) not in str(caught.value)
    finally:
        moved.rename(folder)


def test_worktrees_are_nobodys_business_over_a_network(server: Served) -> None:
    found = server.call("list_worktrees", path=TEAM, token=ALEX)
    assert found.is_error
    assert "There is no tool" in only_text(found)
    with pytest.raises(McpError, match=r"There is no resource|NOT_FOUND"):
        resource(server, "watercooler://worktrees")
    guide = resource(server, "watercooler://instructions")
    assert "search_threads" in guide
    assert "worktree " not in guide


def resource(server: Served, address: str, mode: Mode = "auto") -> str:
    async def ask() -> str:
        async with server.client(LAB, ALEX, mode) as client:
            (found,) = await client.read_resource(address)
            return str(getattr(found, "text", ""))

    return asyncio.run(ask())


def test_a_form_of_a_web_page_is_not_a_call(server: Served) -> None:
    answer = server.hello(TEAM, ALEX, **{"Content-Type": "text/plain"})
    assert answer.status_code == 400


def test_a_session_of_one_store_is_unknown_to_another(server: Served) -> None:
    session = server.hello(TEAM, ALEX).headers["mcp-session-id"]
    assert server.hello(TEAM, ALEX, **{"mcp-session-id": session}).status_code != 404
    assert server.hello(LAB, ALEX, **{"mcp-session-id": session}).status_code == 404
    # Nor does it serve anyone else.
    assert server.hello(TEAM, CI, **{"mcp-session-id": session}).status_code == 404


def test_a_session_of_one_token_without_a_name_is_unknown_to_another(
    server: Served,
) -> None:
    one, other = NAMELESS
    session = server.hello(TEAM, one).headers["mcp-session-id"]
    again = {"mcp-session-id": session}
    assert server.hello(TEAM, one, **again).status_code != 404
    assert server.hello(TEAM, other, **again).status_code == 404


@pytest.mark.parametrize(
    "path", ["/stores/nobody/mcp", "/mcp", "/stores/team", "/stores/team/mcp/", "/"]
)
def test_what_is_not_served_is_not_found(server: Served, path: str) -> None:
    answer = server.hello(path, ALEX)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "NOT_FOUND"
    assert "team" not in answer.text


@pytest.mark.parametrize(
    "path", [TEAM, "/metrics", "/stores/nobody/mcp", "/stores/team", "/mcp", "/"]
)
@pytest.mark.parametrize(
    "token", ["", "wrong-token-0123456789", ALEX[:-1], ALEX.upper()]
)
def test_without_a_token_there_is_nothing(
    server: Served, path: str, token: str
) -> None:
    answer = server.get(path, **HEADERS, **bearer(token), **from_elsewhere())
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert ALEX not in answer.text


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"])
@pytest.mark.parametrize("headers", [{}, {"Host": "evil.example.org"}, HEADERS])
def test_without_a_token_a_store_looks_like_one_that_is_not_there(
    server: Served, method: str, headers: dict[str, str]
) -> None:
    def answer(path: str) -> tuple[int, dict[str, str], str]:
        got = server.http.request(
            method,
            server.base + path,
            headers=headers | from_elsewhere(),
            content="{}",
        )
        return got.status_code, dict(got.headers) | {"date": ""}, got.text

    assert answer(TEAM) == answer("/stores/nobody/mcp")
    assert answer(TEAM)[0] == 401


def test_a_login_is_looked_for_in_vain(server: Served) -> None:
    """Clients that are refused look there; a second refusal would confuse them."""
    for path in ("oauth-protected-resource", f"oauth-protected-resource{TEAM}"):
        answer = server.get(f"/.well-known/{path}")
        assert answer.status_code == 404
        assert "team" not in answer.text


@pytest.mark.parametrize("path", [TEAM, "/metrics", "/healthz"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example.org"}, 421),
        ({"Host": "evil.example.org", "Origin": "http://evil.example.org"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://evil.example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:8421.evil.com"}, 403),
        ({"Origin": "http://localhost:8421.evil.com"}, 403),
        ({"Origin": "http://localhost.evil.com"}, 403),
        ({"Origin": "http://[::1]:8421.evil.com"}, 403),
        ({"Origin": "http://127.0.0.1:8421@evil.com"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Origin": "http://127.9.9.9:3000"}, 403),
        ({"Origin": "http://[::1]:3000"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost:1"}, 403),
        ({"Host": "localhost", "Origin": "https://localhost"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost"}, 200),
        ({"Host": "localhost:1", "Origin": "http://127.0.0.1:1"}, 200),
        ({"Host": "localhost:1", "Origin": "http://[::1]:1"}, 200),
        ({"Origin": "http://localhost:5173"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "wc.example.org"}, 200),
        ({"Host": "wc.example.org", "Origin": "http://wc.example.org"}, 200),
        ({"Host": "wc.example.org", "Origin": "http://localhost"}, 403),
        ({"Host": "wc.example.org", "Origin": "https://wc.example.org"}, 403),
        (PROXIED | {"Origin": "https://wc.example.org"}, 200),
        (PROXIED | {"Origin": "https://evil.example.org"}, 403),
        ({}, 200),
    ],
)
def test_host_and_origin_are_checked(
    server: Served, path: str, headers: dict[str, str], status: int
) -> None:
    if path == TEAM:
        answer = server.hello(path, ALEX, **headers)
    else:
        answer = server.get(path, **bearer(ALEX), **headers)
    assert answer.status_code == status


def test_callers_at_once_are_each_answered_as_themselves(
    server: Served, team: Store
) -> None:
    async def calls(token: str, you: str, mode: Mode) -> None:
        async with server.client(TEAM, token, mode) as client:
            for tool, arguments in ASKED:
                name = f"watercooler_v1_{tool}"
                found = await client.call_tool_mcp(name, arguments)
                assert not found.is_error, only_text(found)
            assert f'"you": "{you}"' in answer_text(found)

    async def write() -> None:
        for _ in range(50):
            team.append("plan", team.entry("plan", "word"))
            await asyncio.sleep(0.01)

    async def everything() -> None:
        people = ((ALEX, "Claude Code (alex)"), (CI, "Claude Code (CI)"))
        callers = [calls(*one, mode) for one in people for mode in MODES]
        await asyncio.gather(write(), *callers)

    asyncio.run(everything())


ASKED: tuple[tuple[str, dict[str, str]], ...] = (
    ("list_threads", {"ball": "me"}),
    ("search_threads", {"query": "word"}),
    ("read_thread", {"topic": "plan"}),
    ("list_updates", {"since": "52w"}),
    ("health", {}),
    ("whoami", {}),
)


def test_health_is_for_anyone_and_says_little(server: Served) -> None:
    answer = server.get("/healthz")
    assert answer.json() == {
        "ok": True,
        "version": __version__,
        "stores": 2,
        "unreadable": 0,
    }


def test_a_store_that_is_gone_shows(server: Served, place: Path) -> None:
    here, gone = place / "lab", place / "gone"
    here.rename(gone)
    try:
        answer = server.get("/healthz")
        assert answer.status_code == 503
        assert answer.json()["unreadable"] == 1
        page = server.get("/metrics", **bearer(CI)).text
        assert 'wc_store_readable{store="lab"} 0.0' in page
        assert 'wc_threads{store="lab"}' not in page
    finally:
        gone.rename(here)
    assert server.get("/healthz").status_code == 200


def test_the_numbers_are_those_of_what_happened(server: Served) -> None:
    server.call("get_stats", path=LAB, token=ALEX)
    server.call("read_thread", {"topic": "nope"}, path=LAB, token=ALEX)
    server.call("no_such_thing", path=LAB, token=ALEX)
    server.hello(LAB, ALEX)

    resource(server, "watercooler://threads/experiment")
    with pytest.raises(McpError, match="NOT_FOUND"):
        resource(server, "watercooler://threads/nope")
    answer = server.get("/metrics", **bearer(CI))
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    for what, outcome in (
        ("watercooler_v1_get_stats", "ok"),
        ("watercooler_v1_read_thread", "NOT_FOUND"),
        ("no such tool", "NOT_FOUND"),
    ):
        labels = f'{{outcome="{outcome}",store="lab",what="{what}"}}'
        assert f"wc_calls_total{labels} 1.0" in lines
    assert 'wc_threads{store="team"} 2.0' in lines
    assert 'wc_store_readable{store="team"} 1.0' in lines
    assert f'wc_info{{version="{__version__}"}} 1.0' in lines
    parts = [line.rpartition(" ") for line in lines if line[0] != "#"]
    assert 'outcome="NOT_FOUND",store="lab",what="resource"' in answer.text
    assert 'outcome="ok",store="lab",what="resource"' in answer.text
    counts = {name: float(value) for name, _, value in parts}
    assert counts['wc_sessions{store="lab"}'] >= 1
    assert counts['wc_call_seconds_count{what="resource"}'] >= 2
    assert counts['wc_http_responses_total{status="200"}'] > 5
    assert "process_resident_memory_bytes" in counts
    documented = re.findall(r"`(wc_\w+)\{", (ROOT / "docs/observe.md").read_text())
    assert len(documented) == 8
    for name in documented:
        assert any(one.startswith(name) for one in counts), name
    assert "no_such_thing" not in answer.text
    assert ALEX not in answer.text
