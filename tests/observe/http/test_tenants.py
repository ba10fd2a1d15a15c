"""Each caller sees the stores that it may; the others do not exist for it."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp.server.auth import AccessToken

from tests.graphserver import GraphServer, started
from tests.observe.serving import HELLO, Served, bearer, refused, serving
from tests.observe.stores import Store
from wc_cli.bridges.enrich import enriching
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.meaning import models
from wc_core.reading.meaning.vectorfile import HEADER_BYTES, Header
from wc_observe.http.requests import Access, load_access, token_groups

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Machine

ALEX, SAM, NOBODY = (f"{name}s-token-0123456789" for name in ("alex", "sam", "nobody"))
ACCESS = """
[http]
metrics = ["sam"]
[http.groups]
backend = ["sam"]
[http.stores]
team = ["alex", "group:backend"]
lab = ["group:backend"]
open = ["*"]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tenants")
    (place / "tokens").write_text(f"alex {ALEX}\nsam {SAM}\n{NOBODY}\n")
    (place / "access.toml").write_text(ACCESS)
    for name in ("team", "lab", "open", "away"):
        store = Store(place / name / ".watercooler")
        # "away" is served, and the file does not name it.
        store.thread(
            "plan", store.give("plan", "Claude Code (alex)", body=f"In {name}")
        )
    return place


def options(place: Path, *names: str) -> list[str]:
    stores = (f"--store={name}={place}/{name}" for name in names)
    tokens = ("--auth=token", f"--token-file={place}/tokens")
    return [*stores, *tokens, f"--access={place}/access.toml", "--rate=1000"]


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Served]:
    env = {"HOME": str(place), "PATH": "/usr/bin:/bin"}
    with serving(place, env, *options(place, "team", "lab", "open", "away")) as server:
        yield server


VISIBLE = {
    ALEX: {"team", "open"},
    SAM: {"team", "lab", "open"},
    NOBODY: {"open"},
}


@pytest.mark.parametrize("token", VISIBLE)
def test_a_store_that_one_may_not_see_answers_like_one_that_is_not_there(
    server: Served, token: str
) -> None:
    for name in ("team", "lab", "open", "away"):
        path = f"/stores/{name}/mcp"
        if name in VISIBLE[token]:
            threads = server.fields(
                "list_threads", {"format": "json"}, path=path, token=token
            )
            assert [one["topic"] for one in threads["threads"]] == ["plan"]
            continue
        for method in ("GET", "POST", "DELETE", "OPTIONS", "PUT"):
            for end in ("", "/", "/x", "/mcp/x"):
                hidden, missing = (
                    server.http.request(
                        method,
                        f"{server.base}/stores/{store}/mcp{end}".replace(
                            "/mcp/mcp", "/mcp"
                        ),
                        headers=bearer(token) | {"Origin": "https://x.example"},
                        json=HELLO if method == "POST" else None,
                    )
                    for store in (name, "nowhere")
                )
                assert shown(hidden) == shown(missing), (name, method, end)
                assert hidden.status_code == 404


def shown(answer: Any) -> tuple[int, dict[str, str], bytes]:
    headers = {k: v for k, v in answer.headers.items() if k != "date"}
    return answer.status_code, headers, answer.content


def test_nothing_else_names_the_stores(server: Served) -> None:
    assert server.get("/healthz").json().keys() == {"ok", "version"}
    for token in (ALEX, NOBODY):
        hidden = server.get("/metrics", **bearer(token))
        assert shown(hidden) == shown(server.get("/nowhere", **bearer(token)))
    assert 'store="lab"' in server.get("/metrics", **bearer(SAM)).text
    assert server.get("/metrics").status_code == 401


def test_a_session_is_of_no_use_to_another_caller(server: Served) -> None:
    path = "/stores/lab/mcp"
    session = server.hello(path, SAM).headers["mcp-session-id"]
    used = server.hello(path, ALEX, **{"mcp-session-id": session})
    assert used.status_code == 404


@pytest.mark.parametrize(
    "preferences",
    ["not = [", '[meaning]\nendpoint = ["http://127.0.0.1:9/models", "m"]\n'],
    ids=["a-damaged-file", "a-server-that-is-away"],
)
def test_callers_do_not_learn_what_the_server_prefers(
    place: Path, tmp_path: Path, preferences: str
) -> None:
    folder = tmp_path / ".config" / "watercooler"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(preferences)
    shutil.copytree(place / "open", tmp_path / "open")
    root = str(tmp_path / "open" / ".watercooler")
    enriching.enrichment(StoreReader(root), models.LOCAL, {}).run()
    vectors = tmp_path / "open" / ".watercooler" / ".local" / "index" / "vectors"
    # They are of the model that is preferred now.
    rows = vectors.read_bytes()[HEADER_BYTES:]
    vectors.write_bytes(Header("m", models.LOCAL_DIMENSIONS).render() + rows)
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": ""}
    words = [*options(place, "team", "lab", "away"), f"--store=open={tmp_path}/open"]
    with serving(tmp_path, env, *words, f"--graph=unix://{tmp_path}/no?graph=g") as it:
        for scope in ("store", "all"):
            query = {"query": "open sesame", "format": "json"}
            query |= {"scope": scope} if scope == "all" else {}
            answer = it.fields(
                "search_threads", query, path="/stores/open/mcp", token=NOBODY
            )
            assert answer["by_words"] == "meaning cannot be used now", scope


# With a graph.


@pytest.fixture(scope="module")
def graphs() -> Iterator[GraphServer]:
    yield from started()


def test_answers_about_all_stores_have_those_that_one_may_see(
    place: Path, graphs: GraphServer, machine: Machine
) -> None:
    url = graphs.url("tenants")
    names = ("team", "lab", "open", "away")
    folder = machine.folder("x")
    folder.ok("project", url, *(f"{place}/{name}/.watercooler" for name in names))
    env = {"HOME": str(place), "PATH": "/usr/bin:/bin"}
    nowhere = f"unix://{place}/nowhere?graph=g"
    for graph, source in ((url, "graph"), (nowhere, "stores")):
        words = [*options(place, *names), f"--graph={graph}"]
        with serving(place, env, *words) as server:
            for token, visible in VISIBLE.items():
                asked: dict[str, Any] = {"path": "/stores/open/mcp", "token": token}
                query = {"query": "in", "scope": "all", "format": "json"}
                answer = server.fields("search_threads", query, **asked)
                assert answer["source"] == source
                assert {hit["repository"] for hit in answer["hits"]} == visible
                assert answer["total"] == len(visible)
                inbox = server.fields("list_inbox", {"format": "json"}, **asked)
                assert inbox["source"] == source
                found = {item["repository"] for item in inbox["items"]}
                assert found == (visible if token == ALEX else set())
                assert {one["repository"] for one in inbox["repositories"]} == visible
                everything = json.dumps([answer, inbox])
                assert str(place) not in everything


# The file.


def token(name: str, **claims: object) -> AccessToken:
    return AccessToken(token="x", client_id="x", scopes=[], subject=name, claims=claims)


@pytest.mark.parametrize(
    ("callers", "caller", "allowed"),
    [
        (["alex"], token("alex"), True),
        (["alex"], token("Alex"), False),
        (["alex"], None, False),
        (["*"], None, False),
        (["*"], token(""), True),
        (["group:backend"], token("sam"), True),
        (["group:backend"], token("alex"), False),
        (["group:ops"], token("alex", groups=["dev", "ops"]), True),
        (["group:ops"], token("alex", groups="dev ops"), True),
        (["group:ops"], token("alex", groups={"ops": 1}), False),
        (["group:ops"], token("group:ops"), False),
        ([""], token(""), False),
        ([], token("alex"), False),
    ],
)
def test_who_is_in_a_list(
    callers: list[str], caller: AccessToken | None, *, allowed: bool
) -> None:
    groups = {"backend": frozenset({"sam"})}
    access = Access({"team": frozenset(callers)}, groups, frozenset(callers))
    assert access.allows("team", caller) is allowed
    assert access.allows_metrics(caller) is allowed
    assert not access.allows("other", caller)


def test_groups_are_those_of_the_claim() -> None:
    assert token_groups(token("x", roles=["a", 1, "b"]), "roles") == ["a", "b"]
    assert token_groups(token("x"), "roles") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[http", "is not TOML"),
        ("", "it has [http.stores]"),
        ("[http]\ncolour = 1\n[http.stores]\n", "it has [http.stores]"),
        ("[http]\nstores = 1", "[http.stores] is missing, or not a table"),
        ("[http.stores]\nteam = 'alex'", "team in http.stores is not a list"),
        ("[http.stores]\nteam = [1]", "team in http.stores is not a list"),
        ("[http.stores]\nteem = ['alex']", "no --store is called teem"),
    ],
)
def test_a_file_that_says_nothing_usable_keeps_the_server_from_starting(
    tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "access.toml").write_text(text)
    with pytest.raises(InvalidInputError, match=re.escape(problem)):
        load_access(str(tmp_path / "access.toml"), ["team"], "groups")


def test_without_tokens_there_is_nobody_to_name(place: Path) -> None:
    env = {"HOME": str(place), "PATH": "/usr/bin:/bin"}
    words = (f"--store=team={place}/team", f"--access={place}/access.toml")
    status, said = refused(place, env, *words)
    assert status == 2
    assert "--access needs --auth" in said
    with_tokens = (*words, "--auth=token", f"--token-file={place}/tokens")
    status, said = refused(place, env, *with_tokens)
    assert (status, "no --store is called lab" in said) == (2, True)
