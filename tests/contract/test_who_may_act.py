"""What an entry may cause here, by where it was written: a test for each cell of
`RULES`, each with real clones, pushes, carriers and processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.cli.carry.places import carry
from tests.cli.claims.test_claims_between_clones import Clones
from tests.cli.notify.receiver import Receiver
from tests.cli.wake.test_waiting import Agents
from tests.observe.stores import Session
from tests.observe.web.pages import Site
from wc_cli.ledger.clock import now_ms
from wc_core.ledger.provenance import (
    CARRIER,
    HERE,
    NAMED,
    NOTIFY,
    ORIGINS,
    OTHERS,
    READ,
    RULES,
    WAKE,
    EntryOrigin,
    Provenance,
    may,
)
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

AGENT, PERSON = "Claude Code@fix (pat)", "Pat"
# The same person, if names proved anything.
CODEX = "Codex (Pat)"
CARRIED = "claude/fix"
# An entry; one that is named by a setting of this machine; one under the person's name.
PLAIN, BY_SETTING, OWN = "plain", "by setting", "own"
BACKGROUND = {"WATERCOOLER_SYNC": "background"}


class Play(NamedTuple):
    """Two clones; in Pat's, a person with a webhook and an agent in a worktree."""

    clones: Clones
    agents: Agents
    receiver: Receiver

    def prefer(self, key: str, *values: str) -> None:
        self.clones.pat.ok("config", "--global", "set", "--", key, *values)

    def bring(self, origin: str, topic: str, *words: str) -> None:
        """Have an entry that opens a thread come to Pat's clone by that way."""
        new = ("new", topic, *words, "--force")
        pat, sam = self.clones.pat, self.clones.sam
        if origin == HERE:
            pat.ok(*new, env=BACKGROUND)
            return
        if origin == CARRIER:
            sam.git("switch", "-qC", CARRIED)
            sam.ok(*new, env={"WATERCOOLER_SYNC": "off"})
            carry(sam)
            sam.git("push", "-q", "origin", CARRIED)
            pat.ok("sync", env=BACKGROUND)
        else:
            sam.ok(*new)
            sam.ok("sync")
            pat.ok("sync", env=BACKGROUND)
        assert self.origin_of(topic) == origin

    def origin_of(self, topic: str) -> str:
        reader = StoreReader(str(self.agents.store))
        return Provenance(reader.layout).of_ball(reader.thread(topic)).kind


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    clones = Clones(tmp_path)
    pat = clones.pat
    agents = Agents(pat, pat.worktree("fix").path, pat.store)
    yield Play(clones, agents, Receiver(tmp_path))
    for waiter in (agents.private / "waiters").glob("*:*"):
        waiter.unlink()  # ends what waits


def is_read(play: Play, origin: str, _: str) -> bool:
    """Whether an entry is shown and passes the ball, and only a carrier's says by
    which branch it came."""
    play.bring(origin, "it", "--title", "Look", "--as", CODEX, "--to", AGENT)
    pat = play.clones.pat
    (entry,) = pat.json("read", "it", "--peek")["entries"]
    assert entry.get("via") == (CARRIED if origin == CARRIER else None)
    is_marked = f"via {CARRIED}" in pat.ok("read", "it", "--peek").out
    assert is_marked == (origin == CARRIER)
    return entry["title"] == "Look" and pat.ball("it") == "Claude Code@fix (pat)"


def notifies(play: Play, origin: str, case: str) -> bool:
    """Whether a ball notifies the person. A later one from someone else does."""
    play.prefer("notify.command", play.receiver.command)
    play.clones.pat.ok("sync", env=BACKGROUND)
    author = PERSON if case == OWN else CODEX
    if case == OWN:
        play.clones.sam.git("config", "user.name", PERSON)
    play.bring(origin, "it", "--title", "Look", "--as", author, "--to", PERSON)
    assert play.clones.pat.entries("it")[0]["agent"] == author
    words = ("--title", "Then", "--as", "Codex", "--to", PERSON)
    play.clones.pat.ok("new", "later", *words, env=BACKGROUND)
    expected = 1
    while True:
        topics = {item.fields["topic"] for item in play.receiver.wait(expected)}
        if "later" in topics:
            return "it" in topics
        expected += 1


def wakes(play: Play, origin: str, case: str) -> bool:
    """Whether a ball wakes an idle session. A later one from this clone does."""
    if origin == CARRIER:
        play.prefer("wake.from", "anyone")  # which is not about carriers
    else:
        play.prefer("wake.from", "Codex" if case == BY_SETTING else "Gemini")
    client = play.agents.wait().sleeps()
    play.bring(origin, "it", "--title", "Look", "--as", CODEX, "--to", AGENT)
    words = ("--title", "Then", "--as", PERSON, "--to", AGENT)
    if not is_woken(play):
        play.bring(HERE, "later", *words)
    ended = client.ended()
    assert ended.code == 2
    assert ("via " in ended.err) == (origin == CARRIER and "- it " in ended.err)
    return "- it · " in ended.err


def is_woken(play: Play) -> bool:
    return any(record["is_called"] for record in play.agents.records())


# How each action is tried: with where the entry comes from, and one of the cases.
TRIALS: dict[str, Callable[[Play, str, str], bool]] = {
    READ: is_read,
    NOTIFY: notifies,
    WAKE: wakes,
}


def cells() -> Iterator[tuple[str, str, str]]:
    """Each cell of the table that is tried, in each case that it tells apart."""
    for action in TRIALS:
        for origin in ORIGINS:
            yield action, origin, PLAIN
            if RULES[action][origin] == NAMED:
                yield action, origin, BY_SETTING
            # A carrier cannot have entries of people.
            if OTHERS in RULES[action].values() and origin != CARRIER:
                yield action, origin, OWN


@pytest.mark.parametrize(("action", "origin", "case"), [*cells()])
def test_an_entry_causes_what_the_table_says(
    play: Play, action: str, origin: str, case: str
) -> None:
    is_own = case == OWN
    allowed = may(
        action, EntryOrigin(origin), lambda: case == BY_SETTING, is_own=is_own
    )
    assert TRIALS[action](play, origin, case) == allowed


def test_a_question_wakes_by_where_it_was_asked(play: Play) -> None:
    """Not by where the ball of its thread was passed."""
    play.bring(HERE, "it", "--title", "Look", "--as", PERSON, "--to", "Gemini")
    play.prefer("wake.from", "Gemini")
    client = play.agents.wait().sleeps()
    pat, sam = play.clones.pat, play.clones.sam
    pat.ok("sync")
    sam.ok("sync")
    sam.ok("ask", "it", "--title", "Why?", "--to", AGENT, "--as", CODEX, "--force")
    sam.ok("sync")
    pat.ok("sync", env=BACKGROUND)
    assert [entry["title"] for entry in pat.entries("it")] == ["Look", "Why?"]
    play.bring(HERE, "later", "--title", "Then", "--as", PERSON, "--to", AGENT)
    err = client.ended().err
    assert "- later" in err
    assert "Why?" not in err


def test_who_opens_a_thread_again_elsewhere_wakes_no_one(play: Play) -> None:
    """The ball was passed here, but nobody here has opened the thread again."""
    play.bring(HERE, "it", "--title", "Look", "--as", PERSON, "--to", AGENT)
    pat, sam = play.clones.pat, play.clones.sam
    pat.ok("close", "it", "-m", "Not needed")
    pat.ok("sync")
    sam.ok("sync")
    play.prefer("wake.from", "Gemini")
    client = play.agents.wait().sleeps()
    words = ("--reason", "again", "--as", CODEX, "--force")
    sam.ok("set-status", "it", "OPEN", *words)
    sam.ok("handoff", "it", "--to", AGENT, *words) if not sam.ball("it") else None
    sam.ok("sync")
    pat.ok("sync", env=BACKGROUND)
    assert pat.json("read", "it", "--peek")["status"] == "OPEN"
    play.bring(HERE, "later", "--title", "Then", "--as", PERSON, "--to", AGENT)
    err = client.ended().err
    assert "- later" in err
    assert "- it " not in err


def test_a_pushed_folder_of_sessions_wakes_and_tells_no_one(play: Play) -> None:
    """A branch can contain `.local`."""
    play.agents.hook("session-start")
    local, private = play.agents.store / ".local", play.agents.private
    for folder in ("sessions", "waiters", "wakes", "notified", "terminals"):
        (local / folder).mkdir(exist_ok=True)
    (session,) = (private / "sessions").iterdir()
    fields = json.loads(session.read_text())
    pushed = local / "sessions" / session.name
    pushed.write_text(json.dumps({**fields, "untold": ["Do it"], "advice": ["Do it"]}))
    assert "Do it" not in play.agents.hook("user-prompt")
    client = play.agents.wait().sleeps()
    waiter = json.loads(client.file.read_text())
    pushed = local / "waiters" / client.file.name
    pushed.write_text(json.dumps({**waiter, "token": "", "pid": 1, "begin": 0}))
    (local / "waiters/claude:other").write_text(json.dumps(waiter))
    assert len(play.clones.pat.json("wake")["sessions"]) == 1
    play.bring(HERE, "it", "--title", "Look", "--as", PERSON, "--to", AGENT)
    assert client.ended().code == 2
    assert [*(local / "wakes").iterdir()] == []


def test_the_switch_of_an_older_wc_still_counts(play: Play) -> None:
    """A person set it. What a push can fill can only let agents sleep."""
    older = play.agents.store / ".local/waiters/=off"
    older.parent.mkdir(exist_ok=True)
    older.write_text("")
    assert not play.clones.pat.json("wake")["on"]
    play.clones.pat.ok("wake", "on")
    assert play.clones.pat.json("wake")["on"]


def test_each_surface_says_by_which_branch_an_entry_came(play: Play) -> None:
    """The same entry, wherever it is read."""
    body = ("--body", "Look at the parser.")
    play.bring(CARRIER, "it", "--title", "Look", *body, "--as", CODEX, "--to", PERSON)
    sam, pat = play.clones.sam, play.clones.pat
    offline = {"WATERCOOLER_SYNC": "off"}
    ask = ("ask", "it", "--title", "Why?", "--to", PERSON, "--as", CODEX)
    sam.ok(*ask, env=offline)
    decide = ("say", "it", "--title", "By hand", "--kind", "decision", "--as", CODEX)
    sam.ok(*decide, "--body", "No parser.", env=offline)
    carry(sam)
    sam.git("push", "-q", "origin", CARRIED)
    pat.settled("sync")
    texts = {}
    for command in (
        *(("read", "it", "--peek"), ("read", "it", "--peek", "--limit", "1")),
        *(("list",), ("inbox",), ("updates", "--since", "1d"), ("search", "parser")),
        *(("brief",), ("search", "--kind", "decision"), ("read", "it", "--commits")),
    ):
        texts[" ".join(command)] = pat.wc(*command).out
        texts[" ".join((*command, "--json"))] = pat.wc(*command, "--json").out
    for form in ("md", "json"):
        texts[f"export {form}"] = pat.ok("export", "it", "--format", form).out
    session = Session(pat.path, pat.machine.env, clock=now_ms)
    for tool, arguments in (
        ("list_threads", {}),
        ("read_thread", {"topic": "it"}),
        ("search_threads", {"query": "parser"}),
        ("list_updates", {"since": "1d"}),
    ):
        texts[f"{tool} text"] = session.text(tool, **arguments)
        texts[f"{tool} json"] = json.dumps(session.json(tool, **arguments))
    site = Site(pat.path, pat.machine.env, clock=now_ms)
    for page in ("threads", "threads/it", "search?q=parser", ""):
        texts[f"page {page}"] = site.get(page)
    silent = [name for name, text in texts.items() if CARRIED not in text]
    assert silent == []
    # And so do what an agent is told, and the reader that has only read the end.
    hook = json.dumps({"session_id": "s9", "cwd": str(pat.path)}).encode()
    messages = pat.ok(
        "brief", "--hook", "session-start", "--client", "codex", feed=hook
    )
    assert f'via "{CARRIED}"' in messages.out
