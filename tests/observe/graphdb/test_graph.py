"""`wc-observe --graph`: all repositories are answered about from a graph database, and
from the stores if it cannot be reached."""

from __future__ import annotations

import ast
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.amounts import is_long
from tests.core.strategies import viewer
from tests.graphserver import GraphServer, started
from tests.observe.every_call import CALLS
from tests.observe.stores import Session
from wc_cli.bridges.graphdb.connection import GraphConnection
from wc_cli.bridges.graphdb.projecting import await_indexes
from wc_core.lookup.mentions import Mentions
from wc_core.lookup.words import Term
from wc_core.reading.graphdb import address, connecting, schema
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.query import LooseQuery, Matches, Question
from wc_observe.stores.graphdb import reader
from wc_observe.stores.graphdb.nearness import QueryVector
from wc_observe.stores.graphdb.reader import GraphAwayError, GraphReader
from wc_observe.stores.graphdb.searching import SearchedGraph

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from tests.conftest import Machine, Repo

PAT = ("--as", "Pat")
AGENT = "Claude Code (Pat)"


@pytest.fixture(scope="module")
def server() -> Iterator[GraphServer]:
    yield from started()


@pytest.fixture
def app(machine: Machine) -> Repo:
    repo = machine.repo("home/src/app")
    repo.ok("new", "login", "--title", "Log in with a passkey", "--to", AGENT, *PAT)
    repo.ok(
        *("say", "login", "--title", "Retries", "--body", "Back off exponentially."),
        *("--file", "src/auth.py", "--kind", "decision", *PAT),
    )
    return repo


@pytest.fixture
def shop(machine: Machine) -> Repo:
    repo = machine.repo("home/src/shop")
    repo.ok("new", "basket", "--title", "Retries of the basket", *PAT)
    repo.ok("new", "passkey", "--title", "A passkey for the shop", *PAT)
    for question in ("How many?", "How often?"):
        repo.ok("ask", "basket", "--to", AGENT, "--title", question, *PAT)
    repo.ok("handoff", "basket", "--to", AGENT, *PAT)
    repo.ok("new", "later", "--title", "Waits", "--to", AGENT, *PAT)
    repo.ok("link", "later", "blocked-by", "basket", *PAT)
    repo.ok("tag", "basket", "+urgent", *PAT)
    repo.ok("new", "cart", "--title", "It was called otherwise", *PAT)
    repo.ok("rename", "cart", "trolley", *PAT)
    return repo


def clock() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def session(
    app: Repo, shop: Repo, server: GraphServer, request: pytest.FixtureRequest
) -> Iterator[Session]:
    """A client of a server with a graph of both repositories."""
    url = server.url(re.sub(r"\W+", "-", request.node.name))
    app.ok("project", url, str(app.path), str(shop.path))
    with GraphReader(address.parse(url, {})) as graph:
        env = app.machine.env
        yield Session(app.path, env, clock=clock, all_stores=True, graph=graph)


@pytest.fixture
def plain(app: Repo, shop: Repo) -> Session:
    """A client of a server that has the stores alone."""
    assert shop.path.exists()
    return Session(app.path, app.machine.env, clock=clock, all_stores=True)


def away(session: Session, tmp_path: Path) -> Session:
    """The same with a graph that cannot be reached."""
    url = f"unix://{tmp_path}/nowhere?graph=g"
    graph = GraphReader(address.parse(url, {}))
    return Session(
        session.folder, session.env, clock=clock, all_stores=True, graph=graph
    )


QUESTIONS: list[dict[str, Any]] = [
    {"query": "retries"},
    {"query": "passkey log"},
    {"query": "back off"},
    {"query": '"off back"'},
    {"query": '"back off"'},
    {"query": "title:retries"},
    {"query": "topic:basket"},
    {"query": "author:Pat p"},
    {"query": "retries passkey author:pat", "words": "any"},
    {"query": "retries absent topic:basket"},
    {"query": "topic:basket", "words": "any"},
    {"query": "r"},
    {"query": "nowhere"},
    {"kind": "decision"},
    {"kind": "question", "query": "many"},
    {"file": "src/auth.py"},
    {"file": "auth.py", "query": "retries"},
    {"query": "passkey", "status": "CLOSED"},
    {"query": "passkey", "ball": "me"},
    {"query": "retries", "ball": "Pat"},
    {"query": "e", "limit": 2, "sort": "newest"},
    {"query": "retries basket", "words": "all"},
    {"query": "retries passkey", "words": "any"},
    {"query": "retries passkey", "sort": "newest"},
    {"query": "off exponentially", "words": "phrase"},
    {"query": "retries", "author": "pat"},
    {"query": "retries", "author": "codex"},
    {"query": "retries", "since": "1h"},
    {"query": "retries", "until": "1h"},
    {"query": "retries", "tag": "urgent"},
    {"author": "pat", "kind": "decision"},
    {"query": "urgent"},
    {"query": "tag:urgent retries"},
    {"query": "tag:urgent absent exponentially"},
    {"query": "topic:cart"},
]


def by_id(answer: dict[str, Any], *, partial: bool) -> dict[str, Any]:
    found = {hit["id"]: hit for hit in answer["hits"]}
    return {k: hit for k, hit in found.items() if hit.get("partial", False) is partial}


def hits(answer: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(hit["repository"], hit["topic"], hit["idx"]) for hit in answer["hits"]]


def test_a_search_finds_in_the_graph_what_it_finds_in_the_stores(
    session: Session, plain: Session
) -> None:
    for question in QUESTIONS:
        answer = session.json("search_threads", scope="all", **question)
        expected = plain.json("search_threads", scope="all", **question)
        assert (answer["source"], expected["source"]) == ("graph", "stores")
        assert answer["total"] - answer.get("partial", 0) == expected[
            "total"
        ] - expected.get("partial", 0), question
        whole, wanted = by_id(answer, partial=False), by_id(expected, partial=False)
        assert whole == wanted, question
        assert answer["hits"] == expected["hits"], question
    answer = session.json("search_threads", scope="all", query="passkey exponentially")
    assert answer["partial"] == len(answer["hits"]) == 3
    assert {hit["repository"] for hit in answer["hits"]} == {"app", "shop"}
    text = session.text("search_threads", scope="all", query="retries")
    assert '2 entries with "retries", best first, in all repositories' in text
    assert "from the graph" in text
    for client in (session, plain):
        for cursor in ("y", "graph~~x"):
            error = client.error(
                "search_threads", scope="all", query="x", cursor=cursor
            )
            assert error["code"] == "INVALID_INPUT"


def walked(client: Session, **question: Any) -> list[tuple[str, str, int]]:
    """The hits of all pages."""
    question["limit"] = 1
    found, cursor = [], ""
    while True:
        answer = client.json("search_threads", scope="all", cursor=cursor, **question)
        found += hits(answer)
        cursor = answer.get("cursor", "")
        if not cursor:
            assert len(found) == answer["total"]
            return found


def test_all_repositories_are_walked_by_cursor(
    session: Session, plain: Session
) -> None:
    for client in (session, plain):
        for question in QUESTIONS[:: 1 if is_long() else 3]:
            whole = client.json("search_threads", scope="all", **question)
            wanted = hits(whole)
            assert walked(client, **question)[: len(wanted)] == wanted, question
            assert len({*wanted}) == len(wanted)


def test_what_is_written_during_a_walk_is_not_in_it(
    session: Session, plain: Session, shop: Repo
) -> None:
    question = {"scope": "all", "query": "retries passkey", "limit": 1}
    graph = session.graph
    assert graph is not None
    for client in (session, plain):
        first = client.json("search_threads", **question)
        shop.ok("new", f"more-{client is plain}", "--title", "retries passkey", *PAT)
        app_and_shop = (str(session.folder), str(shop.path))
        shop.ok("project", graph.label, *app_and_shop)
        cursor, found = first["cursor"], hits(first)
        while cursor:
            following = client.json("search_threads", **question, cursor=cursor)
            found += hits(following)
            cursor = following.get("cursor", "")
        assert len(found) == first["total"] == len({*found})
        assert f"more-{client is plain}" not in {topic for _, topic, _ in found}


def test_all_repositories_are_searched_by_meaning(
    app: Repo, shop: Repo, server: GraphServer
) -> None:
    pytest.importorskip("wordllama")
    env = app.machine.env | {"WATERCOOLER_MEANING": ""}
    app.machine.env["WATERCOOLER_MEANING"] = ""
    question = {"scope": "all", "query": "exponentially growing delay after failure"}
    stores = Session(app.path, env, clock=clock, all_stores=True)
    url = server.url("meaning")
    for made in (False, True):
        if made:
            for repo in (app, shop):
                repo.ok("enrich", "--meaning")
        app.ok("project", url, str(app.path), str(shop.path))
        with GraphReader(address.parse(url, {})) as graph:
            client = Session(app.path, env, clock=clock, all_stores=True, graph=graph)
            answer = client.json("search_threads", **question)
            assert answer["source"] == "graph"
            assert ("near" in answer) is made
            assert ("has no vectors of" in answer.get("by_words", "")) is not made
            if made:
                # Without a word in common, but for that of the first one.
                assert hits(answer)[0] == ("app", "login", 1)
                assert "by meaning" in client.text("search_threads", **question)
                assert len({*hits(answer)}) == answer["total"] == len(answer["hits"])
                assert walked(client, query=question["query"]) == hits(answer)
        # Stores as small as these are computed while someone waits.
        answer = stores.json("search_threads", **question)
        assert answer["near"]
        assert hits(answer)[0] == ("app", "login", 1)
        assert {hit["repository"] for hit in answer["hits"]} == {"app", "shop"}


def test_a_walk_goes_on_as_it_began(app: Repo, shop: Repo, server: GraphServer) -> None:
    """By words alone even if vectors are made during it, and not without the model if
    it began with one."""
    pytest.importorskip("wordllama")
    env = app.machine.env | {"WATERCOOLER_MEANING": ""}
    app.machine.env["WATERCOOLER_MEANING"] = ""
    question = {"scope": "all", "query": "retries passkey growing delay"}
    url = server.url("walk")
    pages: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for made in (False, True):
        if made:
            app.ok("enrich", "--meaning")
            shop.ok("enrich", "--meaning")
        app.ok("project", url, str(app.path), str(shop.path))
        with GraphReader(address.parse(url, {})) as graph:
            client = Session(app.path, env, clock=clock, all_stores=True, graph=graph)
            if made:
                (by_words, first), step = pages[0], {"cursor": pages[0][1]["cursor"]}
                rest = client.json("search_threads", **question, **step)
                assert "near" not in rest
                assert hits(first) + hits(rest) == hits(by_words)
            whole = client.json("search_threads", **question)
            pages.append((whole, client.json("search_threads", **question, limit=1)))
            assert ("by_words" in whole) is not made
    whole, first = pages[1]
    step = {"cursor": first["cursor"]}
    with GraphReader(address.parse(url, {})) as graph:
        client = Session(app.path, env, clock=clock, all_stores=True, graph=graph)
        rest = client.json("search_threads", **question, **step)
        assert hits(first) + hits(rest) == hits(whole)
        off = env | {"WATERCOOLER_MEANING": "off"}
        client = Session(app.path, off, clock=clock, all_stores=True, graph=graph)
        refusal = client.error("search_threads", **question, **step)
        assert refusal["code"] == "INVALID_INPUT"
        assert "ordered by meaning" in refusal["message"]


def test_one_store_is_searched_as_before(session: Session) -> None:
    assert "scope" not in session.json("search_threads", query="retries")
    session.all_stores = False
    refused = session.error("search_threads", query="retries", scope="all")
    assert "--all-stores" in refused["hint"]


def test_the_inbox_is_that_of_the_stores(session: Session, plain: Session) -> None:
    answer, expected = session.json("list_inbox"), plain.json("list_inbox")
    assert answer["source"] == "graph"
    assert [item["topic"] for item in answer["items"]] == ["basket", "login"]
    assert answer["items"] == expected["items"]
    assert answer["total"] == expected["total"] == 2
    text = session.text("list_inbox")
    assert "from the graph" in text
    assert "cd ~/src/shop && wc answer basket" in text
    assert answer["items"][0]["more_questions"] == 1


@pytest.fixture
def some(
    session: Session,
) -> Iterator[tuple[GraphReader, GraphConnection, tuple[str, ...]]]:
    """A graph of two repositories, of which a caller sees one; for reading and for
    writing, and the ids of those that the caller sees."""
    graph = session.graph
    assert graph is not None
    ((shop,),) = graph.rows("MATCH (r:Repository {name: 'shop'}) RETURN r.id")
    with GraphConnection(address.parse(graph.label, {})) as writable:
        yield graph, writable, (shop,)


def by_words(
    graph: GraphReader, repositories: tuple[str, ...] | None, text: str
) -> Matches:
    """The entries with some of the words, each with its score."""
    source = SearchedGraph(graph, viewer(), repositories, Mentions())
    terms = tuple(Term((word,)) for word in text.split())
    return source.candidates(Filter(), LooseQuery(terms, weights=(1,) * len(terms)))


def near(
    graph: GraphReader,
    repositories: tuple[str, ...] | None,
    vector: QueryVector,
    status: str = "",
) -> list[tuple[str, str, bool]]:
    """The hits of words that no entry has, near a vector."""
    source = SearchedGraph(graph, viewer(), repositories, Mentions(), lambda: vector)
    question = Question("nowhere absent", Filter(status=status))
    found = search(source, question).hits
    return [(hit.topic, hit.numbered.entry.id, hit.is_near) for hit in found]


@pytest.mark.parametrize("text", ["retries basket", "basket retries urgent absent"])
def test_hidden_repositories_do_not_change_the_weights_of_words(
    some: tuple[GraphReader, GraphConnection, tuple[str, ...]], text: str
) -> None:
    graph, writable, visible = some
    before = by_words(graph, visible, text)
    assert len({candidate.rank for candidate in before.best}) > 1
    for word in text.split():
        writable.query(
            "MATCH (r:Repository {name: 'app'})<-[:IN]-(t:Thread {topic: 'login'}) "
            "UNWIND range(1, 400) AS i CREATE (t)-[:HAS]->(:Entry {"
            "key: $word + i, repository: r.id, id: '0', "
            "title_words: $words, body_words: $words, idx: i})",
            words=f" {word} " * 9,
            word=word,
        )
        assert by_words(graph, visible, text) == before
    assert by_words(graph, None, text).total > before.total


@pytest.mark.parametrize("hidden", [0, 500, 5000])
def test_hidden_entries_take_no_places_among_the_nearest(
    some: tuple[GraphReader, GraphConnection, tuple[str, ...]], hidden: int
) -> None:
    graph, writable, visible = some
    writable.ensure_index(schema.vector_index_statement(0, 4))
    writable.query(
        "MATCH (:Repository {name: 'shop'})<-[:IN]-(:Thread)-[:HAS]->(e:Entry) "
        "CREATE (e)-[:MEANS]->(:Vector {key: e.key, repository: e.repository, "
        "vector_0: vecf32([1.0, 1.0, 0.0, 0.0])})"
    )
    await_indexes(writable)
    vector = QueryVector("vector_0", (1.0, 0.0, 0.0, 0.0))
    before = near(graph, visible, vector)
    assert len(before) > 1
    assert all(is_near for _, _, is_near in before)
    writable.query("MERGE (:Model {name: 'm', position: 0, dimensions: 4})")
    writable.query(
        "MATCH (r:Repository {name: 'app'})<-[:IN]-(t:Thread {topic: 'login'}) "
        "UNWIND range(1, $most) AS i CREATE (t)-[:HAS]->(e:Entry {key: 'h' + i, "
        "repository: r.id, id: '0', idx: i})-[:MEANS]->(:Vector {key: 'h' + i, "
        "repository: r.id, vector_0: vecf32([1.0, 0.0, 0.0, 0.0])})",
        most=hidden,
    )
    assert near(graph, visible, vector) == before
    # In a thread's status, too, few of the nearest may have it.
    writable.query("MATCH (t:Thread {topic: 'basket'}) SET t.status = 'RARE'")
    found = near(graph, None, vector, "RARE")
    assert {topic.partition("\x1f")[2] for topic, _, _ in found} == {"basket"}


def test_a_graph_that_is_away_is_answered_for_by_the_stores(
    session: Session, plain: Session, tmp_path: Path
) -> None:
    lost = away(session, tmp_path)
    for tool, arguments in (
        ("search_threads", {"scope": "all", "query": "retries"}),
        ("list_inbox", {}),
    ):
        answer = lost.json(tool, **arguments)
        assert answer.pop("source") == "stores"
        assert "cannot be reached" in answer.pop("problem")
        expected = plain.json(tool, **arguments)
        expected.pop("source")
        assert answer == expected, tool
        text = lost.text(tool, **arguments)
        assert "from the stores, because the graph is unavailable" in text


def test_a_graph_that_was_away_is_asked_again_later(
    server: GraphServer, app: Repo
) -> None:
    url = server.url("late")
    with GraphReader(address.parse(url, {})) as graph:
        with pytest.raises(GraphAwayError, match="does not exist yet"):
            graph.rows("MATCH (t:Thread) RETURN t.topic")
        app.ok("project", url)
        with pytest.raises(GraphAwayError):
            graph.rows("MATCH (t:Thread) RETURN t.topic")
        graph.retry_now()
        assert graph.rows("MATCH (t:Thread) RETURN t.topic") == [["login"]]


def test_a_graph_that_hangs_is_away_once_its_time_is_over(
    server: GraphServer, app: Repo
) -> None:
    url = server.url("hanging")
    app.ok("project", url)
    question = "MATCH (t:Thread) RETURN t.topic"
    with GraphReader(address.parse(url, {}), seconds=0.5) as graph:
        assert graph.rows(question) == [["login"]]
        with server.paused():
            began = time.monotonic()
            with pytest.raises(GraphAwayError, match="cannot be reached"):
                graph.rows(question)
            # Once, not once for each of the client's ten attempts.
            assert time.monotonic() - began < 2.5
        graph.retry_now()
        assert graph.rows(question) == [["login"]]


def test_a_graph_with_another_schema_is_not_read(
    session: Session, plain: Session
) -> None:
    assert session.graph is not None
    with GraphConnection(address.parse(session.graph.label, {})) as graph:
        graph.query("MATCH (s:Schema) SET s.version = 1")
        session.graph.retry_now()
        answer = session.json("search_threads", scope="all", query="retries")
        assert "has schema version 1, and this server reads" in answer["problem"]
        assert answer["source"] == "stores"
        graph.query("MATCH (s:Schema) DELETE s")
        session.graph.retry_now()
        with pytest.raises(GraphAwayError, match="version none"):
            session.graph.rows("MATCH (t:Thread) RETURN t.topic")
        graph.query("CREATE (:Schema {version: $version})", version=schema.VERSION)
    session.graph.retry_now()
    assert session.json("list_inbox")["source"] == "graph"
    assert plain.json("list_inbox")["source"] == "stores"


# It can only read.

# What the client sends to connect, and what this test sends.
_CONNECTING = {"info", "client|setinfo", "config|resetstat", "ping", "select"}


def test_only_ro_query_is_sent_whatever_is_called(
    session: Session, server: GraphServer, request: pytest.FixtureRequest
) -> None:
    server.command("CONFIG", "RESETSTAT")
    before = server.command("GRAPH.RO_QUERY", request.node.name, _EVERYTHING)
    wide = [
        (name, {**arguments, "scope": "all"})
        for name, arguments in CALLS
        if name == "search_threads" and "scope" not in arguments
    ]
    inboxes = [(name, given) for name, given in CALLS if name == "list_inbox"]
    session.calls(*wide[::3], *inboxes)
    stats = server.command("INFO", "commandstats")
    sent = {name.removeprefix("cmdstat_").lower() for name in stats}
    assert sent - _CONNECTING == {"graph.ro_query"}
    calls = stats["cmdstat_graph.RO_QUERY"]["calls"]
    assert calls > len(wide[::3])
    after = server.command("GRAPH.RO_QUERY", request.node.name, _EVERYTHING)
    assert after[:2] == before[:2]


_EVERYTHING = "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN n, r, m ORDER BY id(n)"


def test_a_statement_that_changes_something_is_refused(session: Session) -> None:
    assert session.graph is not None
    for statement in ("CREATE (:X)", "MATCH (n) DELETE n", "MATCH (n) SET n.a = 1"):
        with pytest.raises(GraphAwayError, match="read-only"):
            session.graph.rows(statement)
        session.graph.retry_now()


def test_one_module_connects_and_one_asks_and_neither_changes_a_graph() -> None:
    assert importing("falkordb", "redis") == {"wc_core/reading/graphdb/connecting.py"}
    connecting_name = connecting.__name__
    assert importing(connecting_name) == {"wc_observe/stores/graphdb/reader.py"}
    assert called(connecting) == {
        *("Retry", "NoBackoff", "FalkorDB", "select_graph", "close"),
    }
    assert called(reader) == {
        *("ro_query", "close", "Lock", "monotonic", "_away", "_connected"),
        "_check_version",
    }


def called(module: ModuleType) -> set[str]:
    """The methods that a module calls."""
    tree = ast.parse(Path(str(module.__file__)).read_text())
    return {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def importing(*modules: str) -> set[str]:
    """The modules below the server that import one of these, or something in it."""
    root = Path(reader.__file__).parents[3]
    return {
        path.relative_to(root).as_posix()
        for folder in ("wc_core", "wc_observe")
        for path in (root / folder).rglob("*.py")
        if any(
            name == module or name.startswith(f"{module}.")
            for name in imported(running(ast.parse(path.read_text())))
            for module in modules
        )
    }


def running(tree: ast.Module) -> ast.Module:
    """A module without what only type checkers read."""
    tree.body = [
        node
        for node in tree.body
        if not (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        )
    ]
    return tree


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
