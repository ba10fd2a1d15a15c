"""What the server and its pages show of amended and retracted entries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Machine
from tests.observe.stores import Session, Store

OLD, NEW, SECRET = "Tokens live an horu", "Tokens live an hour", "hunter2"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    repo = Machine(tmp_path_factory.mktemp("corrections")).repo()
    repo.ok("new", "login", "--title", "Login", "--body", "How long?")
    repo.ok("say", "login", "--title", OLD, "--body", "Wrong: the horu.")
    repo.ok("amend", "login", "--title", NEW, "--body", "Right: the hour.")
    repo.ok("ack", "login", "--title", "A secret", "--body", SECRET)
    repo.ok("retract", "login")
    return Session(repo.path, {**repo.machine.env, "WATERCOOLER_AGENT": "Codex"})


def shown(fields: dict[str, Any]) -> list[tuple[int, str]]:
    return [(entry["idx"], entry["title"]) for entry in fields["entries"]]


LATEST = [(0, "Login"), (1, NEW), (3, "(retracted)")]


def test_read_thread(session: Session) -> None:
    fields = session.json("read_thread", topic="login")
    assert shown(fields) == LATEST
    assert fields["entries"][1]["amended"] is fields["entries"][2]["retracted"] is True
    assert shown(session.json("read_thread", topic="login", from_entry=-2)) == [
        LATEST[2]
    ]
    paged = session.json("read_thread", topic="login", from_entry=1, limit=1)
    assert (shown(paged), paged["next_entry_index"]) == ([LATEST[1]], 3)
    for arguments in ({}, {"summary_only": True}):
        text = session.text("read_thread", topic="login", **arguments)
        assert "| amended" in text
        assert "horu" not in text
        assert SECRET not in text


def test_read_thread_with_its_history(session: Session) -> None:
    fields = session.json("read_thread", topic="login", history=True)
    assert shown(fields) == [
        (0, "Login"),
        (1, OLD),
        (2, NEW),
        (3, "A secret"),
        (4, "Retracted #3"),
    ]
    text = session.text("read_thread", topic="login", history=True)
    assert "corrects" in text
    assert SECRET in text


def test_one_entry(session: Session) -> None:
    log = session.json("read_thread", topic="login", history=True)["entries"]
    # A correction stands for the entry it corrects, by number and by id.
    for named in ("1", "2", log[2]["id"]):
        entry = session.json("read_thread", topic="login", entry=named)["entry"]
        assert (entry["idx"], entry["title"], entry["amended"]) == (1, NEW, True)
    last = session.json("read_thread", topic="login", entry="-1")["entry"]
    assert (last["idx"], last["retracted"]) == (3, True)
    old = session.json("read_thread", topic="login", entry="1", history=True)["entry"]
    assert (old["title"], old["amended"]) == (OLD, True)
    assert NEW in session.read("threads/login/2")


def test_updates_and_search(session: Session) -> None:
    updates = session.json("list_updates", since="2020-01-01")
    assert shown(updates) == LATEST
    since = updates["entries"][2]["id"]
    # The retraction came after what it retracts.
    assert shown(session.json("list_updates", since=since)) == [LATEST[2]]
    for word in ("horu", SECRET, "retracted"):
        assert session.json("search_threads", query=word)["total"] == 0
    (hit,) = session.json("search_threads", query="hour")["hits"]
    assert (hit["idx"], hit["amended"]) == (1, True)


def test_names_and_tags(tmp_path_factory: pytest.TempPathFactory) -> None:
    repo = Machine(tmp_path_factory.mktemp("labels")).repo()
    repo.ok("new", "login", "--title", "Access", "--body", "passkeys", "--to", "Codex")
    repo.ok("new", "other", "--title", "Other")
    repo.ok("rename", "login", "sign-in")
    repo.ok("tag", "login", "+urgent", "auth")
    session = Session(repo.path, {**repo.machine.env, "WATERCOOLER_AGENT": "Codex"})
    (row,) = session.json("list_threads", tag="urgent,auth")["threads"]
    assert (row["topic"], row["tags"]) == ("sign-in", ["auth", "urgent"])
    assert session.json("list_threads", tag="nothing")["threads"] == []
    assert ", +auth, +urgent" in session.text("list_threads")
    for name in ("login", "sign-in", "Sign-In"):
        fields = session.json("read_thread", topic=name)
        assert (fields["topic"], fields["tags"]) == ("sign-in", ["auth", "urgent"])
        assert session.json("read_thread", topic=name, entry="0")["topic"] == "sign-in"
        assert session.json("get_stats", topic=name)["topic"] == "sign-in"
        assert "thread sign-in:" in session.read(f"threads/{name}")
        task, _ = session.prompt("review_thread", topic=name)
        assert "sign-in" in task
        assert "login" not in task
    for query in ("topic:login passkeys", "topic:sign-in passkeys"):
        (hit,) = session.json("search_threads", query=query, words="all")["hits"]
        assert hit["topic"] == "sign-in"
    updates = session.json("list_updates", since="2020-01-01")["entries"]
    assert {entry["topic"] for entry in updates} == {"sign-in", "other"}
    for tool, arguments in (
        ("list_threads", {}),
        ("read_thread", {"topic": "login"}),
        ("read_thread", {"topic": "login", "entry": "0"}),
        ("list_updates", {"since": "2020-01-01"}),
        ("search_threads", {"query": "passkeys"}),
        ("get_stats", {}),
    ):
        text = session.text(tool, **arguments)
        assert "sign-in" in text, tool
        assert "login" not in text, tool


def test_a_search_follows_corrections(store: Store, env: dict[str, str]) -> None:
    session = Session(store.root.parent, env)
    first = store.entry("t", "an horu", title="One")
    second = store.entry("t", "secret", title="Two")
    store.thread("t", first, second)

    def found(word: str) -> list[tuple[int, bool]]:
        hits = session.json("search_threads", query=word)["hits"]
        return [(hit["idx"], hit.get("amended", False)) for hit in hits]

    assert found("horu") == [(0, False)]
    assert found("secret") == [(1, False)]
    amendment = store.entry("t", "an hour", action="amend", supersedes=first.id)
    store.thread("t", first, second, amendment)
    assert (found("horu"), found("hour")) == ([], [(0, True)])
    retraction = store.entry("t", action="retract", supersedes=second.id)
    last = store.entry("t", "an hour")
    store.thread("t", first, second, amendment, retraction, last)
    assert found("secret") == []
    assert found("hour") == [(4, False), (0, True)]


def test_a_row_follows_a_name_that_another_thread_takes(
    store: Store, env: dict[str, str]
) -> None:
    session = Session(store.root.parent, env)
    rename = {"action": "rename", "new_topic": "b"}
    store.thread("a", store.entry("a"), store.entry("a", **rename))

    def names() -> set[str]:
        return {row["topic"] for row in session.json("list_threads")["threads"]}

    assert names() == {"b"}
    store.thread("b")
    assert names() == {"a", "b"}
