"""Entries are taken from the branches of agents: without repetition, and nothing
that could do harm."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.carry.places import CLAUDE, PLACES, accept_only, leave, session
from tests.smart_http import http
from wc_core.ledger.carry import carriers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo


def sent(person: Repo, hub: Path, tmp_path: Path, title: str = "Done") -> Repo:
    """A session whose entry is on its branch of the hub."""
    cloud = session(CLAUDE, hub, tmp_path / "cloud")
    cloud.ok("brief")
    cloud.ok("say", "login", "-m", title)
    leave(CLAUDE, cloud, person)
    accept_only(hub, "")
    return cloud


def line(**fields: object) -> str:
    """A line of a log by an agent, with some fields replaced."""
    raw: dict[str, object] = {
        "id": "entry:01M8H7GWS0N3G40AHHHKBG28N0",
        "type": "entry",
        "entry_id": "01M8H7GWS0N3G40AHHHKBG28N0",
        "thread_topic": "login",
        "agent": "Codex@fix (pat)",
        "entry_type": "Note",
        "title": "Taken",
        "timestamp": "2026-11-28T14:04:08.864Z",
        "action": "say",
        "parents": [],
    }
    return json.dumps(raw | fields)


def push_carrier(hub: Path, person: Repo, *lines: str, branch: str = "x") -> str:
    """Have a branch of the hub carry these lines, whatever they are. Returns the
    commit."""
    message = "\n".join(["wc: carry", "", *lines, "", f"{carriers.TRAILER}: 1"])
    git = person.machine.git
    path = hub.parent / "message"
    path.write_text(message)
    ref = f"refs/heads/claude/{branch}"
    parent = git("for-each-ref", "--format=%(objectname)", ref, cwd=hub)
    parent = parent or git("rev-parse", "main", cwd=hub)
    words = ("-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree")
    tree = git("rev-parse", "main^{tree}", cwd=hub)
    commit = git(*words, "-p", parent, "-F", str(path), tree, cwd=hub)
    git("update-ref", ref, commit, cwd=hub)
    return commit


def push_many(hub: Path, first: int, last: int) -> None:
    """Have as many branches of the hub carry an entry each, of threads of their own;
    each was committed after the one before."""
    parts = []
    for number in range(first, last + 1):
        text = line(
            entry_id=f"01M8H7GWS0N3G40AHHHKB{number:05}", thread_topic=f"t{number}"
        )
        message = f"x\n\n{text}\n\n{carriers.TRAILER}: 1\n"
        parts.append(
            f"commit refs/heads/claude/b{number}\n"
            f"committer x <x@example.org> {1767225600 + number} +0000\n"
            f"data {len(message)}\n{message}\nfrom refs/heads/main^0\n"
        )
    words = ["git", "-C", str(hub), "fast-import", "--quiet"]
    subprocess.run(words, input="".join(parts), text=True, check=True)


def test_a_branch_is_looked_at_once(person: Repo, hub: Path, tmp_path: Path) -> None:
    cloud = sent(person, hub, tmp_path)
    message = person.json("sync")
    assert message["harvested"] == {"claude/fix": 1}
    assert message["went"] == {"login": 1}
    first, entry = person.json("read", "login", "--peek")["entries"]
    assert "via" not in first
    assert entry["via"] == "claude/fix"
    state = (person.private / "harvest.json").read_bytes()
    before = person.entries("login")
    assert "nothing new" in person.ok("sync").out
    assert (person.private / "harvest.json").read_bytes() == state
    (person.private / "harvest.json").unlink()
    assert "nothing new" in person.ok("sync").out
    assert person.entries("login") == before
    accept_only(hub, CLAUDE.accepts)
    cloud.ok("say", "login", "-m", "More")
    leave(CLAUDE, cloud, person)
    accept_only(hub, "")
    assert "1 entry came with claude/fix" in person.ok("sync").out
    ways = (person.store / "harvested.jsonl").read_text().splitlines()
    assert len(ways) == len(set(ways)) == 2


HOSTILE: dict[str, tuple[tuple[str, ...], str]] = {
    "a topic outside": ((line(thread_topic="../x"),), "cannot be the name"),
    "a person's entry": ((line(agent="Pat"),), "a person"),
    "forged parents": (
        (line(parents=["01M8H7GWS0N3G40AHHHKBG28N0"]),),
        "the parents of entry",
    ),
    "cut off": ((line()[:200],), "cut off"),
    "no entry": (("{}",), "names no thread"),
    "two versions": (
        (line(), line(title="Other")),
        "differs from another on claude/x; neither was taken",
    ),
    "a million lines": (("{" * 3,) * 20_000, "has more than 5000 lines"),
    "too long": (("{" + "x" * carriers.MAX_CARRIER_BYTES,), "more than is read"),
}


@pytest.mark.parametrize(("lines", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_an_entry_is_refused_alone(
    person: Repo, hub: Path, lines: tuple[str, ...], reason: str
) -> None:
    """The good line beside it comes, and ``wc doctor`` names the other
    until someone says that it is known."""
    good = line(entry_id="01M8H7GWS0N3G40AHHHKBG28ZZ", title="Good")
    push_carrier(hub, person, *lines)
    push_carrier(hub, person, good, branch="good")
    message = person.ok("sync")
    assert "1 entry came with claude/good" in message.out
    assert reason in message.err
    assert "Good" in {entry["title"] for entry in person.entries("login")}
    for command in (("doctor",), ("doctor", "--repair", "--dry-run")):
        found = person.wc(*command)
        assert found.code == 9
        assert reason in found.out
        assert "claude/x" in found.out
        assert "wc doctor --repair" in found.out
    assert "repaired origin/claude/x: forget " in person.ok("doctor", "--repair").out
    person.ok("doctor")
    assert "nothing new" in person.ok("sync").out


VERSIONS: dict[str, tuple[dict[str, object], dict[str, object], str]] = {
    "its seat names one": ({"agent": "Codex@claude/b"}, {}, "Second"),
    "its code branch names one": ({"code_branch": "claude/b"}, {}, "Second"),
    "neither is named": ({}, {}, ""),
    "only the seat's last part": ({"agent": "Codex@b"}, {}, ""),
    "both are named": ({"code_branch": "claude/b"}, {"code_branch": "claude/a"}, ""),
    "each names the other": (
        {"code_branch": "claude/a"},
        {"code_branch": "claude/b"},
        "",
    ),
}


@pytest.mark.parametrize(("second", "first", "taken"), VERSIONS.values(), ids=VERSIONS)
def test_an_entry_is_that_of_the_branch_that_it_names(
    person: Repo,
    hub: Path,
    first: dict[str, object],
    second: dict[str, object],
    taken: str,
) -> None:
    """Whoever pushes a branch that comes first in the alphabet speaks for nobody."""
    push_carrier(hub, person, line(title="First", **first), branch="a")
    push_carrier(hub, person, line(title="Second", **second), branch="b")
    message = person.ok("sync")
    came = {entry["title"] for entry in person.entries("login")} - {"Use a passkey"}
    assert came == ({taken} if taken else set())
    result = "the other was taken" if taken else "neither was taken"
    assert (
        "claude/a: login: entry 01M8H7GWS0N3G40AHHHKBG28N0 differs from " in message.err
    )
    assert f"another on claude/b; {result}" in message.err
    assert ("differs from another on claude/a" in message.err) == (not taken)
    assert "claude/a" in person.wc("doctor").out


def test_the_same_entry_comes_with_the_branch_that_it_names(
    person: Repo, hub: Path
) -> None:
    text = line(code_branch="claude/b")
    for branch in ("a", "b", "c"):
        push_carrier(hub, person, text, branch=branch)
    assert person.json("sync")["harvested"] == {"claude/b": 1}
    assert "refused" not in person.ok("doctor").out


def test_what_exceeds_one_harvest_is_left_to_the_next(person: Repo, hub: Path) -> None:
    """Branches that were examined before do not count; the latest come first, and
    each thread is named only where there are few."""
    push_many(hub, 1, 30)
    message = person.ok("sync")
    assert "30 entries came with claude/b" in message.out
    assert "and 22 more" in message.out
    push_many(hub, 31, 540)
    message = person.ok("sync")
    note = "10 branches of agents are still to be examined: wc sync"
    assert note in message.err
    assert "500 entries came" in message.out
    assert len(message.out) < 1000
    topics = {path.name for path in (person.store / "graph/baseline/threads").iterdir()}
    assert {"t1", "t30", "t41", "t540"} <= topics
    assert not {"t31", "t40"} & topics
    assert note in person.wc("doctor").out
    message = person.ok("sync")
    assert "10 entries came" in message.out
    assert "to be examined" not in message.err + person.wc("doctor").out
    assert (person.store / "graph/baseline/threads/t31").is_dir()


def test_no_carrier_changes_what_is_there(person: Repo, hub: Path) -> None:
    """A forged version of an entry, with more fields, does not replace it, not even
    from the branch that it names."""
    first = person.entries("login")[0]
    forged = first | {"agent": "Codex (pat)", "title": "Forged", "body": "more"}
    forged |= {"code_branch": "claude/x"}
    push_carrier(hub, person, json.dumps(forged))
    message = person.ok("sync")
    assert "differs from the one that is here" in message.err
    assert person.entries("login") == [first]
    assert "differs" in person.wc("doctor").out


def test_terminals_and_models_are_safe_from_what_is_refused(
    person: Repo, hub: Path
) -> None:
    """Names of branches and reasons are shown without what a terminal obeys."""
    push_carrier(hub, person, line(thread_topic="a\x1b]0;x\x07b"), branch="é\u202ex")
    shown = person.wc("sync")
    shown_again = person.wc("doctor")
    for text in (shown.out, shown.err, shown_again.out):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_only_agents_branches_are_looked_at(person: Repo, hub: Path) -> None:
    """Not those of people, and never pull requests, wherever they come from."""
    commit = push_carrier(hub, person, line(), branch="gone")
    git = person.machine.git
    git("update-ref", "-d", "refs/heads/claude/gone", cwd=hub)
    for ref in ("refs/pull/1/head", "refs/heads/feature/x", "refs/merge-requests/1"):
        git("update-ref", ref, commit, cwd=hub)
    person.git("fetch", "-q", "origin", "+refs/pull/*:refs/remotes/origin/pr/*")
    person.git("fetch", "-q", "origin")
    assert "nothing new" in person.ok("sync").out
    assert len(person.entries("login")) == 1


SETTINGS = {
    "ask": '[carry]\nmode = "ask"\n',
    "an older version's": '[carry]\nharvest = "ask"\n',
    "an older version's, off": '[carry]\nharvest = "off"\n',
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_a_repository_can_demand_a_word(
    person: Repo, hub: Path, tmp_path: Path, text: str
) -> None:
    """Doctor names the setting that is gone, but still counts."""
    sent(person, hub, tmp_path)
    (person.store / "config.toml").write_text(text)
    assert "came with" not in person.ok("sync").out
    noted = person.ok("doctor").out
    assert ("carry.harvest is no longer a setting" in noted) == ("harvest" in text)
    assert "has no effect" not in noted + person.wc("config", "list").err
    assert "came with claude/fix" in person.ok("sync", "--carry").out


def test_where_it_is_off_nothing_is_taken(
    person: Repo, hub: Path, tmp_path: Path
) -> None:
    sent(person, hub, tmp_path)
    person.ok("config", "set", "carry.mode", "off")
    assert "came with" not in person.ok("sync").out
    assert "carry.mode is off" in person.fails(2, "sync", "--carry")


def test_patterns_are_a_setting(person: Repo, hub: Path) -> None:
    person.ok("config", "set", "carry.from", "bots/*", "robot")
    push_carrier(hub, person, line())
    commit = push_carrier(hub, person, line(title="Bot"), branch="tmp")
    git = person.machine.git
    git("update-ref", "refs/heads/robot", commit, cwd=hub)
    git("update-ref", "refs/heads/robots", commit, cwd=hub)
    message = person.json("sync")
    assert message["harvested"] == {"robot": 1}
    person.ok("config", "set", "carry.from", "a*b*c")
    assert person.json("sync")["harvested"] == {}


def test_a_merged_outbox_is_found_on_the_default_branch(
    person: Repo, hub: Path, tmp_path: Path
) -> None:
    """The branch of the pull request may be gone before anyone looks."""
    place = PLACES["Codex cloud"]
    cloud = session(place, hub, tmp_path / "codex")
    cloud.ok("brief")
    cloud.ok("say", "login", "-m", "In a box")
    leave(place, cloud, person)
    git = person.machine.git
    git("update-ref", "refs/heads/main", "refs/heads/codex/codex", cwd=hub)
    git("update-ref", "-d", "refs/heads/codex/codex", cwd=hub)
    person.git("fetch", "-q", "--prune", "origin")
    assert "1 entry came with main" in person.ok("sync").out
    assert "nothing new" in person.ok("sync").out


def test_refused_branches_are_forgotten_with_the_branch(
    person: Repo, hub: Path
) -> None:
    push_carrier(hub, person, "{")
    person.ok("sync")
    assert person.wc("doctor").code == 9
    person.machine.git("update-ref", "-d", "refs/heads/claude/x", cwd=hub)
    person.git("fetch", "-q", "--prune", "origin")
    push_carrier(hub, person, line(), branch="y")
    person.ok("sync")
    person.ok("doctor")


@pytest.mark.usefixtures("hub")
def test_links_and_folders_are_no_outboxes(person: Repo) -> None:
    person.git("switch", "-q", "-c", "claude/x")
    folder = person.path / carriers.OUTBOX
    (folder / "sub.jsonl").mkdir(parents=True)
    (folder / "sub.jsonl/a.jsonl").write_text(line())
    (folder / "link.jsonl").symlink_to("/etc/passwd")
    (folder / "notes.txt").write_text(line())
    person.git("add", "--all")
    person.git("commit", "-q", "-m", "x")
    person.git("push", "-q", "origin", "claude/x")
    person.git("switch", "-q", "main")
    message = person.ok("sync")
    assert "came with" not in message.out
    person.ok("doctor")


def test_a_host_that_refuses_with_403_is_carried_around(
    person: Repo, hub: Path, tmp_path: Path
) -> None:
    """Over git's own smart http: fetching works, and only the own branch may be
    pushed."""
    with http(tmp_path) as server:
        person.machine.git("config", "http.receivepack", "true", cwd=hub)
        cloud = session(CLAUDE, hub, tmp_path / "cloud")
        cloud.git("remote", "set-url", "origin", server.url("hub.git"))
        cloud.ok("brief")
        message = cloud.ok("say", "login", "-m", "Done")
        assert "travels with claude/fix" in message.out
        leave(CLAUDE, cloud, person)
        accept_only(hub, "")
        person.git("remote", "set-url", "origin", server.url("hub.git"))
        assert "1 entry came with claude/fix" in person.ok("sync").out
