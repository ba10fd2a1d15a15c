"""The tree of a merge, from trees of real repositories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import amounts
from tests.core.strategies import AGENTS, chain, entry, entry_id, json_line
from wc_cli.ledger.branch import compare, trees
from wc_cli.ledger.branch.commits import blob_id
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.branch.treepaths import STORE, is_log, paths_of, topic_at
from wc_cli.ledger.merge import plan as plan_module
from wc_cli.ledger.merge.logs import merge_logs
from wc_cli.ledger.merge.plan import MergePlan, plan_merge
from wc_cli.ledger.store.rendering import render_files
from wc_core.ledger.threads import codec, folding, model
from wc_core.ledger.threads.model import Ball
from wc_core.ledger.threads.pages import page as markdown
from wc_core.ledger.threads.projections import Meta, read_meta

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wc_core.ledger.threads.model import Entry


class Entity(NamedTuple):
    """What a tree has at a path."""

    mode: str
    data: bytes


# A tree by its paths; bytes stand for an ordinary file.
Tree = dict[str, Any]


def link(target: str) -> Entity:
    return Entity("120000", target.encode())


def script(data: bytes) -> Entity:
    return Entity("100755", data)


class Repository:
    """A bare repository and the commits that a test puts into it."""

    def __init__(self, folder: Path) -> None:
        env = {name: os.environ[name] for name in ("PATH", "HOME")}
        ident = {"NAME": "Pat", "EMAIL": "pat@example.org", "DATE": "1767268800 +0000"}
        for role in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{role}_{part}": text for part, text in ident.items()}
        self.git = Git(os.fspath(folder), env, bare=True)
        self.git.run("init", "-q", "--bare")
        self.count = 0

    def commit(self, tree: Tree, *parents: str, author: str = "Pat") -> str:
        lines = [b"deleteall\n"]
        for path, one in tree.items():
            mode, data = one if isinstance(one, Entity) else ("100644", one)
            if mode == "160000":
                lines.append(b"M 160000 %b %b\n" % (data, os.fsencode(path)))
                continue
            lines.append(b"M %b inline %b\n" % (mode.encode(), os.fsencode(path)))
            lines.append(b"data %d\n%b\n" % (len(data), data))
        return self._put(lines, parents, author)

    def merge(self, plan: MergePlan, *parents: str) -> str:
        """The commit of a merge, as whoever asked for the plan makes it."""
        lines = []
        for path, mode, data, blob in plan.changes:
            name = os.fsencode(path)
            if not mode:
                lines.append(b"D %b\n" % name)
            elif data is None:
                lines.append(b"M %b %b %b\n" % (mode.encode(), blob.encode(), name))
            else:
                lines.append(b"M %b inline %b\n" % (mode.encode(), name))
                lines.append(b"data %d\n%b\n" % (len(data), data))
        return self._put(lines, parents)

    def _put(
        self, lines: list[bytes], parents: tuple[str, ...], author: str = "Pat"
    ) -> str:
        self.count += 1
        # No two commits are the same one, whatever is in them.
        name = f"{self.count}"
        head = [f"commit refs/heads/{name}\nmark :1\n".encode()]
        for role, who in (("author", author), ("committer", "Pat")):
            head.append(f"{role} {who} <pat@example.org> 1767268800 +0000\n".encode())
        head.append(f"data {len(name)}\n{name}\n".encode())
        for word, parent in zip(("from", "merge"), parents, strict=False):
            head.append(f"{word} {parent}\n".encode())
        feed = b"".join([*head, *lines, b"\nget-mark :1\ndone\n"])
        return self.git.line("fast-import", "--done", "--quiet", feed=feed)

    def tree(self, commit: str) -> dict[str, Entity]:
        found = {}
        for record in self.git.run("ls-tree", "-r", "-z", commit).split(b"\0"):
            info, _, path = record.partition(b"\t")
            if path:
                mode, kind, blob = info.decode().split()
                found[os.fsdecode(path)] = mode, kind, blob
        ids = [blob for _, kind, blob in found.values() if kind == "blob"]
        data = trees.blobs(self.git, ids)
        return {
            path: Entity(mode, data.get(blob, blob.encode()))
            for path, (mode, _, blob) in found.items()
        }


class Done(NamedTuple):
    """A merge: what was planned, and the tree that it makes."""

    plan: MergePlan
    tree: dict[str, Entity]

    def data(self, path: str) -> bytes:
        return self.tree[path].data

    def log(self, topic: str = "t") -> bytes:
        return self.data(paths_of(topic).log)

    def ids(self, topic: str = "t") -> list[str]:
        return [one.id for one in codec.read_log(topic, self.log(topic)).entries]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """One for all tests: each makes its own commits."""
    return Repository(tmp_path_factory.mktemp("merges"))


def merged(repository: Repository, base: Tree | None, ours: Tree, theirs: Tree) -> Done:
    """The merge of two trees that came of ``base``, or of nothing."""
    parents = [repository.commit(base)] if base is not None else []
    one = repository.commit(ours, *parents, author="One")
    other = repository.commit(theirs, *parents, author="Other")
    found = trees.merge_base(repository.git, one, other)
    assert found == (parents[0] if parents else None)
    made = plan_merge(repository.git, found, one, other)
    commit = repository.merge(made, one, other)
    # Nothing is said to change that does not.
    changed = trees.differences(repository.git, one, commit)
    assert sorted(changed) == sorted(change.path for change in made.changes)
    # Merged again with either, it is as it is.
    assert plan_merge(repository.git, other, commit, other).changes == ()
    return Done(made, repository.tree(commit))


def lines(entries: list[Entry]) -> bytes:
    return b"".join(codec.to_line(one, 0) for one in entries)


def thread(entries: list[Entry], topic: str = "t", **unknown: Any) -> Tree:
    """A thread as wc commits it."""
    entries = [one._replace(topic=topic) for one in entries]
    return rendered_from(lines(entries), topic, unknown)


def rendered_from(
    log: bytes, topic: str = "t", unknown: Mapping[str, Any] = {}
) -> Tree:
    read = codec.read_log(topic, log)
    state = folding.fold(topic, read.entries)._replace(lost=read.lost)
    pages = render_files(STORE, state, read.entries, len(log), unknown)
    files = {path.removeprefix("/"): data for path, data in pages.items()}
    return {paths_of(topic).log: log, **files}


def without(tree: Tree, *paths: str) -> Tree:
    return {path: one for path, one in tree.items() if path not in paths}


FIRST, OURS, THEIRS = chain(
    entry(0, action="new", ball=Ball("Codex (pat)")),
    entry(2, action="say"),
    entry(1, "Claude Code (pat)", action="say", status="IN_REVIEW"),
)
THEIRS = THEIRS._replace(parents=(FIRST.id,))
LOG, META, EDGES, PAGE = paths_of("t")
SHARED: Tree = {".gitattributes": b"* -text merge=union\n"}


# --- threads -------------------------------------------------------------------


@pytest.mark.parametrize("base", [thread([FIRST]), {}, None])
def test_both_wrote_a_thread(repository: Repository, base: Tree | None) -> None:
    ours, theirs = thread([FIRST, OURS]), thread([FIRST, THEIRS])
    done = merged(repository, base, ours, theirs)
    assert done.ids() == [FIRST.id, THEIRS.id, OURS.id]
    assert done.plan.gained == {"t": (THEIRS,)}
    assert done.plan.outvoted == ()
    expected = rendered_from(merge_logs("t", ours[LOG], theirs[LOG]))
    assert {path: one.data for path, one in done.tree.items()} == expected
    state = folding.fold("t", codec.read_log("t", done.log()).entries)
    assert state.forked
    again = merged(repository, base, theirs, ours)
    assert again.tree == done.tree
    assert again.plan.gained == {"t": (OURS,)}


def test_each_wrote_a_thread_of_their_own(repository: Repository) -> None:
    ours = {**SHARED, **thread([FIRST], "mine")}
    theirs = {**SHARED, **thread([FIRST, THEIRS], "yours"), "note": b"1"}
    done = merged(repository, None, ours, theirs)
    assert {path: one.data for path, one in done.tree.items()} == ours | theirs
    gained = done.plan.gained
    assert {topic: len(came) for topic, came in gained.items()} == {"yours": 2}
    # Nothing is rendered, and what is there is taken by name.
    assert all(one.data is None for one in done.plan.changes)


@pytest.mark.parametrize("gone", [(LOG,), (LOG, META, EDGES, PAGE)])
@pytest.mark.parametrize("which", ["ours", "theirs"])
def test_a_log_is_never_deleted(
    repository: Repository, gone: tuple[str, ...], which: str
) -> None:
    base = SHARED | thread([FIRST])
    rest = without(base, *gone)
    ours, theirs = (rest, base) if which == "ours" else (base, rest)
    done = merged(repository, base, ours, theirs)
    assert {path: one.data for path, one in done.tree.items()} == base
    assert done.plan.gained == ({"t": (FIRST,)} if which == "ours" else {})


def test_a_thread_that_both_have_alike_is_not_a_change(repository: Repository) -> None:
    # A page that someone edited is what the log says again.
    good = thread([FIRST])
    bad = good | {PAGE: b"edited"}
    done = merged(repository, good, good, bad)
    assert done.plan == MergePlan((), {}, ())
    done = merged(repository, good, bad, good)
    assert done.data(PAGE) == good[PAGE]


def test_what_both_have_alike_is_left_alone(repository: Repository) -> None:
    alike = {LOG: b"\n" + lines([FIRST]), EDGES: b"someone's\n"}
    base = thread([FIRST]) | alike
    done = merged(repository, base, base, base | {META: b"{}", PAGE: b"1"})
    assert {path: one.data for path, one in done.tree.items()} == (
        rendered_from(alike[LOG]) | alike
    )


def test_lines_that_are_no_entry_are_kept(repository: Repository) -> None:
    ours = rendered_from(lines([FIRST]) + b"no JSON\n" + lines([OURS]))
    theirs = rendered_from(lines([FIRST, THEIRS]) + b"torn")
    done = merged(repository, thread([FIRST]), ours, theirs)
    assert done.log().startswith(b"no JSON\ntorn\n")
    assert b'"lost":2' in done.data(META)
    assert done.tree == merged(repository, None, theirs, ours).tree


def test_what_a_plain_merge_left_is_put_in_order(repository: Repository) -> None:
    first = lines([FIRST])
    mine = lines([FIRST, OURS]).removeprefix(first)
    other = lines([FIRST, THEIRS]).removeprefix(first)
    ours = thread([FIRST]) | {LOG: first + mine + other + mine, EDGES: b"mess\n"}
    done = merged(repository, None, ours, thread([FIRST, THEIRS]))
    assert done.log() == first + other + mine
    again = rendered_from(done.log())
    assert {path: one.data for path, one in done.tree.items()} == again


def test_keys_of_other_tools_are_merged(repository: Repository) -> None:
    base = thread([FIRST], tags=["a"], note="1")
    ours = thread([FIRST, OURS], tags=["a"], note="2", mine=1)
    theirs = thread([FIRST, THEIRS], tags=["b"], note="1", yours={"x": 1})
    done = merged(repository, base, ours, theirs)
    unknown = {"tags": ["b"], "note": "2", "yours": {"x": 1}, "mine": 1}
    assert done.data(META) == rendered_from(done.log(), "t", unknown)[META]
    assert done.plan.outvoted == ()
    theirs = thread([FIRST, THEIRS], tags=["a"], note="3")
    done = merged(repository, base, ours, theirs)
    assert b'"note": "3"' in done.data(META)
    assert done.plan.outvoted == (META,)


@pytest.mark.parametrize("left", [{}, {META: b"no JSON"}])
def test_a_meta_that_is_gone_deletes_no_keys(
    repository: Repository, left: Tree
) -> None:
    base = thread([FIRST], tags=["a"])
    ours = without(thread([FIRST, OURS]), META) | left
    done = merged(repository, base, ours, thread([FIRST, THEIRS], tags=["a"]))
    assert b'"tags": [' in done.data(META)


def newer_meta(tree: Tree, version: int = 99) -> Tree:
    old, new = b'"wc": {"version":1', b'"wc": {"version":%d' % version
    return tree | {META: tree[META].replace(old, new)}


def newer_page(tree: Tree, version: int = 99) -> Tree:
    old, new = b'<!-- wc {"version":1', b'<!-- wc {"version":%d' % version
    return tree | {PAGE: tree[PAGE].replace(old, new)}


@pytest.mark.parametrize("which", ["ours", "theirs"])
def test_what_a_newer_wc_rendered_is_kept(repository: Repository, which: str) -> None:
    base, one = thread([FIRST]), thread([FIRST, OURS])
    new = newer_page(newer_meta(thread([FIRST, THEIRS])))
    pair = (new, one) if which == "ours" else (one, new)
    done = merged(repository, base, *pair)
    assert len(done.ids()) == 3
    for path in (META, EDGES, PAGE):
        assert done.data(path) == new[path]
    new = newer_page(thread([FIRST, THEIRS]))
    pair = (new, one) if which == "ours" else (one, new)
    done = merged(repository, base, *pair)
    assert done.data(PAGE) == new[PAGE]
    assert done.data(META) == rendered_from(done.log())[META]


FOREIGN = (json_line(entry_id=entry_id(9), agent="A", title="old", timestamp="1"),)


def test_threads_of_other_tools_are_left_in_their_form(repository: Repository) -> None:
    log = FOREIGN[0]
    more = json_line(entry_id=entry_id(3), agent="B", timestamp="0")
    last = json_line(entry_id=entry_id(11), agent="C", timestamp="2")
    base = {LOG: log, META: b'{"n": 1, "t": 1}', EDGES: b"1\n", PAGE: b"page\n"}
    ours = {LOG: log + more, META: b'{"n": 2, "t": 1}', EDGES: b"1\n2\n",
            PAGE: b"page\nours\n"}  # fmt: skip
    theirs = {LOG: log + last, META: b'{"n": 1, "t": 2}', EDGES: b"1\n3\n",
              PAGE: b"page\n"}  # fmt: skip
    done = merged(repository, base, ours, theirs)
    assert {path: one.data for path, one in done.tree.items()} == {
        LOG: more + log + last,
        META: b'{"n": 2, "t": 2}',
        EDGES: b"1\n3\n2\n",
        PAGE: b"page\nours\n",
    }
    (came,) = done.plan.gained["t"]
    assert came.agent == "C"


def test_a_thread_of_another_tool_that_wc_goes_on_with(repository: Repository) -> None:
    base: Tree = {LOG: FOREIGN[0], META: b'{"title":"Old","status":"OPEN"}'}
    said = entry(20, action="say", parents=(), base=model.Base(title="Old"))
    theirs = rendered_from(FOREIGN[0] + lines([said]))
    more = json_line(entry_id=entry_id(10), agent="B", timestamp="0")
    ours = base | {LOG: FOREIGN[0] + more, META: b'{"title":"Old","tags":[1]}'}
    done = merged(repository, base, ours, theirs)
    assert done.log() == FOREIGN[0] + more + lines([said])
    again = rendered_from(done.log(), "t", {"tags": [1]})
    assert {path: one.data for path, one in done.tree.items()} == again


# --- pages of the markdown age ---------------------------------------------------

OLD = b"""# t \xe2\x80\x94 Thread
Status: OPEN
Ball: Codex (pat)
Topic: t
Created: 2026-01-01T12:00:00Z

---
Entry: Codex (pat) 2026-01-01T12:00:00Z
Type: Note
Title: From the old days

Text.
"""
LATER = b"""
---
Entry: Cursor (pat) 2026-01-01T12:05:00Z
Type: Note
Title: By hand

More text.
"""


def imported(page: bytes, *more: Entry) -> Tree:
    """A thread whose page wc has taken over, as its first write does."""
    entries = markdown.parse("t", page).entries
    said = [one._replace(base=model.Base(title="t")) for one in more]
    return rendered_from(lines([*entries, *said]))


@pytest.mark.parametrize("base", [{PAGE: OLD}, None])
@pytest.mark.parametrize("which", ["ours", "theirs"])
@pytest.mark.parametrize("page", [OLD, OLD + LATER])
def test_an_old_page_and_a_log_of_it_are_one_thread(
    repository: Repository, base: Tree | None, which: str, page: bytes
) -> None:
    log, old = imported(OLD, OURS), {PAGE: page}
    ours, theirs = (old, log) if which == "ours" else (log, old)
    done = merged(repository, base, ours, theirs)
    expected = {one.id for one in markdown.parse("t", page).entries} | {OURS.id}
    assert sorted(done.ids()) == sorted(expected)
    assert {path: one.data for path, one in done.tree.items()} == rendered_from(
        done.log()
    )
    by_hand = {one.id for one in markdown.parse("t", page).entries[1:]}
    came = {one.id for one in done.plan.gained.get("t", ())}
    assert came == ({OURS.id} if which == "ours" else by_hand)


def test_our_own_page_is_not_a_thread(repository: Repository) -> None:
    # Its log is gone: what the page says is not the truth.
    ours = {PAGE: thread([FIRST, OURS])[PAGE]}
    done = merged(repository, None, ours, thread([FIRST]))
    assert done.ids() == [FIRST.id]
    assert done.data(PAGE) == thread([FIRST])[PAGE]


def test_an_old_page_beside_a_log_of_another_tool(repository: Repository) -> None:
    """Only what was written since: that log may have the rest under other ids."""
    base = {PAGE: OLD}
    theirs = {PAGE: OLD, LOG: FOREIGN[0]}
    done = merged(repository, base, base, theirs)
    assert done.log() == FOREIGN[0]
    done = merged(repository, base, {PAGE: OLD + LATER}, theirs)
    titles = {one.title for one in codec.read_log("t", done.log()).entries}
    assert titles == {"old", "By hand"}
    assert done.data(PAGE) == OLD + LATER


def test_what_is_not_an_entry_on_an_old_page_is_reported(
    repository: Repository,
) -> None:
    ours = {PAGE: OLD.replace(b"Ball:", b"A note.\nBall:")}
    for base, outvoted in ((None, (PAGE,)), ({PAGE: OLD}, (PAGE,)), (ours, ())):
        done = merged(repository, base, ours, imported(OLD, OURS))
        assert len(done.ids()) == 2
        assert done.plan.outvoted == outvoted
    assert merged(repository, None, {PAGE: b"# Read me\n"}, thread([FIRST])).plan[2]


def test_two_old_pages_are_files(repository: Repository) -> None:
    other = LATER.replace(b"By hand", b"By another")
    done = merged(repository, {PAGE: OLD}, {PAGE: OLD + LATER}, {PAGE: OLD + other})
    assert done.data(PAGE) == OLD + LATER + other
    assert sorted(done.tree) == [PAGE]
    assert done.plan.gained == {}


# --- whatever was written ---------------------------------------------------------

ROUNDS = amounts.rounds(8, 200)
few = settings(
    max_examples=ROUNDS, deadline=None, suppress_health_check=list(HealthCheck)
)
WRITTEN = [
    entry(step, AGENTS[step % 3], action="say", parents=(entry_id(step - 1),))
    for step in range(1, 9)
]
# What each side has of each thread: nothing at all, where that is not an entry.
Threads = dict[str, set[int]]
stores = st.fixed_dictionaries({name: st.sets(st.integers(0, 7)) for name in "abc"})
files = st.fixed_dictionaries(
    {},
    optional={
        "notes.md": st.sampled_from((b"1\n", b"1\n2\n", b"0\n1\n")),
        "x.jsonl": st.sampled_from((b"1\n", b"1\n2\n", b"3\n")),
        "config.toml": st.sampled_from((b"a = 1\n", b"a = 2\n", b"[b]\nc = 1\n")),
    },
)


def store(threads: Threads, rest: Tree) -> Tree:
    tree = dict(rest)
    for topic, found in threads.items():
        if found:
            tree |= thread([WRITTEN[step] for step in sorted(found)], topic)
    return tree


def joined(one: Threads, other: Threads) -> Threads:
    return {topic: one[topic] | other[topic] for topic in one}


@few
@given(st.tuples(stores, stores, stores), st.tuples(files, files, files))
def test_any_two_stores_become_one(
    repository: Repository, threads: tuple[Threads, ...], rest: tuple[Tree, ...]
) -> None:
    base, mine, other = threads
    sides = [base, joined(base, mine), joined(base, other)]
    three = [store(*one) for one in zip(sides, rest, strict=True)]
    done = merged(repository, *three)
    again = merged(repository, three[0], three[2], three[1])
    expected = store(joined(*sides[1:]), {})
    for tree in (done.tree, again.tree):
        found = {path: one.data for path, one in tree.items() if topic_at(path)}
        assert found == expected
    for path in {*rest[0], *rest[1], *rest[2]}:
        old, one, two = (side.get(path) for side in rest)
        if len({old, one, two}) < 3:  # one of them changed it at most, or both alike
            has = done.tree.get(path)
            assert (has.data if has else None) == (two if one == old else one)


@few
@given(st.lists(st.sets(st.integers(0, 7)), min_size=3, max_size=3))
def test_what_gits_own_union_leaves_has_every_line(
    tmp_path_factory: pytest.TempPathFactory,
    repository: Repository,
    found: list[set[int]],
) -> None:
    folder = tmp_path_factory.mktemp("union")
    base, mine, other = found
    logs = []
    for name, chosen in (
        ("ours", base | mine),
        ("base", base),
        ("theirs", base | other),
    ):
        logs.append(lines([WRITTEN[step] for step in sorted(chosen)]))
        (folder / name).write_bytes(logs[-1])
    names = [str(folder / name) for name in ("ours", "base", "theirs")]
    union = repository.git.run("merge-file", "--union", "-p", *names)
    assert merge_logs("t", union) == merge_logs("t", *logs)


# --- files ----------------------------------------------------------------------


def test_other_files_are_merged_three_way(repository: Repository) -> None:
    base = {
        "gone": b"1", "kept": b"1", "both.json": b'{"a": 1}', "notes.md": b"1\n",
        ".local/left": b"1", "pic": b"\0",
    }  # fmt: skip
    ours = {
        "kept": b"2", "both.json": b'{"a": 1, "b": 2}', "notes.md": b"1\nours\n",
        ".local/left": b"1", "pic": b"\0ours", "new": b"1",
    }  # fmt: skip
    theirs = {
        "gone": b"1", "both.json": b'{"a": 3}', "notes.md": b"1\ntheirs\n",
        ".local/left": b"2", "pic": b"\0theirs", 'a b\\c/"é".txt': b"1",
    }  # fmt: skip
    done = merged(repository, base, ours, theirs)
    assert {path: one.data for path, one in done.tree.items()} == {
        "kept": b"2",
        "both.json": b'{"a": 3, "b": 2}',
        "notes.md": b"1\nours\ntheirs\n",
        ".local/left": b"2",
        "pic": b"\0theirs",
        "new": b"1",
        'a b\\c/"é".txt': b"1",
    }
    assert done.plan.outvoted == ("pic",)


COMMIT = Entity("160000", b"1" * 40)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected", "outvoted"),
    [
        (b"1", script(b"1"), b"2", script(b"2"), False),
        (b"1", b"2", script(b"1"), script(b"2"), False),
        (None, script(b""), b"", b"", False),
        (script(b"1"), b"1", script(b"2"), b"2", False),
        (None, script(b"1"), b"1", b"1", False),
        (b"1", link("/etc"), b"1", link("/etc"), False),
        (b"1", b"1", link("/etc"), link("/etc"), False),
        (b"1", link("a"), link("b"), link("b"), True),
        (b"1", b"2", link("b"), link("b"), True),
        (b"1", link("a"), b"2", b"2", True),
        (link("a"), None, link("b"), link("b"), False),
        (link("a"), link("b"), None, link("b"), False),
        (link("a"), link("a"), None, None, False),
        (None, b"1", COMMIT, COMMIT, True),
        (COMMIT, COMMIT, b"1", b"1", False),
    ],
)
def test_links_submodules_and_modes_are_kept_as_they_are(
    repository: Repository,
    base: bytes | Entity | None,
    ours: bytes | Entity | None,
    theirs: bytes | Entity | None,
    expected: bytes | Entity | None,
    outvoted: bool,  # noqa: FBT001
) -> None:
    three = [
        SHARED | ({"x": one} if one is not None else {}) for one in (base, ours, theirs)
    ]
    done = merged(repository, *three)
    if isinstance(expected, bytes):
        expected = Entity("100644", expected)
    assert done.tree.get("x") == expected
    assert done.plan.outvoted == (("x",) if outvoted else ())


@pytest.mark.parametrize("path", [LOG, META, EDGES, PAGE])
def test_a_link_in_the_place_of_a_file_of_ours(
    repository: Repository, path: str
) -> None:
    good, bad = thread([FIRST]), thread([FIRST]) | {path: link("/etc/passwd")}
    more = thread([FIRST, OURS])
    for ours, theirs in ((more, bad), (bad, more)):
        done = merged(repository, good, ours, theirs)
        assert done.ids() == [FIRST.id, OURS.id]
        if path != LOG:
            assert done.tree[path].mode in {"120000", "100644"}
            assert done.tree[path] in (
                Entity("120000", b"/etc/passwd"),
                Entity("100644", more[path]),
            )


def test_a_link_of_ours_stays_in_the_place_of_a_page(repository: Repository) -> None:
    ours = thread([FIRST]) | {PAGE: link("/etc/passwd")}
    done = merged(repository, thread([FIRST]), ours, thread([FIRST, OURS]))
    # Both changed it: theirs counts, as for any file, and ours is said to be lost.
    assert done.tree[PAGE] == Entity("100644", thread([FIRST, OURS])[PAGE])
    assert done.plan.outvoted == (PAGE,)
    done = merged(repository, thread([FIRST]), ours, thread([FIRST]) | SHARED)
    assert done.tree[PAGE] == link("/etc/passwd")


def test_a_link_of_ours_in_the_place_of_a_log_is_outvoted(
    repository: Repository,
) -> None:
    ours = thread([FIRST]) | {LOG: link("/etc/passwd"), "x": link("a")}
    theirs = thread([FIRST, OURS]) | {"x": link("b")}
    done = merged(repository, thread([FIRST]) | {"x": link("c")}, ours, theirs)
    assert done.ids() == [FIRST.id, OURS.id]
    assert {LOG, "x"} <= set(done.plan.outvoted)


def test_what_both_wrote_on_a_page_and_rendering_takes_away_is_reported(
    repository: Repository,
) -> None:
    page = {PAGE: OLD.replace(b"Ball:", b"A note.\nBall:")}
    ours, theirs = imported(OLD, OURS) | page, imported(OLD, THEIRS) | page
    done = merged(repository, {PAGE: OLD}, ours, theirs)
    assert b"A note" not in done.data(PAGE)
    assert done.plan.outvoted == (PAGE,)


def test_a_file_that_became_a_folder_is_not_outvoted(repository: Repository) -> None:
    base = {"z": b"1", "zz": b"1"}
    done = merged(repository, base, base, {"z/b": b"1", "a": b"1"})
    assert set(done.tree) == {"z/b", "a"}
    assert done.plan.outvoted == ()
    # A folder can be made only where the file is gone.
    assert [one.path for one in done.plan.changes] == ["z", "zz", "a", "z/b"]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected", "outvoted"),
    [
        ({"a": b"1"}, {"a/b": b"1"}, {"a/b"}, ("a",)),
        ({"a/b": b"1", "a/c/d": b"1"}, {"a": b"1"}, {"a"}, ("a/b", "a/c/d")),
        (thread([FIRST]), {"graph": b"1"}, {LOG, META, EDGES, PAGE}, ()),
        ({"graph": b"1"}, thread([FIRST]), {LOG, META, EDGES, PAGE}, ("graph",)),
        (thread([FIRST]), {f"{LOG}/x": b"1"}, {LOG, META, EDGES, PAGE}, ()),
        ({f"{LOG}/x": b"1"}, thread([FIRST]), {LOG, META, EDGES, PAGE},
         (f"{LOG}/x",)),
        ({f"{PAGE}/x": b"1", LOG: lines([FIRST])}, {f"{PAGE}/x": b"1",
         LOG: lines([FIRST, OURS])}, {f"{PAGE}/x", LOG, META, EDGES}, ()),
    ],
)  # fmt: skip
def test_a_file_and_a_folder_of_one_name(
    repository: Repository,
    ours: Tree,
    theirs: Tree,
    expected: set[str],
    outvoted: tuple[str, ...],
) -> None:
    done = merged(repository, None, ours, theirs)
    assert set(done.tree) == expected
    assert done.plan.outvoted == outvoted


def test_names_that_no_checkout_can_have_do_not_come(repository: Repository) -> None:
    ours = repository.commit(SHARED)
    blob = repository.git.line("hash-object", "-w", "--stdin", feed=b"[core]\n")
    entry = f"100644 blob {blob}\tconfig\0".encode()
    inner = repository.git.line("mktree", "-z", feed=entry)
    top = b"".join(
        f"040000 tree {inner}\t{name}\0".encode() for name in (".GIT", "..", "fine")
    )
    tree = repository.git.line("mktree", "-z", feed=top)
    theirs = repository.git.line("commit-tree", tree)
    made = plan_merge(repository.git, None, ours, theirs)
    assert [one.path for one in made.changes if one.mode] == ["fine/config"]


# --- names ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "topic"),
    [
        ("graph/baseline/threads/auth/entries.jsonl", "auth"),
        ("graph/baseline/threads/Ünï/meta.json", "Ünï"),
        ("graph/baseline/threads/a b/edges.jsonl", "a%20b"),
        ("graph/baseline/threads/\udcff/entries.jsonl", "%FF"),
        ("threads/auth.md", "auth"),
        ("threads/.md", ""),
        ("threads/auth.txt", ""),
        ("threads/x/auth.md", ""),
        ("auth.md", ""),
        ("entries.jsonl", ""),
        ("graph/baseline/threads/entries.jsonl", ""),
        ("graph/baseline/threads/auth/x/entries.jsonl", ""),
        ("graph/baseline/threads/auth/annotations.jsonl", ""),
        ("x/graph/baseline/threads/auth/entries.jsonl", ""),
        (f"threads/{'x' * 300}.md", ""),
    ],
)
def test_where_a_thread_is_in_a_tree(path: str, topic: str) -> None:
    assert topic_at(path) == topic
    assert is_log(path) == (bool(topic) and path.endswith("/entries.jsonl"))
    if topic:
        assert path in paths_of(topic)


def test_threads_with_names_of_other_tools(repository: Repository) -> None:
    name = "a b\udcff"
    log = f"graph/baseline/threads/{name}/entries.jsonl"
    more = json_line(entry_id=entry_id(10), agent="B")
    done = merged(repository, None, {log: FOREIGN[0]}, {log: more})
    assert done.data(log) == FOREIGN[0] + more
    assert list(done.plan.gained) == ["a%20b%FF"]


# --- what is read ------------------------------------------------------------------


def test_of_many_threads_only_what_differs_is_read(tmp_path: Path) -> None:
    """The files of the others are not even there to be read."""
    repository = Repository(tmp_path / "repository.git")
    git = repository.git
    missing = blob_id(b"nowhere", "0" * 40)
    alike = [f"{path}" for n in range(1000) for path in paths_of(f"thread-{n}")]

    def commit(tree: Tree, *parents: str) -> str:
        index = {"GIT_INDEX_FILE": f"{tmp_path}/index"}
        records = [f"100644 {missing}\t{path}\0" for path in alike]
        for path, data in tree.items():
            blob = git.line("hash-object", "-w", "--stdin", feed=data)
            records.append(f"100644 {blob}\t{path}\0")
        feed = "".join(records).encode()
        git.run("read-tree", "--empty", env=index)
        git.run("update-index", "-z", "--index-info", feed=feed, env=index)
        written = git.line("write-tree", "--missing-ok", env=index)
        return git.line("commit-tree", written, *(f"-p{parent}" for parent in parents))

    base = commit(thread([FIRST]))
    ours = commit(thread([FIRST, OURS]), base)
    theirs = commit(thread([FIRST, THEIRS]), base)
    made = plan_merge(git, base, ours, theirs)
    assert {one.path for one in made.changes} == set(paths_of("t"))
    assert made.gained == {"t": (THEIRS,)}
    # Here it is not as if it were empty.
    with pytest.raises(GitError, match="cannot be read"):
        trees.blobs(git, [missing])


# --- what is too large to be read ---------------------------------------------


LARGE = b"x" * 5000 + b"\n"
SMALL_LIMIT = 2000


@pytest.fixture
def few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this were the most that is read."""
    monkeypatch.setattr(plan_module, "MAX_LOG_BYTES", SMALL_LIMIT)
    monkeypatch.setattr(plan_module, "MAX_FILE_BYTES", SMALL_LIMIT)


@pytest.mark.usefixtures("few_bytes")
@pytest.mark.parametrize(
    ("base", "ours", "theirs", "kept"),
    [
        ("small", "small", "large", "theirs"),
        ("small", "large", "small", "ours"),
        ("large", "large", "small", "theirs"),
        ("large", "small", "large", "ours"),
        ("small", "other", "large", "theirs"),
        ("small", "large", "other", "ours"),
        ("large", "larger", "other", "ours"),
        ("", "small", "large", "theirs"),
        ("", "", "large", "theirs"),
    ],
)
def test_a_log_that_is_too_large_stays_as_it_is(
    tmp_path: Path, base: str, ours: str, theirs: str, kept: str
) -> None:
    """All files of its thread are those of one side, and all else is merged."""
    paths = paths_of("t")
    first = codec.to_line(FIRST, 0)
    logs = {
        "small": first,
        "other": first + codec.to_line(OURS, 1),
        "large": first + LARGE,
        "larger": first + LARGE * 2,
    }

    def tree(name: str, side: str) -> Tree:
        thread = {paths.log: logs[name], paths.meta: side.encode()} if name else {}
        return thread | {f"{side}.txt": b"x"}

    repository = Repository(tmp_path)
    start = repository.commit(tree(base, "base"))
    sides = [
        repository.commit(tree(name, side), start)
        for name, side in ((ours, "ours"), (theirs, "theirs"))
    ]
    made = plan_merge(repository.git, start, *sides)
    merged = repository.tree(repository.merge(made, *sides))
    name = ours if kept == "ours" else theirs
    assert merged[paths.log].data == logs[name]
    assert merged[paths.meta].data == kept.encode()
    assert {"ours.txt", "theirs.txt"} <= merged.keys()
    we_lost = kept == "theirs" and ours not in ("", base)
    assert made.outvoted == ((paths.log,) if we_lost else ())
    assert made.gained == {}


@pytest.mark.usefixtures("few_bytes")
def test_a_file_that_is_too_large_is_not_merged(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    start = repository.commit({"notes.jsonl": b"a\n"})
    sides = [
        repository.commit({"notes.jsonl": data}, start)
        for data in (b"a\nb\n", b"a\n" + LARGE)
    ]
    made = plan_merge(repository.git, start, *sides)
    merged = repository.tree(repository.merge(made, *sides))
    assert merged["notes.jsonl"].data == b"a\n" + LARGE
    assert made.outvoted == ("notes.jsonl",)


def test_what_is_merged_beyond_some_bytes_is_given_to_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree is the same."""
    repository = Repository(tmp_path)
    files = {f"{number}.jsonl": b"a\n" for number in range(4)}
    start = repository.commit(files)
    sides = [
        repository.commit({name: data + line for name, data in files.items()}, start)
        for line in (b"b\n", b"c\n")
    ]
    whole = plan_merge(repository.git, start, *sides)
    monkeypatch.setattr(plan_module, "_MOST_HELD", 10)
    made = plan_merge(repository.git, start, *sides)
    assert sum(change.data is None for change in made.changes) == 3
    trees_made = [
        repository.tree(repository.merge(one, *sides)) for one in (whole, made)
    ]
    assert trees_made[0] == trees_made[1]


@pytest.mark.parametrize("small_batches", [False, True])
def test_a_line_that_is_too_long_is_merged_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, small_batches: bool
) -> None:
    if small_batches:
        monkeypatch.setattr(compare, "_BATCH_BYTES", 1)
    paths = paths_of("t")
    first, long_line = codec.to_line(FIRST, 0), b"x" * (21 << 20) + b"\n"
    repository = Repository(tmp_path)
    start = repository.commit({paths.log: first})
    sides = [
        repository.commit({paths.log: log}, start)
        for log in (
            first + codec.to_line(OURS, 1),
            first + long_line + codec.to_line(THEIRS, 1),
        )
    ]
    made = plan_merge(repository.git, start, *sides)
    assert all(len(change.data or b"") < 10_000 for change in made.changes)
    merged = repository.tree(repository.merge(made, *sides))
    entries = {first, codec.to_line(OURS, 1), codec.to_line(THEIRS, 1)}
    log = merged[paths.log].data
    assert log.startswith(long_line)
    assert {*log[len(long_line) :].splitlines(keepends=True)} == entries
    state = read_meta("t", merged[paths.meta].data)
    assert isinstance(state, Meta)
    assert state.log_size == len(log)
    # Once one side has everything, nothing is written.
    again = plan_merge(repository.git, start, sides[1], repository.merge(made, *sides))
    blob = blob_id(log, start)
    assert [row.blob for row in again.changes if row.path == paths.log] == [blob]
