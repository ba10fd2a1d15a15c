"""What the tests of the core share: strategies, small logs, real repositories."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests import amounts
from wc_core.base import ulid
from wc_core.base.layout import Layout
from wc_core.base.names import Directory, parse
from wc_core.ledger.threads import codec, entryfields, folding, model
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.linerefs import LineRef
from wc_core.ledger.threads.model import (
    APPROVED,
    NO_REVIEW,
    OUTCOMES,
    Ball,
    Base,
    Entry,
    Link,
    Review,
    State,
)
from wc_core.ledger.threads.projections import render_meta
from wc_core.people.identity.resolve import Identity
from wc_core.people.identity.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Iterator

# A busy machine is not a failure.
relaxed = settings(
    max_examples=amounts.examples(12),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

NOON_MS = 1_767_268_800_000  # 2026-01-01T12:00:00Z
AGENTS = ("Codex (pat)", "Claude Code (pat)", "Cursor@fix (sam)")


def entry_id(step: int) -> str:
    """The id of an entry written ``step`` seconds after noon."""
    return ulid.encode(NOON_MS + step * 1000 << ulid.RANDOM_BITS | 7)


def entry(step: int, agent: str = AGENTS[0], **fields: Any) -> Entry:
    """An entry written ``step`` seconds after noon."""
    at = f"2026-01-01T12:{step // 60:02}:{step % 60:02}Z"
    known = {"id": entry_id(step), "topic": "t", "agent": agent, "at": at}
    return Entry(**(known | {"title": f"title {step}"} | fields))


def chain(*drafts: Entry) -> list[Entry]:
    """The drafts as one writer after the other records them."""
    written: list[Entry] = []
    for draft in drafts:
        parents = (written[-1].id,) if written else ()
        written.append(draft._replace(parents=parents))
    return written


def write_thread(
    root: Path, topic: str, entries: list[Entry], *, meta: bool = False
) -> None:
    """Put a log, and if asked its fresh ``meta.json``, into the store at ``root``."""
    layout = Layout(os.path.realpath(root))
    os.makedirs(layout.folder(topic), exist_ok=True)
    lines = [
        codec.to_line(one._replace(topic=topic), index)
        for index, one in enumerate(entries)
    ]
    data = b"".join(lines)
    Path(layout.log(topic)).write_bytes(data)
    if meta:
        state = folding.fold(topic, entries)
        Path(layout.meta(topic)).write_bytes(render_meta(state, len(data), {}))


def viewer(name: str = AGENTS[0]) -> Viewer:
    """Someone who looks."""
    return Viewer(Identity(parse(name), "--as"), Directory())


# --- strategies --------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ids = st.integers(0, (1 << 128) - 1).map(ulid.encode)
agents = st.sampled_from(AGENTS)
statuses = st.sampled_from(model.STATUSES)
balls = st.none() | st.builds(Ball, st.none() | words)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner),
    max_leaves=5,
)
# Every key that means something in a line of a log.
KNOWN_KEYS = frozenset(
    entryfields.to_fields(
        entry(
            0, action="say", ball=Ball("x"), status="OPEN", parents=("p",),
            base=Base(), code_commit="c", key="k", reason="r", thread_branch="b",
            new_topic="n", supersedes="s", tags_added=("x",), tags_removed=("y",),
            links_added=(Link("k", "x"),), links_removed=(Link("k", "y"),),
            kind="note", severity="low", asks="x", answers="y",
            items_added=("x",), items_removed=("y",), items_checked=("z",),
            items_unchecked=("z",),
            outcome="approved",
            approved_commit="a" * 40,
            landing=Landing("main", "b", "t", "c"),
            line_refs=(LineRef("x", 1, 1),),
        )
    )
)  # fmt: skip
DERIVED_KEYS = frozenset({"id", "type", "index", "thread_topic"})
foreign_keys = texts.filter(lambda key: key not in KNOWN_KEYS | DERIVED_KEYS)
tags = st.lists(st.sampled_from(("urgent", "later")), max_size=2).map(tuple)
references = st.lists(texts, max_size=3).map(tuple)
landings = st.builds(
    Landing, words, texts, words, words, st.just(""), st.just(0)
) | st.builds(
    Landing,
    words,
    texts,
    words,
    st.just(""),
    st.sampled_from(("conflict", "check")),
    st.just(0),
)
line_refs = st.lists(
    st.builds(LineRef, texts, *[st.integers(0, 99)] * 3, texts), max_size=2
).map(tuple)
any_links = st.lists(st.builds(Link, texts, texts, st.just("")), max_size=2).map(tuple)
links = st.lists(
    st.builds(
        Link,
        st.sampled_from(("blocked_by", "parent")),
        st.sampled_from("uv"),
        st.just(""),
    ),
    max_size=2,
).map(tuple)
item_ids = st.lists(
    st.integers(0, 5).map(lambda step: f"{entry_id(step)}.1"), max_size=2
).map(tuple)

# Ids of the entries of a log, so that later ones change what earlier ones added.
step_ids = st.builds("{}.{}".format, st.integers(0, 3).map(entry_id), st.just(1))
gate_changes = st.lists(
    st.fixed_dictionaries(
        {
            "change": st.just("add"),
            "kind": st.sampled_from(("until", "pr", "new")),
            "value": words | st.just("2026-01-01T00:00:00.000Z"),
        }
    )
    | st.fixed_dictionaries(
        {"change": st.sampled_from(("pass", "fail", "remove", "new")), "id": step_ids}
    )
    | st.just({"change": 5}),
    max_size=2,
)

entries = st.builds(
    Entry,
    id=ids | words,
    topic=st.just("t"),
    agent=texts,
    at=texts,
    title=texts,
    body=texts,
    role=texts,
    type=texts,
    action=texts,
    ball=balls,
    status=st.none() | words,
    parents=st.none() | references,
    base=st.none() | st.builds(Base, texts, texts, st.none() | texts, texts),
    summary=texts,
    file_refs=references,
    pr_refs=st.lists(st.integers(), max_size=3).map(tuple),
    commit_refs=references,
    code_branch=texts,
    code_commit=texts,
    thread_branch=texts,
    new_topic=texts,
    supersedes=texts,
    tags_added=references,
    tags_removed=references,
    asks=texts,
    answers=texts,
    links_added=any_links,
    links_removed=any_links,
    items_added=references,
    items_removed=references,
    items_checked=references,
    items_unchecked=references,
    outcome=texts,
    approved_commit=st.sampled_from(("", "a" * 40, "b" * 64)),
    landing=st.just(NO_LANDING) | landings,
    line_refs=line_refs,
    key=texts,
    reason=texts,
    kind=texts,
    severity=texts,
    extra=st.dictionaries(foreign_keys, json_values, max_size=3),
)


# What only few entries change.
rare_changes = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"action": st.sampled_from(("say", "take"))}),
    st.fixed_dictionaries({"thread_branch": st.sampled_from(("main", "fix"))}),
    st.fixed_dictionaries({"new_topic": st.sampled_from(("t", "u", "v"))}),
    st.fixed_dictionaries(
        {
            "action": st.sampled_from(("amend", "retract")),
            "supersedes": st.integers(0, 3).map(entry_id),
        }
    ),
    st.fixed_dictionaries({"tags_added": tags, "tags_removed": tags}),
    st.fixed_dictionaries({"links_added": links, "links_removed": links}),
    st.fixed_dictionaries({"asks": agents, "kind": st.just("question")}),
    st.fixed_dictionaries({"answers": st.integers(0, 6).map(entry_id)}),
    st.fixed_dictionaries({"items_added": references}),
    st.fixed_dictionaries({"items_checked": item_ids, "items_unchecked": item_ids}),
    st.fixed_dictionaries({"items_removed": item_ids}),
    st.fixed_dictionaries({"extra": st.fixed_dictionaries({"gates": gate_changes})}),
    st.sampled_from((0, 1, 200_000, -1, "1")).map(lambda n: {"extra": {"budget": n}}),
    st.fixed_dictionaries({"outcome": st.sampled_from((*OUTCOMES, "later"))}),
    st.fixed_dictionaries(
        {"outcome": st.just(APPROVED), "approved_commit": st.just("a" * 40)}
    ),
    st.fixed_dictionaries({"landing": landings}),
)


@st.composite
def linear_logs(draw: st.DrawFn, *, recorded: bool = True) -> list[Entry]:
    """A log as writers under the lock make it: each entry after the one before."""
    found = [
        entry(
            step,
            draw(agents),
            ball=draw(st.none() | st.builds(Ball, st.none() | agents)),
            status=draw(st.none() | statuses),
            code_branch=draw(st.sampled_from(("", "main", "fix"))),
            **draw(rare_changes),
        )
        for step in range(draw(st.integers(0, 12)))
    ]
    return chain(*found) if recorded else found


@st.composite
def forked_logs(draw: st.DrawFn) -> list[Entry]:
    """A log after merges of offline branches: parents are any earlier entries,
    lost ones, or not recorded at all."""
    found: list[Entry] = []
    for step in range(draw(st.integers(0, 9))):
        known = [one.id for one in found] + [entry_id(500)]
        parents = draw(
            st.none() | st.lists(st.sampled_from(known), max_size=2, unique=True)
        )
        changes = entry(
            step,
            draw(agents),
            ball=draw(st.none() | st.builds(Ball, st.none() | agents)),
            status=draw(st.none() | statuses),
        )
        found.append(
            changes._replace(parents=None if parents is None else tuple(parents))
        )
    return found


states = st.builds(
    State,
    topic=st.just("t"),
    title=texts,
    status=statuses,
    ball=st.none() | words,
    since=texts,
    entry_count=st.integers(0, 1 << 40),
    last_id=texts,
    created_at=texts,
    updated_at=texts,
    updated_by=texts,
    branch=texts,
    summary=texts,
    heads=references,
    participants=st.lists(
        st.builds(model.Participant, texts, st.integers(0, 99)), max_size=3
    ).map(tuple),
    items=st.lists(st.builds(model.Item, texts, texts, texts), max_size=3).map(tuple),
    passes=st.lists(st.builds(model.Pass, texts, texts), max_size=3).map(tuple),
    review=st.just(NO_REVIEW)
    | st.builds(Review, texts, texts, texts, words, st.integers(0, 9)),
)


# --- real repositories -------------------------------------------------------


class Git:
    """Real git in ``home``, with nobody else's configuration."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self.env = {
            "HOME": os.fspath(home),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "LC_ALL": "C",
        }

    def __call__(self, where: Path, *words: str | Path) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=where,
            env=self.env,
            check=True,
            capture_output=True,
        )
        return os.fsdecode(done.stdout).removesuffix("\n")

    def sh(self, where: Path, command: str) -> None:
        """Run a command line, as someone does who follows a hint."""
        subprocess.run(
            ["sh", "-c", command],
            cwd=where,
            env=self.env,
            check=True,
            capture_output=True,
        )

    def repository(self, folder: Path) -> Path:
        """A repository with one commit on ``main``."""
        # Copied, for git takes two processes and most of a test's time.
        shutil.copytree(_template(), folder)
        return folder

    def branch(self, where: Path, name: str) -> None:
        """An orphan branch with one empty commit."""
        tree = self(where, "hash-object", "-t", "tree", "-w", "/dev/null")
        commit = self(where, "commit-tree", tree, "-m", "store")
        self(where, "update-ref", f"refs/heads/{name}", commit)

    def checkout(self, where: Path, name: str, folder: Path) -> Path:
        """A linked worktree of ``where`` that has the branch ``name``."""
        self(where, "worktree", "add", "-q", "--lock", folder, name)
        return folder


@functools.cache
def _template() -> str:
    """A repository with one commit on ``main``, made by git; without sample hooks."""
    root = tempfile.mkdtemp(prefix="wc-tests-template-")
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    git, folder = Git(Path(root, "home")), Path(root, "app")
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for sample in (folder / ".git/hooks").iterdir():
        sample.unlink()
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return str(folder)


@contextmanager
def nobody_special() -> Iterator[Path]:
    """An empty folder, and no right to read what its modes forbid, not even
    for a test that root runs."""
    with TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        if os.geteuid():
            yield folder
            return
        os.chown(folder, 65534, -1)
        os.seteuid(65534)
        try:
            if not os.access(folder, os.W_OK, effective_ids=True):
                pytest.skip("only root can enter the folder for temporary files")
            yield folder
        finally:
            os.seteuid(0)


def json_line(**fields: Any) -> bytes:
    """A line of a log with these fields."""
    return json.dumps(fields).encode() + b"\n"
