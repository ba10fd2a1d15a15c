"""``wc read --commits``: who changed what in a thread, and in which commit.

The commit of an entry is the one that names it in a footer. If there is none (because
another tool made the commits, or the user, in a store in the code's own tree), it is
the first commit that added the entry's line to the log. The number of git processes
does not depend on the length of the history.
"""

from __future__ import annotations

import os
import re
from types import MappingProxyType

from wc_cli.ledger.branch import messages
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.clock import now_ms
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import render
from wc_cli.run.terminal.labels import title_before_more
from wc_cli.run.terminal.style import output_style
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.names import fold, parse
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import carried as carriers
from wc_core.ledger.git import repository
from wc_core.ledger.remarks import wording
from wc_core.ledger.threads.model import holder_text
from wc_core.reading.views.entries import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.index.parts import ThreadPart
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.spans import ThreadSpan

_SEPARATOR = "\x1f"
# Fields of git-rev-list(1), one line per commit, followed by the entries it names.
_FORMAT = "%H%x1f%h%x1f%an%x1f%(trailers:key={},valueonly,unfold,separator=%x1f)"
_COMMIT = re.compile(rb"([0-9a-f]{40,64})")
_ID = re.compile(rb'"entry_id":\s*"((?:[^"\\]|\\.)*)"')
# The refs of every remote that may have the store's branch.
_TRACKING = (f"refs/remotes/**/{BRANCH}", "refs/watercooler/*")
_REMOTES = ("refs/remotes/**",)


class Commit(NamedTuple):
    """The commit of an entry: full id, short id, and author name. ``pushed`` is
    ``None`` if there is no remote. ``way`` is the branch or the file with which its
    entry travels instead; usually empty."""

    id: str
    short: str
    by: str
    pushed: bool | None = None
    way: str = ""


class CommitHistory(NamedTuple):
    """The commits of a thread by the entries they added. ``problem`` is why they are
    unknown; otherwise empty."""

    commits: Mapping[str, Commit] = MappingProxyType({})
    problem: str = ""


def print_commits(context: Context, span: ThreadSpan, *, in_json: bool) -> None:
    """Print entries of a thread, each on a line with its commit; in JSON, all of the
    read shape, with the commit of each."""
    thread, entries = span.thread, span.entries
    path = context.reader.layout.log(thread.state.topic)
    history = thread_commits(thread, entries, path, context.env)
    history = _with_carried(history, context)
    if in_json:
        fields = read_json(thread, context.store, entries, span.following)
        for row, item in zip(fields["entries"], entries, strict=True):
            row.update(_commit_json(history.commits.get(item.entry.id), history))
        say_json(fields | ({"problem": history.problem} if history.problem else {}))
        return
    style = output_style(context.env)
    say(style(one_line(f"{thread.name}: {thread.state.title}"), "1"))
    width = max((len(entry.short) for entry in history.commits.values()), default=0)
    say("\n".join(_entry_line(entry, history, width, style) for entry in entries))
    if history.problem:
        remark(f"note: the commits are unknown: {one_line(history.problem)}")


def _commit_json(commit: Commit | None, history: CommitHistory) -> dict[str, Any]:
    return {
        "committed": None if history.problem else commit is not None,
        "commit": commit and commit.id,
        "committed_by": commit and commit.by,
        "pushed": commit and commit.pushed,
        **({"carried": commit.way} if commit and commit.way else {}),
    }


def _entry_line(
    numbered: Numbered, history: CommitHistory, width: int, style: Style
) -> str:
    """Return an entry on one line: commit, time, position, author and action."""
    entry, commit = numbered.entry, history.commits.get(numbered.entry.id)
    short = (commit.short if commit else "-" if width else "").ljust(width)
    facts = (
        [f"ball → {holder_text(entry.ball.holder)}"] if entry.ball is not None else []
    )
    facts += [entry.status] if entry.status else []
    facts += [kind] if (kind := wording.kind_text(entry)) else []
    facts += ["doubtful time"] if numbered.is_doubtful(now_ms()) else []
    if commit is None:
        facts += [] if history.problem else ["not committed"]
    else:
        facts += [] if _is_named(commit.by, entry.agent) else [f"by {commit.by}"]
        if commit.way:
            facts.append(f"travels with {commit.way}")
        elif commit.pushed is False:
            facts.append("not pushed")
    facts += [numbered.way_text] if numbered.entry.via else []
    # The command as typed, not as the log spells it.
    command = (entry.action or "").replace("_", "-")
    action = f"{entry.agent or '?'} {command}".strip()
    about = f"{render.shown_stamp(entry.at)} #{numbered.idx} {action}:"
    line = f"{one_line(about)} {title_before_more(entry.title)}"
    tail = "".join(f" · {one_line(fact)}" for fact in facts)
    return f"{style(short, '33')} {line}{style(tail, '2')}".strip()


def _with_carried(history: CommitHistory, context: Context) -> CommitHistory:
    """The history with the entries that travel otherwise."""
    layout = Layout(context.place.root)
    carried = carriers.current(layout, context.store_repository)
    if carried is None:
        return history
    commits = {
        name: commit._replace(way=carried.way if name in carried.ids else "")
        for name, commit in history.commits.items()
    }
    return history._replace(commits=commits)


def _is_named(name: str, agent: str) -> bool:
    """Return whether the commit's author name only repeats the entry's author."""
    parsed = parse(agent)
    return fold(name) in {
        fold(spelling) for spelling in (agent, parsed.agent, parsed.tag)
    }


def thread_commits(
    thread: Thread | ThreadPart,
    entries: Iterable[Numbered],
    path: str,
    env: Mapping[str, str],
) -> CommitHistory:
    """Return the commits with these entries of the thread whose log is at ``path``."""
    root = os.path.dirname(path)
    own_repository = repository.find(root)
    if own_repository is None:
        return CommitHistory(problem="this store is not in git")
    if thread.snapshot.log_size < 0:
        return CommitHistory(
            problem="this thread is only a page, which names no commits"
        )
    try:
        commits = _LogCommits(own_repository, root, os.path.basename(path), env)
        return CommitHistory(commits.by_entry({item.entry.id for item in entries}))
    except GitError as error:
        return CommitHistory(problem=str(error))


class _LogCommits:
    """The commits that changed the file ``name`` in ``folder``."""

    def __init__(
        self, repository: Repository, folder: str, name: str, env: Mapping[str, str]
    ) -> None:
        self.git = Git(folder, {**env, "GIT_LITERAL_PATHSPECS": "1"})
        self.repository = repository
        self.name = name

    def by_entry(self, entry_ids: set[str]) -> dict[str, Commit]:
        """Return the commit of each of these entries that has one, and perhaps of
        others. Raises GitError."""
        commits: dict[str, Commit] = {}
        nameless: dict[str, Commit] = {}
        for commit, names in self._changes():
            # Latest first, so the earliest commit of an entry wins.
            commits |= dict.fromkeys(names, commit)
            if not names:
                nameless[commit.id] = commit
        missing = entry_ids - commits.keys()
        if missing and nameless:
            for entry_id, commit_id in self._added_entries(nameless):
                if entry_id in missing:
                    commits[entry_id] = nameless[commit_id]
        unpushed = self._unpushed_commits() if commits else None
        if unpushed is None:
            return commits
        return {k: v._replace(pushed=v.id not in unpushed) for k, v in commits.items()}

    def _changes(self) -> Iterator[tuple[Commit, list[str]]]:
        """Yield each commit, the latest first, with the entries it names."""
        if not self.git.line("rev-parse", "--revs-only", "HEAD"):
            return
        format_ = f"--format={_FORMAT.format(messages.ENTRY)}"
        out = self._walk("--no-commit-header", format_, "HEAD").decode(errors="replace")
        for line in out.split("\n")[:-1]:
            commit_id, short, by, *names = line.split(_SEPARATOR)
            yield Commit(commit_id, short, by), [name for name in names if name]

    def _unpushed_commits(self) -> set[str] | None:
        """Return the commits that no remote is known to have; ``None`` if no remote is
        known to have any."""
        patterns = _TRACKING if self.repository.branch == BRANCH else _REMOTES
        tracking = self.git.run("for-each-ref", "--count=1", *patterns)
        if not tracking:
            return None
        globs = (f"--glob={pattern}" for pattern in patterns)
        out = self._walk("HEAD", "--not", *globs)
        return set(out.decode().split())

    def _walk(self, *words: str) -> bytes:
        options = ("--full-history", "--topo-order", "--encoding=UTF-8")
        return self.git.run("rev-list", *options, *words, "--", self.name)

    def _added_entries(self, commits: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the entries whose lines these commits added, each with its commit. An
        entry's earliest commit comes last."""
        out = self.git.run(
            *("diff-tree", "--stdin", "-r", "--root", "-p", "--unified=0"),
            *("--no-textconv", "--no-ext-diff", "--no-color", "--no-renames"),
            *("--text", "--", self.name),
            feed="".join(f"{commit_id}\n" for commit_id in commits).encode(),
        )
        current = ""
        for line in out.split(b"\n"):
            if commit := _COMMIT.fullmatch(line):
                current = commit[1].decode()
            elif line.startswith(b"+") and (entry := _ID.search(line)):
                yield entry[1].decode(errors="replace"), current
