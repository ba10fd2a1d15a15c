"""``wc project``: the graph has what the stores have, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.graphserver import GraphServer, started
from wc_cli.bridges.graphdb import comparing, projecting
from wc_cli.bridges.graphdb.connection import GraphConnection
from wc_cli.bridges.graphdb.projecting import Projection, Source
from wc_cli.bridges.graphdb.vectors import KeptVectors, vector_property
from wc_core.base.errors import OfflineError
from wc_core.base.ulid import encode
from wc_core.ledger.index import keys
from wc_core.ledger.summaries.kept import KeptSummary, text_hash
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.graphdb import address
from wc_core.reading.graphdb.identity import repository_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Machine, Repo
    from wc_core.ledger.threads.reader import Thread

CODEX = ("--as", "Codex")
MEANING = {"WATERCOOLER_MEANING": "on"}


@pytest.fixture(scope="module")
def server() -> Iterator[GraphServer]:
    yield from started()


@pytest.fixture
def url(server: GraphServer, request: pytest.FixtureRequest) -> str:
    return server.url(request.node.name)


@pytest.fixture
def graph(server: GraphServer, request: pytest.FixtureRequest) -> Any:
    return server.graph(request.node.name)


@pytest.fixture
def connection(url: str) -> Iterator[GraphConnection]:
    with GraphConnection(address.parse(url, {})) as graph:
        yield graph


def rows(graph: Any, query: str) -> list[Any]:
    found: list[Any] = graph.ro_query(query).result_set
    return sorted(row if len(row) > 1 else row[0] for row in found)


@pytest.fixture
def app(machine: Machine) -> Repo:
    repo = machine.repo("home/src/app")
    repo.ok("new", "login", "--title", "Log in", "--body", "With a passkey", *CODEX)
    repo.ok(
        *("say", "login", "--kind", "decision", "--title", "Use WebAuthn"),
        *("--file", "src/auth.py", "--body", "Because of \\ \"it\" 'é' 😀", *CODEX),
    )
    repo.ok("new", "api", "--title", "The API", "--to", "Pat", *CODEX)
    repo.ok("link", "login", "blocked-by", "api", *CODEX)
    repo.ok("ask", "api", "--to", "Pat", "--title", "Which hash?", *CODEX)
    return repo


def test_all_of_a_store_is_in_the_graph(app: Repo, url: str, graph: Any) -> None:
    assert app.ok("project", url).out.startswith("app: 2 threads, 5 entries written")
    assert rows(graph, "MATCH (t:Thread)-[:IN]->(r:Repository) RETURN t.topic") == [
        "api",
        "login",
    ]
    assert rows(graph, "MATCH (p)-[:HOLDS]->(t:Thread) RETURN p.name, t.topic") == [
        ["Codex (Pat)", "login"],
        ["Pat", "api"],
    ]
    assert rows(graph, "MATCH (:Thread)-[:HAS]->(e:Decision) RETURN e.title") == [
        "Use WebAuthn"
    ]
    assert rows(graph, "MATCH (:Decision)-[:MENTIONS]->(f:File) RETURN f.path") == [
        "src/auth.py"
    ]
    assert rows(graph, "MATCH (a)-[l:LINKS]->(b) RETURN a.topic, l.kind, b.topic") == [
        ["login", "blocked_by", "api"]
    ]
    assert rows(graph, "MATCH (t)-[q:ASKS]->(p) RETURN t.topic, q.title, p.name") == [
        ["api", "Which hash?", "Pat"]
    ]
    app.ok("project", url, "--check")


def summary(repo: Repo, url: str, *words: str) -> tuple[int, int, int]:
    answer = repo.json("project", url, *words)
    (result,) = answer["repositories"]
    return result["written"], result["removed_threads"], result["removed_entries"]


def settle_ticks() -> None:
    """Waits until a change of a file shows in its times."""
    time.sleep(1.1 * keys.TICK_SECONDS)


def test_only_what_changed_is_written(app: Repo, url: str, graph: Any) -> None:
    settle_ticks()
    assert summary(app, url) == (5, 0, 0)
    assert summary(app, url) == (0, 0, 0)
    app.ok("say", "api", "--title", "It is ready", *CODEX)
    assert summary(app, url) == (1, 0, 0)
    assert summary(app, url, "--full") == (6, 0, 0)
    app.ok("project", url, "--check")
    assert rows(graph, "MATCH (e:Entry) RETURN count(e)") == [6]


def test_what_others_wrote_into_a_log_is_only_text(
    app: Repo, url: str, graph: Any
) -> None:
    settle_ticks()
    path = app.log("api")
    newest = json.loads(path.read_text().splitlines()[-1])
    statement = "'}) MATCH (n) DETACH DELETE n //"
    odd: dict[str, Any] = {
        "title": f'"{statement}',
        "body": "a\0b \ud800 \\' \\\" \u2028 $id `x`" + statement,
        "agent": f"Ev\0il\\{statement}",
        "pr_refs": [12, 2**63, -(2**70)],
        "commit_refs": [statement],
        "file_refs": [f"src/{statement}"],
        "kind": f"decision{statement}",
        "code_branch": f"b\\{statement}",
    }
    with path.open("a") as log:
        log.write(json.dumps(newest | {"entry_id": encode(2 << 100)} | odd) + "\n")
        long: dict[str, Any] = {"entry_id": "x" * 5000, "agent": "y" * 5000}
        long |= {"file_refs": ["z" * 5000, "z" * 4999]}
        log.write(json.dumps(newest | long) + "\n")
    assert summary(app, url) == (7, 0, 0)
    app.ok("project", url, "--check")
    assert summary(app, url, "--full") == (7, 0, 0)
    app.ok("project", url, "--check")
    people = rows(graph, "MATCH (p:Person) RETURN p.name")
    assert len([name for name in people if name.startswith("y")]) == 1
    numbers = "MATCH (e:Entry) WHERE e.prs IS NOT NULL RETURN e.prs"
    assert rows(graph, numbers) == [[12]]
    paths = rows(graph, "MATCH (f:File) RETURN f.path")
    assert f"src/{statement}" in paths


def test_corrections_replace_the_text(app: Repo, url: str, graph: Any) -> None:
    app.ok("project", url)
    app.ok("say", "api", "--title", "A secret", "--body", "hunter2", *CODEX)
    app.ok("say", "login", "--title", "A typo", *CODEX)
    app.ok("project", url)
    app.ok("retract", "api", *CODEX)
    app.ok("amend", "login", "--title", "No typo", *CODEX)
    assert summary(app, url) == (2, 0, 0)
    app.ok("project", url, "--check")
    marked = "MATCH (e:Entry) WHERE e.mark IS NOT NULL RETURN e.mark, e.title"
    assert rows(graph, marked) == [
        ["amended", "No typo"],
        ["retracted", "(retracted)"],
    ]
    everything = graph.ro_query("MATCH (n) RETURN properties(n)").result_set
    assert "hunter2" not in str(everything)


def test_a_thread_that_is_gone_leaves_what_others_link_to(
    app: Repo, url: str, graph: Any
) -> None:
    app.ok("new", "other", "--title", "Of Sam", "--file", "a.py", "--as", "Sam")
    app.ok("project", url)
    for topic in ("api", "other"):
        shutil.rmtree(app.log(topic).parent)
        (app.store / "threads-md" / f"{topic}.md").unlink(missing_ok=True)
    assert summary(app, url)[1] == 2
    threads = "MATCH (t:Thread) RETURN t.topic, t.title"
    assert rows(graph, threads) == [["api", None], ["login", "Log in"]]
    assert rows(graph, "MATCH (f:File) RETURN f.path") == ["src/auth.py"]
    assert rows(graph, "MATCH (p:Person) RETURN p.name") == ["Codex (Pat)"]
    app.ok("project", url, "--check")


def project(graph: GraphConnection, source: Source) -> None:
    projecting.prepare(graph)
    projecting.claim(graph, source.repository, take_over=False)
    Projection(graph, source).run()


class Interrupted(GraphConnection):
    """The connection is lost before the statement with a number."""

    left = 0

    def query(self, text: str, **parameters: Any) -> list[list[Any]]:
        self.left -= 1
        if self.left < 0:
            raise OfflineError("away")
        return super().query(text, **parameters)


def test_a_run_that_was_interrupted_anywhere_is_continued(app: Repo, url: str) -> None:
    reader = StoreReader(str(app.store))
    source = Source(reader, repository_of(str(app.store), app.machine.env, "here"))
    done = False
    steps = 0
    while not done:
        place = address.parse(f"{url}{steps}", {})
        with Interrupted(place) as graph:
            graph.left = steps
            try:
                project(graph, source)
                done = True
            except OfflineError:
                steps += 1
        with GraphConnection(place) as graph:
            project(graph, source)
            assert list(comparing.differences(graph, source)) == [], steps
    assert steps > 10


DAMAGE = {
    "MATCH (e:Entry {title: 'Log in'}) DELETE e": "login: 1 entry missing",
    "MATCH (e:Entry {title: 'Log in'}) SET e.body = 'x'": "1 entry with other body",
    "MATCH (t:Thread {topic: 'api'}) DELETE t": "api: is not in the graph",
    "MATCH (t:Thread {topic: 'api'}) SET t.status = 'x'": "api: other status",
    "MATCH (:Thread {topic: 'api'})<-[h:HOLDS]-() DELETE h": "api: other holder",
    "MATCH (:Thread {topic: 'api'})-[h:ASKS]->() DELETE h": "api: other questions",
    "MATCH ()-[l:LINKS]->() DELETE l": "login: other links",
    "MATCH ()-[i:IN]->() DELETE i": "login: other repository",
    "MATCH ()-[w:WROTE]->({title: 'Log in'}) DELETE w": "entry with other author",
    "MATCH ()-[m:MENTIONS]->() DELETE m": "1 entry with other files",
    "MATCH (d:Decision) REMOVE d:Decision": "1 entry with other decision",
    "MATCH (t:Thread {topic: 'api'}) CREATE (t)-[:HAS]->(:Entry {key: 'x', "
    "repository: t.repository})": "api: 1 entry too many",
    "MATCH (t:Thread {topic: 'api'}) CREATE (:Thread {topic: 'y', digest: 'x', "
    "key: t.repository + '#y', repository: t.repository})": "y: is in the graph, but",
    "MATCH (t:Thread {topic: 'api'}) CREATE (:Entry {key: 'x', "
    "repository: t.repository, topic: 'z'})": "z: 1 entry without a thread",
}


def test_each_difference_is_found_and_repaired(
    app: Repo, url: str, graph: Any, connection: GraphConnection
) -> None:
    root = str(app.store)
    repository = repository_of(root, app.machine.env, os.uname().nodename)
    source = Source(StoreReader(root), repository)
    app.ok("project", url)
    for statement, problem in DAMAGE.items():
        graph.query(statement)
        found = [": ".join(item) for item in comparing.differences(connection, source)]
        assert problem in "\n".join(found), statement
        Projection(connection, source, full=True).run()
        assert list(comparing.differences(connection, source)) == [], statement
    graph.query(statement)
    done = app.wc("project", url, "--check")
    assert (done.code, done.out) == (9, f"app: {problem} in the graph\n")
    assert "differs from the stores in 1 thread" in done.err
    done = app.wc("project", url, "--check", "--json")
    assert done.code == 9
    (difference,) = json.loads(done.out)["differences"]
    assert difference["topic"] == "z"
    app.ok("project", url, "--full")
    assert (
        app.ok("project", url, "--check").out == "the graph matches the stores: app\n"
    )


def test_repositories_are_apart_and_their_people_are_not(
    app: Repo, machine: Machine, url: str, graph: Any
) -> None:
    shop = machine.repo("home/src/shop")
    shop.ok("new", "login", "--title", "Of the shop", *CODEX)
    app.ok("project", url, "--all")
    titles = "MATCH (t:Thread {topic: 'login'})-[:IN]->(r) RETURN r.name, t.title"
    assert rows(graph, titles) == [["app", "Log in"], ["shop", "Of the shop"]]
    assert rows(graph, "MATCH (p:Person {name: 'Codex (Pat)'}) RETURN count(p)") == [1]
    app.ok("project", url, str(shop.path), str(app.store), "--check")
    app.fails(2, "project", url, str(shop.path), "--all")
    app.fails(3, "project", url, "nowhere")


def test_summaries_of_models_are_projected_as_they_come(
    app: Repo, url: str, graph: Any
) -> None:
    settle_ticks()
    assert summary(app, url) == (5, 0, 0)
    layout = StoreReader(str(app.store)).layout
    thread = StoreReader(str(app.store)).thread("login")
    entry = next(item for item in thread.entries if item.title == "Use WebAuthn")
    record = KeptSummary(entry.id, text_hash(entry), "It logs in.", "small", "2026")
    path = layout.summaries("login")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(record.to_line())
    assert "other summary" in app.wc("project", url, "--check").out
    assert summary(app, url) == (1, 0, 0)
    found = "MATCH (e:Entry) WHERE e.summary_by = 'model' RETURN e.id, e.summary"
    assert rows(graph, found) == [[entry.id, "It logs in."]]
    app.ok("project", url, "--check")
    assert summary(app, url) == (0, 0, 0)
    # A summary of a text that was amended since is not one of this entry.
    app.ok("amend", "login", "--body", "With a key", *CODEX)
    app.ok("project", url)
    assert rows(graph, found) == []
    app.ok("project", url, "--check")


def test_a_repository_is_removed_with_all_that_is_only_about_it(
    app: Repo, machine: Machine, url: str, graph: Any
) -> None:
    shop = machine.repo("home/src/shop")
    shop.ok("new", "login", "--title", "Of the shop", "--file", "a.py", "--as", "Sam")
    app.ok("project", url)
    only_app = rows(graph, COUNTS)
    app.ok("project", url, str(shop.path))
    ids: dict[str, str] = dict(
        graph.ro_query("MATCH (r:Repository) RETURN r.name, r.id").result_set
    )
    assert rows(graph, COUNTS) != only_app
    # Nobody can be asked, and nothing is removed by accident.
    assert "--yes" in app.fails(2, "project", url, "--remove", ids["shop"])
    assert "takes the id" in app.fails(
        2, "project", url, "--remove", ids["shop"], "--all", "--yes"
    )
    near = app.fails(3, "project", url, "--remove", ids["shop"][:-1], "--yes")
    assert ids["shop"] in near
    app.ok("project", url, "--check", str(app.path), str(shop.path))

    answer = app.json("project", url, "--remove", ids["shop"], "--yes")
    assert (answer["id"], answer["threads"], answer["removed"]) == (
        ids["shop"],
        1,
        True,
    )
    assert rows(graph, COUNTS) == only_app
    app.ok("project", url, "--check")
    app.fails(3, "project", url, "--remove", ids["shop"], "--yes")
    # It is derived: projecting it again brings it back.
    app.ok("project", url, str(shop.path))
    app.ok("project", url, "--check", str(shop.path))


COUNTS = (
    "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN labels(n)[0], coalesce(type(r), ''), "
    "count(*)"
)


def test_a_removal_that_was_interrupted_anywhere_is_continued_or_undone(
    app: Repo, url: str
) -> None:
    reader = StoreReader(str(app.store))
    source = Source(reader, repository_of(str(app.store), app.machine.env, "here"))
    repository = source.repository.id
    with Interrupted(address.parse(url, {})) as graph:
        for steps in range(100):
            graph.left = 1000
            project(graph, source)
            assert list(comparing.differences(graph, source)) == [], steps
            graph.left = steps
            try:
                projecting.remove_repository(graph, repository, most=1)
                break
            except OfflineError:
                continue
        assert steps > 15
        assert graph.read("MATCH (n) RETURN labels(n)[0]") == [["Schema"]]
        graph.left = 1000
        project(graph, source)
        graph.left = 15
        with pytest.raises(OfflineError):
            projecting.remove_repository(graph, repository, most=1)
        graph.left = 1000
        projecting.remove_repository(graph, repository, most=1)
        assert graph.read("MATCH (n) RETURN labels(n)[0]") == [["Schema"]]


def test_two_clones_do_not_undo_each_other(
    app: Repo, machine: Machine, url: str, graph: Any
) -> None:
    machine.git("init", "-q", "--bare", "home/hub.git", cwd=machine.root)
    app.git("remote", "add", "origin", "https://pat:pw@git.example.org/acme/app.git")
    app.ok("project", url)
    assert rows(graph, "MATCH (r:Repository) RETURN r.id") == [
        "git.example.org/acme/app"
    ]
    graph.query("MATCH (r:Repository) SET r.source = 'elsewhere:/app'")
    assert "elsewhere:/app" in app.fails(4, "project", url)
    app.ok("project", url, "--take-over")
    app.ok("project", url)


class TwoAxes(KeptVectors):
    """Vectors of two numbers: the entries of one thread point elsewhere."""

    def __init__(self) -> None:
        self.model, self.dimensions = "axes", 2

    def version(self, topic: str) -> str:
        return topic

    def of(self, thread: Thread) -> dict[str, list[float]]:
        axis = [1.0, 0.0] if thread.name == "api" else [0.0, 1.0]
        return {entry.id: axis for entry in thread.entries}


def test_vectors_are_searched_by_nearness(
    app: Repo, connection: GraphConnection, graph: Any
) -> None:
    root = str(app.store)
    repository = repository_of(root, app.machine.env, "here")
    plain = Source(StoreReader(root), repository)
    source = plain._replace(vectors=TwoAxes())
    settle_ticks()
    project(connection, plain)
    assert {item.topic for item in comparing.differences(connection, source)} == {
        "api",
        "login",
    }
    for full in (False, False, True):
        Projection(connection, source, full=full).run()
    assert list(comparing.differences(connection, source)) == []
    nearest = graph.ro_query(
        "CALL db.idx.vector.queryNodes('Vector', 'vector_0', 2, vecf32([0.9, 0.1])) "
        "YIELD node MATCH (e:Entry)-[:MEANS]->(node) RETURN e.topic"
    ).result_set
    assert nearest == [["api"], ["api"]]
    Projection(connection, plain, full=True).run()
    other = TwoAxes()
    other.model = "other"
    assert vector_property(connection, other) == "vector_1"


class Rivalled(GraphConnection):
    """A connection that is overtaken: before the first statement with some words, all
    of ``rival`` happens."""

    rival: Callable[[], object] | None = None

    def query(self, text: str, **parameters: Any) -> list[list[Any]]:
        if self.rival is not None and "vecf32" in text and "MEANS" in text:
            rival, self.rival = self.rival, None
            rival()
        return super().query(text, **parameters)


def test_two_projections_at_once_make_each_vector_once(
    app: Repo, url: str, connection: GraphConnection, graph: Any
) -> None:
    root = str(app.store)
    repository = repository_of(root, app.machine.env, "here")
    source = Source(StoreReader(root), repository, TwoAxes())
    projecting.prepare(connection)
    projecting.claim(connection, repository, take_over=False)
    for full in (False, True):
        with Rivalled(address.parse(url, {})) as overtaken:
            overtaken.rival = Projection(connection, source, full=full).run
            Projection(overtaken, source, full=full).run()
        assert overtaken.rival is None
        assert list(comparing.differences(connection, source)) == []
        assert rows(graph, "MATCH (v:Vector) RETURN count(v)") == [5]


def test_the_vectors_that_enrich_made_are_projected(
    app: Repo, url: str, graph: Any
) -> None:
    pytest.importorskip("wordllama", reason="wc-watercooler[meaning] is not installed")
    entries = "MATCH (e:Entry)-[:MEANS]->(v:Vector) RETURN e.title, v.digest"
    app.ok("project", url)
    assert rows(graph, entries) == []
    app.ok("enrich", "--meaning", env=MEANING)
    assert summary(app, url) == (0, 0, 0)
    before = rows(graph, entries)
    texts = {"Log in", "Use WebAuthn", "The API", "Which hash?", "login waits for api"}
    assert {title for title, _ in before} == texts
    app.ok("project", url, "--check")
    app.ok("amend", "api", "--title", "Which hash, then?", *CODEX)
    app.ok("project", url)
    assert len(rows(graph, entries)) == 4
    app.ok("enrich", "--meaning", env=MEANING)
    app.ok("project", url)
    after = rows(graph, entries)
    assert len(set(map(tuple, before)) & set(map(tuple, after))) == 4
    assert len(after) == 5
    app.ok("project", url, "--check")


# Servers that cannot be used.


def test_a_server_that_is_away_or_is_none_of_ours(app: Repo, tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path}/nowhere?graph=g"
    assert "cannot be reached" in app.fails(8, "project", nowhere)
    assert "cannot be reached" in app.fails(8, "project", "falkordb://127.0.0.1:1/g")
    assert "begins with falkordb://" in app.fails(2, "project", "http://x/g")


def test_users_and_rights(app: Repo, server: GraphServer, url: str) -> None:
    for name, *commands in (
        ("writer", "+graph.query", "+graph.ro_query", "+graph.list", "+info"),
        ("reader", "+graph.ro_query", "+graph.list", "+info"),
    ):
        server.command("ACL", "SETUSER", name, "on", ">pass:word", "~*", *commands)
    env = {"WATERCOOLER_GRAPH_USER": "writer"}
    refused = app.fails(2, "project", url, env=env)
    assert "refused the user or password" in refused
    env["WATERCOOLER_GRAPH_PASSWORD"] = "pass:word"
    app.ok("project", url, env=env)
    app.ok("project", url.replace("unix://", "unix://writer:pass%3Aword@"))
    env["WATERCOOLER_GRAPH_USER"] = "reader"
    app.ok("project", url, "--check", env=env)
    assert "denied permission" in app.fails(7, "project", url, env=env)
    assert "pass:word" not in refused


def test_a_server_without_the_module(app: Repo) -> None:
    for server in started(module=False):
        assert "is not a FalkorDB" in app.fails(2, "project", server.url("g"))
