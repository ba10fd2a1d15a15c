"""Over a store with everything in it, every answer in JSON, and every tool's, is the
recorded one.

What changes on purpose is recorded again, and the difference of the recording is the
list of what has changed: ``bin/test tests/recorded --record``.
"""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Machine
from tests.observe.stores import Session, only_text
from tests.recorded.repository import CLAUDE, CODEX, DATA, NOW_MS, opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.inprocess import Here

ANSWERS = DATA / "answers"
# By who asks. `read` counts as having seen a thread: the others come first.
READING = """
list
list --all
list --mine
list --tag auth
whoami
whose
whose login
search passkey
search --kind decision
search --file app/auth.py
updates --since 2026-09-01 --limit 5
stats
stats login
inbox
brief
board
ready login
ready release
ready news
tree
ready
read login --peek
read login --commits
read release --peek
read imported --peek
read legacy --peek
read legacy-only --peek
read cloudy --peek
read bd-1 --peek
read announce --peek
read ci --peek
read german --peek
read docs --peek
read search --peek
read passkeys --peek
read ci --seen
claims
note
check app/store.py
radar
radar search
neighbors app/auth.py
review export --stat
land --queue
land german --dry-run
run --dry-run
guidance list
config list
config --global list
config list rules
worktrees
cloud
enrich --dry-run
doctor
wake
wait --timeout 0
statusline
export imported --format json
export login --format md
"""
AGENT_READING = """
whoami
whose
list --mine
inbox
ready
brief
check app/store.py
radar
"""
WRITING = """
new fresh -m Fresh --to Codex
say fresh -m More
ack fresh -m Seen
ask fresh --to Codex -m Which?
answer fresh -m This --as Codex
take fresh --reason Waiting
handoff fresh --to Codex --note Yours
set-status fresh IN_REVIEW
tag fresh +new
link fresh relates-to login
unlink fresh relates-to login
say login --tick 1
ready imported --anyway
set-status release OPEN
amend fresh -m Fresher
retract fresh
move fresh --branch fresh
rename fresh fresher
say login --approve
say release -m Waiting
done login -m Finished
close fresher --force
claim notes.txt -m numbers
claim app/store.py --takeover --reason late
release notes.txt
note testing --for 1h
note --clear
guidance add --on say Short
config set git.sign true
import - --format beads
use release
reindex
sync
ready
list
read fresher
"""
FEEDS = {
    "import": b'{"id": "bd-2", "title": "Another", "status": "open"}',
}
FORMS: tuple[dict[str, Any], ...] = ({}, {"format": "json"})
WITHOUT_FORM = {"health", "whoami", "reindex"}
TOOLS: dict[str, dict[str, Any]] = {
    "health": {},
    "whoami": {},
    "list_threads": {},
    "read_thread": {"topic": "login"},
    "read_thread release": {"topic": "release"},
    "read_thread imported": {"topic": "imported"},
    "search_threads": {"query": "passkey"},
    "list_updates": {"since": "2026-09-01", "limit": 5},
    "check_status": {"symbols": ["app/store.py"]},
    "list_edits": {"show": "claims"},
    "list_edits activity": {"show": "activity"},
    "list_edits conflicts": {"show": "conflicts"},
    "get_stats": {},
    "get_neighbors": {"target": "app/auth.py"},
    "list_worktrees": {},
    "reindex": {},
    "list_inbox": {},
}


class Clock:
    """The time of the recording, and what is different each time: places, the ids and
    commits that were made just now, the time of the machine, and versions."""

    def __init__(self) -> None:
        self.now_ms = NOW_MS
        self.begun = datetime.now(UTC)

    def cleaned(self, text: str, root: str, original: str) -> str:
        """A text without what is different each time."""
        text = re.sub(r"watercooler-app-[0-9a-f]{12}", "watercooler-app", text)
        text = re.sub(r"outbox/\w+", "outbox/NEW", text)
        text = re.sub(r'("seconds_left": )\d+', r"\g<1>0", text)
        text = re.sub(r'("(?:wc|fastmcp|mcp|python)": )"[^"]*"', r'\1"VERSION"', text)
        text = text.replace(root, "ROOT")
        for pattern in (_ULID, _HASH):
            for match in {*pattern.findall(text)} - {*pattern.findall(original)}:
                if match not in original:
                    text = text.replace(match, "NEW")
        for match in _TIME.findall(text):
            age = datetime.fromisoformat(match) - self.begun
            if timedelta(minutes=-1) < age < timedelta(hours=1):
                text = text.replace(match, "NEW")
        return text


_ULID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")
_HASH = re.compile(r"\b(?=\d*[a-f])[0-9a-f]{7,64}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


def answers_of(worktrees: dict[str, Here], clock: Clock) -> Iterator[tuple[str, Any]]:
    """Every answer, by its name."""
    main, env = worktrees["main"], worktrees["main"].machine.env
    root = str(main.machine.root)
    files = [path for path in (DATA / "store").rglob("*") if path.is_file()]
    original = main.git("rev-list", "--all") + "".join(map(Path.read_text, files))

    def fields_of(text: str) -> Any:
        text = clock.cleaned(text, root, original)
        # A process in the background may have read the code, at the machine's time.
        text = re.sub(r"^(\*\*app/auth.py\*\* · ).*", r"\1just now", text)
        fields = json.loads(text) if text[:1] in {"{", "["} else text.splitlines()
        if isinstance(fields, dict) and "at" in fields:
            fields["at"] = "NEW"
        return fields

    def answer(place: Here, line: str, env: dict[str, str]) -> Any:
        words = line.split()
        feed = FEEDS.get(words[0], b"")
        done = place.wc(*words, "--json", env=env, feed=feed)
        if "no answer in JSON" in done.err:
            done = place.wc(*words, env=env, feed=feed)
        fields = fields_of(done.out or done.err)
        return {"exit": done.code, "answer": fields} if done.code else fields

    for line in READING.strip().splitlines():
        yield f"wc {line}", answer(main, line, {})
    parties = (("Claude Code", "login", CLAUDE), ("Codex", "search", CODEX))
    for name, branch, variables in parties:
        for line in AGENT_READING.strip().splitlines():
            yield f"{name} wc {line}", answer(worktrees[branch], line, variables)
    session = Session(main.path, env, clock=lambda: clock.now_ms, all_stores=True)
    calls = [
        (name, arguments | form)
        for name, arguments in TOOLS.items()
        for form in FORMS[: 1 if name in WITHOUT_FORM else None]
    ]
    requests = [(name.partition(" ")[0], arguments) for name, arguments in calls]
    for (name, arguments), result in zip(calls, session.calls(*requests), strict=True):
        fields = result.structured_content
        text = only_text(result) if fields is None else json.dumps(fields)
        yield f"tool {name} {arguments.get('format', '')}", fields_of(text)
    for line in WRITING.strip().splitlines():
        clock.now_ms += 60_000
        yield f"writing wc {line}", answer(main, line, {})


def file_name(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", name).strip("_") + ".json"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        clock = Clock()
        patch.setattr(time, "time_ns", lambda: clock.now_ms * 1_000_000)
        patch.setattr(time, "time", lambda: clock.now_ms / 1000)
        worktrees = opened(Machine(tmp_path_factory.mktemp("recorded") / "machine"))
        yield dict(answers_of(worktrees, clock))


def test_what_is_answered_is_what_was_recorded(
    answers: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    texts = {
        file_name(name): f"{json.dumps(answer, indent=1, ensure_ascii=False)}\n"
        for name, answer in answers.items()
    }
    assert len(texts) == len(answers)
    recorded = {path.name: path.read_text("utf-8") for path in ANSWERS.glob("*.json")}
    if request.config.getoption("--record"):
        for name in recorded:
            (ANSWERS / name).unlink()
        for name, text in texts.items():
            (ANSWERS / name).write_text(text, "utf-8")
        return
    names = sorted(texts.keys() | recorded.keys())
    changed = [name for name in names if texts.get(name) != recorded.get(name)]
    assert changed == [], "record them, and read the difference"
