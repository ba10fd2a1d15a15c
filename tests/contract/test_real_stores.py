"""Stores that other people's tools wrote, in real use: every entry is shown,
and a write changes nothing that is not its own."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import THREADS, Machine
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

THREADS_THERE = 26


def fetched(machine: Machine, data: Path) -> Repo:
    """A repository that has the real branch, not yet checked out."""
    repo = machine.repo()
    bundle = str(data / "real-threads.bundle")
    repo.git("fetch", "-q", bundle, f"sample:{THREADS}")
    return repo


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Repo:
    """A store that tests here only read."""
    repo = fetched(Machine(tmp_path_factory.mktemp("real")), data)
    repo.ok("init")
    return repo


def metas(repo: Repo) -> dict[str, dict[str, Any]]:
    """What the other tool says about each thread."""
    folders = (repo.store / "graph/baseline/threads").iterdir()
    return {one.name: json.loads((one / "meta.json").read_text()) for one in folders}


def test_entries_take_effect_in_the_order_of_their_ids(real: Repo) -> None:
    reader = StoreReader(str(real.store))
    logs = [reader.thread(topic).entries for topic in reader.topics()]
    assert len(logs) == THREADS_THERE
    for entries in logs:
        assert folding.in_effect_order(entries[::-1]) == folding.in_order(entries)


def test_every_thread_is_listed(real: Repo) -> None:
    rows = {one["topic"]: one for one in real.json("list")["threads"]}
    expected = metas(real)
    assert len(rows) == len(expected) == THREADS_THERE
    for topic, meta in expected.items():
        row = rows[topic]
        assert (row["title"], row["status"], row["ball"], row["entry_count"]) == (
            *(meta["title"], meta["status"].upper(), meta["ball"]),
            meta["entry_count"],
        )
        assert row["updated_at"].endswith("Z")
        assert "damaged" not in row
    text = real.ok("list").out
    assert all(topic in text for topic in expected)


def test_every_entry_is_read_with_its_body_intact(real: Repo) -> None:
    count = 0
    for topic in metas(real):
        shown = real.json("read", topic, "--peek")
        lines = real.entries(topic)
        assert "damage" not in shown
        assert len(shown["entries"]) == len(lines)
        for position, (one, line) in enumerate(
            zip(shown["entries"], lines, strict=True)
        ):
            count += 1
            assert one["idx"] == position
            assert (one["id"], one["author"], one["role"], one["type"]) == (
                *(line["entry_id"], line["agent"], line["role"], line["entry_type"]),
            )
            assert (one["title"], one["body"]) == (line["title"], line["body"])
    assert count > 100


def test_every_word_is_found(real: Repo) -> None:
    found = real.json("search", "supply-chain", "deny.toml")
    assert found["total"] > 0
    for hit in found["hits"]:
        line = real.entries(hit["topic"])[hit["idx"]]
        text = f"{line['title']} {line['body']} {hit['topic']}".casefold()
        assert "supply-chain" in text
        assert "deny.toml" in text


def test_reading_changes_nothing(real: Repo) -> None:
    status = real.machine.git("status", "--porcelain", cwd=real.store)
    assert status == ""


def changed_files(repo: Repo, before: str) -> dict[str, str]:
    """What the branch gained since ``before``: letter by path."""
    lines = repo.git("diff", "--name-status", before, THREADS).splitlines()
    return {path: letter for letter, path in (line.split("\t") for line in lines)}


def test_a_write_leaves_everything_else_as_it_was(machine: Machine, data: Path) -> None:
    repo = fetched(machine, data)
    before = repo.git("rev-parse", THREADS)
    topic = "insight-drift"
    said = repo.settled("say", topic, "--title", "Seen", "--body", "x", "--json").json
    assert said["committed"]
    folder = f"graph/baseline/threads/{topic}"
    changed = changed_files(repo, before)
    allowed = {
        f"{folder}/{one}" for one in ("entries.jsonl", "edges.jsonl", "meta.json")
    }
    allowed |= {f"threads/{topic}.md", ".gitattributes", ".gitignore"}
    assert f"{folder}/entries.jsonl" in changed
    assert set(changed) <= allowed, changed
    assert set(changed.values()) <= {"A", "M"}
    _check_log(repo, before, topic, said)
    _check_meta(repo, before, topic)
    status = machine.git("status", "--porcelain", cwd=repo.store)
    assert status == ""


def _check_log(repo: Repo, before: str, topic: str, said: dict[str, Any]) -> None:
    """The log has exactly one line more, with its base."""
    path = f"graph/baseline/threads/{topic}/entries.jsonl"
    old = repo.machine.git("show", f"{before}:{path}", cwd=repo.path).encode()
    new = (repo.store / path).read_bytes()
    assert new.startswith(old)
    (added,) = new[len(old) :].strip().splitlines()
    entry = json.loads(added)
    meta = json.loads(
        repo.git("show", f"{before}:{path}".replace("entries.jsonl", "meta.json"))
    )
    assert entry["entry_id"] == said["entry_id"]
    assert entry["base"] == {
        one: meta[one] for one in ("title", "status", "ball", "summary")
    }
    numstat = repo.git("diff", "--numstat", before, THREADS, "--", path)
    # The last line of other tools may lack its end; ours begins a new one.
    assert numstat.split("\t")[:2] in (["1", "0"], ["2", "1"])


def _check_meta(repo: Repo, before: str, topic: str) -> None:
    """Every key another tool wrote is there, with the value it had unless a
    write is about it."""
    path = f"graph/baseline/threads/{topic}/meta.json"
    old = json.loads(repo.git("show", f"{before}:{path}"))
    new = json.loads((repo.store / path).read_text())
    assert set(new) == {*old, "wc"}
    written = {"last_updated", "entry_count"}
    assert {one: new[one] for one in old if one not in written} == {
        one: old[one] for one in old if one not in written
    }
    assert new["entry_count"] == old["entry_count"] + 1


def test_the_ball_goes_on_from_where_it_was(machine: Machine, data: Path) -> None:
    repo = fetched(machine, data)
    topic = "history-overview"
    claude = ["--as", "Claude (caleb)"]
    repo.ok("init")
    assert repo.json("list", *claude)["threads"][0]["have_ball"]
    said = repo.json("handoff", topic, "--to", "Codex", *claude)
    assert (said["previous_ball"], said["ball"]) == ("Claude Code (caleb)", "Codex")
    # From now on the log is self-sufficient.
    (repo.log(topic).with_name("meta.json")).unlink()
    shown = repo.json("read", topic, "--peek")
    assert (shown["ball"], shown["title"]) == ("Codex", "history overview")


# --- before the log existed ---------------------------------------------------


@pytest.fixture
def old(machine: Machine, data: Path) -> Repo:
    place = machine.folder("old")
    pages = place.path / ".watercooler/threads"
    pages.mkdir(parents=True)
    for path in (data / "old-markdown").iterdir():
        shutil.copyfile(path, pages / path.name)
    return place


def pages_of(old: Repo) -> dict[str, str]:
    pages = (old.path / ".watercooler/threads").glob("*.md")
    return {one.stem: one.read_text() for one in pages}


def headers(page: str) -> list[tuple[str, str]]:
    """(author, time) of each entry, by the eye of a stranger."""
    return re.findall(r"^Entry: (.+) (\d{4}-\S+Z)$", page, re.MULTILINE)


def test_old_pages_are_listed_and_read_as_they_are(old: Repo) -> None:
    before = pages_of(old)
    rows = {one["topic"]: one for one in old.json("list", "--all")["threads"]}
    assert set(rows) == set(before)
    for topic, page in before.items():
        found = headers(page)
        assert rows[topic]["entry_count"] == len(found) > 0
        status = re.search(r"^Status: (.+)$", page, re.MULTILINE)
        ball = re.search(r"^Ball: (.+)$", page, re.MULTILINE)
        assert status is not None
        assert ball is not None
        assert rows[topic]["status"] == status[1].strip().upper()
        assert rows[topic]["ball"] == ball[1].strip()
        entries = old.json("read", topic, "--peek")["entries"]
        assert [(one["author"], one["at"]) for one in entries] == found
        squeezed = "".join(page.split())
        for one in entries:
            assert "".join(one["body"].split()) in squeezed
            assert one["title"] in page
    assert pages_of(old) == before
    assert not (old.path / ".watercooler/graph").exists()


@pytest.mark.parametrize("topic", ["topic", "codex-validation", "phase1a-mcp-complete"])
def test_a_first_write_imports_the_history(old: Repo, topic: str) -> None:
    page = pages_of(old)[topic]
    was = old.json("read", topic, "--peek")
    said = old.settled("ack", topic, "--title", "Welcome", "--json").json
    count = len(was["entries"])
    assert (said["idx"], said["ball"]) == (count, was["ball"])
    now = old.json("read", topic, "--peek")
    assert now["entries"][:count] == was["entries"]
    assert now["entries"][count]["title"] == "Welcome"
    assert (now["status"], now["ball"]) == (was["status"], was["ball"])
    assert len(old.entries(topic)) == count + 1
    # The page as it was is kept, and the new one says all that it said.
    kept = old.path / ".watercooler/.local/imported" / f"{topic}.md"
    assert kept.read_text() == page
    assert len(headers(pages_of(old)[topic])) >= count
    others = {one: text for one, text in pages_of(old).items() if one != topic}
    assert len(others) == 3


def test_two_who_import_the_same_page_get_the_same_ids(
    old: Repo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Machine(tmp_path_factory.mktemp("other"), "Kim").folder("old")
    shutil.copytree(old.path / ".watercooler", other.path / ".watercooler")
    ids = []
    for place in (old, other):
        place.ok("ack", "codex-validation")
        ids.append([one["entry_id"] for one in place.entries("codex-validation")][:-1])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0]) == 5


def test_an_older_store_s_counterparts_are_in_force(old: Repo) -> None:
    old.ok("new", "next", "--title", "x", "--as", "Codex")
    said = old.json("say", "next", "--title", "y", "--as", "Codex")
    assert said["ball"] == "Claude Code (Pat)"
