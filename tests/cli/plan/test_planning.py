"""Links between threads, by hand: what waits, what is ready, and who is told."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    for topic in ("db", "api", "ui"):
        repo.ok("new", topic, "--title", f"The {topic}", *CODEX)
    return repo


def ready(repo: Here, *words: str) -> list[str]:
    return sorted(row["topic"] for row in repo.json("ready", *words)["threads"])


def waits(repo: Here) -> dict[str, list[str]]:
    rows = repo.json("list")["threads"]
    return {row["topic"]: row["waits_for"] for row in rows if "waits_for" in row}


def test_what_was_understood_is_read_back(repo: Here) -> None:
    for words, sentence in (
        (("link", "ui", "waits-for", "api"), "ui waits for api"),
        (("link", "ui", "waits", "for", "api"), "ui waits for api"),
        (("link", "ui", "depends_on", "api"), "ui waits for api"),
        (("link", "ui", "BLOCKED-BY", "api"), "ui waits for api"),
        (("link", "api", "blocks", "ui"), "ui waits for api"),
        (("link", "ui", "child-of", "api"), "ui is part of api"),
        (("link", "api", "parent-of", "ui"), "ui is part of api"),
        (("link", "ui", "sidequest-of", "api"), "ui is a sidequest of api"),
        (("link", "ui", "relates", "api"), "ui relates to api"),
        (("link", "ui", "found-in", "api"), "ui was discovered in api"),
        (("link", "ui", "duplicates", "api"), "ui duplicates api"),
    ):
        assert repo.ok(*words, *CODEX).out.splitlines()[-1] == sentence
        entry = repo.json("read", "ui")["entries"][-1]
        assert (entry["action"], entry["title"]) == ("link", sentence)
        assert entry["links_added"][0]["topic"] == "api"
        repo.ok("unlink", "ui", "api", *CODEX)
        assert waits(repo) == {}


def test_the_ball_stays_and_nothing_is_committed_to_for_others(repo: Here) -> None:
    repo.ok("link", "ui", "waits-for", "api", *GEMINI)
    assert repo.json("read", "ui")["ball"] == "Codex (Pat)"


def test_what_is_refused(repo: Here) -> None:
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    before = repo.json("list")["threads"]
    for words, code, text in (
        (("link", "ui", "waiting-on", "api"), 2, "is not a link between threads"),
        (("link", "ui", "blox", "api"), 2, "example: wc link ui blocks api."),
        (("unlink", "ui", "blox", "api"), 2, "example: wc unlink ui blocks api."),
        (("link", "ui", "api"), 2, "needs two threads and a verb"),
        (("link", "ui", "blocks", "nowhere"), 3, 'no thread "nowhere"'),
        (("link", "ui", "waits-for", "ui"), 4, "cannot be linked to itself"),
        (("link", "ui", "waits-for", "api"), 4, "This link already exists"),
        (("unlink", "db", "api"), 4, "There is no such link"),
        (("unlink", "ui"), 2, "Two threads are needed"),
        (("link", "ui", "waits-for", ","), 2, "names no thread"),
        (("new", "x", "--title", "T", "--blocked-by", "nowhere"), 3, "nowhere"),
        (("ready", "nowhere"), 3, "nowhere"),
    ):
        assert text in repo.fails(code, *words, *CODEX)
        assert [row["entry_count"] for row in repo.json("list")["threads"]] == [
            row["entry_count"] for row in before
        ]


def test_a_cycle_is_refused_with_its_path(repo: Here) -> None:
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    repo.ok("link", "api", "waits-for", "db", *CODEX)
    problem = repo.fails(4, "link", "db", "waits-for", "ui", *CODEX)
    assert "db → ui → api → db" in problem
    assert waits(repo) == {"ui": ["api"], "api": ["db"]}


def test_parts_and_waiting_make_a_cycle_together(repo: Here) -> None:
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    refused = repo.wc("link", "ui", "part-of", "api", *CODEX)
    assert refused.code == 4
    assert "ui is part of api would be a cycle: api → ui → api." in refused.err
    # Two links of one command, each of which is allowed by itself.
    refused = repo.wc("link", "db", "part-of", "api,ui", *CODEX)
    assert (refused.code, "would be a cycle" in refused.err) == (4, True)
    words = ("new", "docs", "--title", "T", "--parent", "api", "--blocked-by")
    refused = repo.wc(*words, "api", *CODEX)
    assert refused.code == 4
    assert "docs waits for api would be a cycle: docs → api → docs." in refused.err
    assert repo.wc(*words, ",", *CODEX).code == 2
    assert repo.wc("read", "docs").code == 3
    assert repo.json("tree").get("ignored") is None


def test_two_at_once_make_no_cycle(repo: Here) -> None:
    def link(words: tuple[str, ...]) -> int:
        command = [sys.executable, "-m", "wc_cli", *words]
        return subprocess.run(
            command,
            cwd=repo.path,
            env=repo.machine.env,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        ).returncode

    pair = [("link", "ui", "waits-for", "api"), ("link", "api", "waits-for", "ui")]
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(link, pair)) == [0, 4]


def test_ready_is_what_may_be_begun(repo: Here) -> None:
    repo.ok("link", "api", "waits-for", "db", *CODEX)
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    assert ready(repo, *CODEX) == ["db"]
    assert ready(repo, *GEMINI) == []
    repo.ok("handoff", "db", "--to", "anyone", "--reason", "x", *CODEX)
    assert ready(repo, *GEMINI) == ["db"]
    assert ready(repo, "--mine", *GEMINI) == []
    assert waits(repo) == {"api": ["db"], "ui": ["api"]}
    assert sorted(r["topic"] for r in repo.json("list", "--blocked")["threads"]) == [
        "api",
        "ui",
    ]
    repo.ok("set-status", "db", "CLOSED", *CODEX)
    assert ready(repo, *CODEX) == ["api"]
    repo.ok("set-status", "db", "OPEN", *CODEX)
    assert ready(repo, *CODEX) == ["db"]
    for topic in ("db", "api", "ui"):
        chain = repo.json("ready", topic, *CODEX)
        assert chain["ready"] == (topic in ready(repo, *CODEX))
        assert chain["ready"] == (chain["reasons"] == [])


def test_ready_tells_the_chain(repo: Here) -> None:
    repo.ok("link", "api", "waits-for", "db", *CODEX)
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    assert repo.ok("ready", "ui", *CODEX).out.splitlines() == [
        "ui is not ready:",
        "  it waits for api",
        "    api: it waits for db, which is ready",
    ]
    assert repo.ok("ready", "db", *CODEX).out == "nothing: db is ready\n"


def test_the_prompt_and_the_brief_call_nobody_to_what_waits(repo: Here) -> None:
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    repo.ok("link", "api", "waits-for", "db", *CODEX)

    def line() -> str:
        return repo.ok("statusline", env={"WATERCOOLER_AGENT": "Codex"}).out.strip()

    def called() -> list[str]:
        your_move = repo.json("brief", *CODEX)["mine"]["threads"]
        return [item["topic"] for item in your_move]

    assert line() == "🎾 you · db"
    assert called() == ["db"]
    repo.ok("done", "db", "--title", "Done", *CODEX)
    assert line() == "🎾 you · api"
    assert called() == ["api"]
    repo.ok("unlink", "ui", "api", *CODEX)
    assert sorted(called()) == ["api", "ui"]


def test_whoever_waits_is_woken(repo: Here) -> None:
    repo.ok("link", "ui", "waits-for", "db", *CODEX)
    repo.ok("handoff", "ui", "--to", "Gemini", "--force", *CODEX)
    repo.fails(10, "wait", "--timeout", "0.2", *GEMINI)
    done = repo.ok("done", "db", "--title", "Done", *CODEX)
    assert "note: db is closed: ui can begin (ball: Gemini CLI)" in done.err
    woken = repo.ok("wait", "--timeout", "5", *GEMINI)
    assert "ui" in woken.out
    assert "db is closed: ui is yours to begin" in woken.err


def test_an_agent_waits_until_there_is_something_to_begin(repo: Here) -> None:
    repo.fails(10, "wait", "--ready", "--timeout", "0.2", *GEMINI)
    repo.ok("new", "docs", "--title", "T", "--to", "anyone", *CODEX)
    repo.ok("link", "docs", "waits-for", "db", *CODEX)
    repo.fails(10, "wait", "--ready", "--timeout", "0.2", *GEMINI)
    repo.ok("done", "db", "--title", "Done", *CODEX)
    woken = repo.ok("wait", "--ready", "--timeout", "5", *GEMINI)
    assert "docs" in woken.out
    repo.ok("set-status", "docs", "BLOCKED", *CODEX)
    repo.fails(10, "wait", "--ready", "--timeout", "0.2", *GEMINI)
    assert "api" in repo.ok("wait", "--ready", "api", "--timeout", "5", *CODEX).out


def test_a_whole_waits_for_its_parts_and_they_for_what_it_waits_for(
    repo: Here,
) -> None:
    repo.ok("new", "web", "--title", "T", "--blocked-by", "db", *CODEX)
    repo.ok("new", "page", "--title", "T", "--parent", "web", *CODEX)
    assert waits(repo) == {"web": ["db", "page"], "page": ["db"]}
    problem = repo.fails(4, "set-status", "web", "CLOSED", *CODEX)
    assert "Parts of web are open: page" in problem
    repo.ok("set-status", "web", "CLOSED", "--force", *CODEX)
    entry = repo.json("read", "web")["entries"][-1]
    assert entry["reason"] == "closed with open parts: page"


def test_only_what_waited_is_reported_to_begin(repo: Here) -> None:
    repo.ok("link", "ui", "part-of", "db", *CODEX)
    repo.ok("link", "api", "relates-to", "db", *CODEX)
    for number in range(7):
        repo.ok("new", f"t{number}", "--title", "T", "--blocked-by", "db", *CODEX)
    repo.ok("set-status", "t0", "BLOCKED", *CODEX)
    done = repo.ok("set-status", "db", "CLOSED", "--force", *CODEX)
    *freed, more = done.err.splitlines()
    assert [line.split()[4] for line in freed] == ["t1", "t2", "t3", "t4", "t5"]
    assert more == "note: and 1 more; to see them: wc ready"
    # A part did not wait for the whole.
    assert "db is closed" not in repo.ok("wait", "ui", *CODEX).err


def test_a_sidequest_leads_back(repo: Here) -> None:
    repo.ok("new", "quirk", "--title", "T", "--sidequest-of", "ui", *CODEX)
    assert ready(repo, *CODEX) == ["api", "db", "quirk", "ui"]
    done = repo.ok("done", "quirk", "--title", "Fixed", *CODEX)
    assert "this was a sidequest of ui, whose ball is still yours" in done.err


def test_the_tree(repo: Here) -> None:
    repo.ok("new", "web", "--title", "All", *CODEX)
    repo.ok("link", "ui", "part-of", "web", *CODEX)
    repo.ok("link", "api", "part-of", "web", *CODEX)
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    repo.ok("new", "quirk", "--title", "Odd", "--sidequest-of", "api", *CODEX)
    assert repo.ok("tree", *CODEX).out.splitlines() == [
        "  web · Codex (Pat) · All",
        ">   api · Codex (Pat) · The api",
        ">     quirk · (sidequest) · Codex (Pat) · Odd",
        "    ui · Codex (Pat) · waits for api · The ui",
    ]
    answer: dict[str, Any] = repo.json("tree", "api", *CODEX)
    (node,) = answer["threads"]
    assert (node["topic"], node["ready"]) == ("api", True)
    assert [lower["kind"] for lower in node["threads"]] == ["sidequest"]


def test_a_renamed_thread_keeps_its_links(repo: Here) -> None:
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    repo.ok("rename", "api", "server", *CODEX)
    assert waits(repo) == {"ui": ["server"]}
    repo.ok("unlink", "ui", "server", *CODEX)
    repo.ok("link", "ui", "waits-for", "server", *CODEX)
    repo.ok("done", "server", "--title", "T", *CODEX)
    assert waits(repo) == {}


MARKDOWN = """\
# The plan

- ui waits for api
1. `db` blocks `api`
* [ ] ui relates to db
"""
JSON_LINES = """\
{"topic": "ui", "kind": "blocked_by", "target": "api"}
{"topic": "db", "kind": "blocks", "target": "api"}
{"topic": "ui", "kind": "relates", "target": "db"}
"""


@pytest.mark.parametrize("text", [MARKDOWN, JSON_LINES])
def test_many_links_at_once(repo: Here, text: str) -> None:
    (repo.path / "plan.md").write_text(text)
    done = repo.ok("link", "--from", "plan.md", *CODEX)
    assert done.out.splitlines()[-1] == "3 links"
    assert waits(repo) == {"ui": ["api"], "api": ["db"]}
    counts = [row["entry_count"] for row in repo.json("list")["threads"]]
    again = repo.ok("link", "--from", "-", *CODEX, feed=text.encode())
    assert again.out == "0 links, 3 already present\n"
    assert [row["entry_count"] for row in repo.json("list")["threads"]] == counts


def test_of_many_links_all_are_written_or_none(repo: Here) -> None:
    for text, code, problem in (
        ("- ui waits for api\n- api waits for ui\n", 4, "Line 2 would be a cycle: api"),
        ("- ui waits for api\n- ui waits for nowhere\n", 3, "Line 2: There is no"),
        ("- ui waits for api\n- ui\n", 2, "Line 2: it is not a link"),
        ('- ui waits for api\n{"topic": 5}\n', 2, "Line 2: it does not have"),
        ("- ui foo api\n", 2, "Line 1: 'foo' is not a link"),
        ("- ui waits for ui\n", 4, "Line 1: ui cannot be linked to itself"),
        ("# nothing\n", 2, "It contains no links"),
    ):
        error = repo.fails(code, "link", "--from", "-", *CODEX, feed=text.encode())
        assert problem in error
        assert waits(repo) == {}
        repo.fails(2, "link", "ui", "waits-for", "api", "--from", "x", *CODEX)
        repo.fails(3, "link", "--from", "no-such-file", *CODEX)
