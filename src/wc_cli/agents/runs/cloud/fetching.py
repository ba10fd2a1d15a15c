"""Getting the result of a session in the cloud: a diff becomes a branch, and a branch
that the session pushed is named.

No worktree and no index of the person is touched. A diff that does not apply is kept.
"""

from __future__ import annotations

import tempfile

from wc_cli.agents.runs import commands, writing
from wc_cli.agents.runs.cloud import starting, terminal
from wc_cli.agents.runs.redaction import without_secrets
from wc_cli.bridges.carry import harvesting
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import durable
from wc_cli.run.entries import receipts
from wc_core.attention.runs import records
from wc_core.base import agents
from wc_core.base.errors import ConflictError, NotFoundError, StorageError
from wc_core.base.layout import Layout, file_name
from wc_core.base.names import fold, parse
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import clean, one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import modes
from wc_core.ledger.carry.records import Arrivals
from wc_core.ledger.configuration import preferences
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.run.context import Context
    from wc_core.attention.runs.records import RunRecord
    from wc_core.ledger.git.repository import Repository

_SECONDS = 120.0
_MAX_BYTES = 64 << 20
_MAX_REASON = 300
_NO_COMMIT = "0" * 40


class FetchedResult(NamedTuple):
    """The result of the session for a thread: it is on ``branch``, at ``commit``, and
    ``came`` says how many entries came with it. ``is_new``: the branch was made now.
    ``remote`` has the branch, unless it is empty."""

    topic: str
    branch: str
    commit: str
    address: str
    is_new: bool = False
    remote: str = ""
    came: int = 0
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**self._asdict(), "notes": list(self.notes)}

    @property
    def sentence(self) -> str:
        """Return where the result is, and how to look at it."""
        branch = quoted(self.branch)
        if self.remote:
            place = f"{self.branch} of {self.remote}"
            return f"{self.topic}: its result is on {place} (git switch {branch})"
        came = counted(self.came, "entry", "entries") if self.came else ""
        came = f" · {came} came with it" if came else ""
        verb = "is on" if self.is_new else "was already on"
        command = f"git log -p -1 {branch}"
        return f"{self.topic}: its result {verb} {self.branch} ({command}){came}"


def fetch(context: Context, topic: str) -> FetchedResult:
    """Get the result of the session that was started from here for a thread. Raises
    NotFoundError, ConflictError, StorageError, OfflineError."""
    layout = Layout(context.reader.layout.root)
    record = records.load(layout, topic)
    code = context.place.repository
    if record is None or not record.session or code is None:
        raise NotFoundError(
            f"No session in the cloud was started for {one_line(topic)} here.",
            f"Start one: wc run --cloud {quoted(topic)}",
        )
    agent = parse(record.agent).agent
    client = commands.cloud_commands_of(agent, preferences.load(context.env))
    if not client.diff:
        return _pushed(context, record, layout)
    commands.require_program(client.diff, context.env)
    diff = _diff_of(context, record, layout, client.diff)
    # Whatever happens now, it need not be got again.
    private = writing.made_folder(layout)
    path = f"{private.runs}/{file_name(topic)}.diff"
    durable.create(path, diff, private.root)
    return _on_branch(context, record, code, diff, path)


def _diff_of(
    context: Context, record: RunRecord, layout: Layout, command: tuple[str, ...]
) -> bytes:
    """Return the diff that a client prints for a session. Raises ConflictError."""
    folder = f"{writing.made_folder(layout, 'cloud').runs}/cloud"
    words, hint = [*command, record.session], f"Look at {record.address}"
    try:
        env = commands.person_env(context.env)
        output = terminal.output_of(words, folder, env, _SECONDS)
    except (OSError, ValueError) as error:
        raise ConflictError(
            f"{words[0]} could not get the result: {error}.", hint
        ) from error
    if output.status:
        text = clean((output.err or output.out).decode(errors="replace"))
        lines = without_secrets(text, context.env).split("\n")
        reason = next((line for line in reversed(lines) if line.strip()), "it failed")
        reason = one_line(reason.strip(), _MAX_REASON)
        raise ConflictError(f"{words[0]} could not get the result: {reason}", hint)
    if not output.out.strip():
        raise ConflictError("The session has changed nothing so far.", hint)
    if len(output.out) > _MAX_BYTES:
        raise ConflictError("The diff has more than 64 MiB.", hint)
    return output.out


def _on_branch(
    context: Context, record: RunRecord, code: Repository, diff: bytes, path: str
) -> FetchedResult:
    """Make a branch with a diff, unless it is there, and take the entries that came
    with it."""
    git = Git(code.common, context.env, bare=True)
    title = context.reader.snapshot(record.topic).state.title
    commit = _commit_of(git, record, code, diff, title)
    if not commit and not _is_here(git, record.commit):
        raise ConflictError(
            f"The commit {record.commit[:10]}, which the session began with, is not "
            "here.",
            "Get it, and try again: git fetch",
        )
    if not commit:
        base = f"{one_line(record.branch)} at {record.commit[:10]}"
        raise ConflictError(
            f"The diff does not apply to {base}.",
            f"It is in {path}. Where it belongs: git apply --3way {quoted(path)}",
        )
    try:
        branch, is_new = _branch_for(git, record, code, commit)
    except GitError as error:
        raise StorageError(
            f"The branch for the result could not be made: {error}.",
            f"Make it by hand: git branch NAME {commit}",
        ) from error
    harvest = harvesting.harvest_outbox(
        context.place.root, context.env, code, branch, commit
    )
    came = sum(sum(topics.values()) for topics in harvest.branches.values())
    notes = tuple(harvest.notes)
    if came:
        notes += tuple(receipts.start_settling(context))
    elif is_new:
        notes += ("no entry came with it: nobody has passed the ball",)
    return FetchedResult(
        record.topic,
        branch,
        commit,
        record.address,
        is_new=is_new,
        came=came,
        notes=notes,
    )


def _commit_of(
    git: Git, record: RunRecord, code: Repository, diff: bytes, title: str
) -> str:
    """Return a commit with a diff, the same each time; empty if it does not apply to
    what the session began with, or to what its branch is now at the remote."""
    remotes = repositories.remote_branches(code, record.branch)
    now = [
        repositories.resolve(code, f"refs/remotes/{remote}/{record.branch}")
        for remote in remotes
    ]
    agent = parse(record.agent).agent
    row = agents.row_of(agent)
    address = row.bots[0] if row is not None and row.bots else "noreply@localhost"
    date = f"{record.started_ms // 1000} +0000"
    person = {"NAME": agent, "EMAIL": address, "DATE": date}
    author = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in person.items()
    }
    message = f"{one_line(title)}\n\nFrom {record.address}\n".encode()
    for base in dict.fromkeys(filter(None, (record.commit, *now))):
        for way in ((), ("--3way",)):
            try:
                tree = _applied(git, base, diff, way)
                words = ("commit-tree", tree, "-p", base)
                return git.run(*words, feed=message, env=author).decode().strip()
            except GitError:
                continue
    return ""


def _is_here(git: Git, commit: str) -> bool:
    try:
        git.run("cat-file", "-e", f"{commit}^{{commit}}")
    except GitError:
        return False
    return True


def _applied(git: Git, base: str, diff: bytes, way: tuple[str, ...]) -> str:
    """Return the tree of a commit after a diff, with an index of its own. Raises
    GitError."""
    with tempfile.TemporaryDirectory(prefix="wc-fetch-") as folder:
        env = {"GIT_INDEX_FILE": f"{folder}/index"}
        git.run("read-tree", base, env=env)
        words = ("apply", "--cached", "--whitespace=nowarn", *way, "-")
        git.run(*words, feed=diff, env=env)
        return git.line("write-tree", env=env)


def _branch_for(
    git: Git, record: RunRecord, code: Repository, commit: str
) -> tuple[str, bool]:
    """Return a branch that has a commit, and whether it is new. A branch of the person
    is never moved. Raises GitError."""
    agent = parse(record.agent).agent
    row = agents.row_of(agent)
    word = row.client if row is not None and row.client else fold(agent)
    name = vocabulary.branch(f"{word}/{record.topic}")
    number = 1
    while True:
        branch = name if number == 1 else f"{name}-{number}"
        tip = repositories.resolve(code, f"refs/heads/{branch}")
        if not tip:
            git.run("update-ref", f"refs/heads/{branch}", commit, _NO_COMMIT)
            return branch, True
        if _contains(git, tip, commit):
            return branch, False
        number += 1


def _contains(git: Git, tip: str, commit: str) -> bool:
    try:
        git.run("merge-base", "--is-ancestor", commit, tip)
    except GitError:
        return False
    return True


def _pushed(context: Context, record: RunRecord, layout: Layout) -> FetchedResult:
    """Return the branch that a session has pushed, by the entries that came with it.
    Raises ConflictError if none has come."""
    starting.exchange(context)
    context = type(context)(context.env, context.cwd, context.asked)
    code, arrivals = context.place.repository, Arrivals(layout)
    patterns = context.settings.agents_branches
    entries = context.reader.thread(record.topic).entries
    for entry in reversed([entry for entry in entries if entry.id > record.since]):
        branch = arrivals.way(entry.id) or entry.code_branch
        if code is None or not modes.is_agents(branch, patterns):
            continue
        remote = harvesting.code_remote(code, context.env)
        commit = repositories.resolve(code, f"refs/remotes/{remote}/{branch}")
        if commit:
            return FetchedResult(
                record.topic, branch, commit, record.address, remote=remote
            )
    raise ConflictError(
        "No branch of that session has come yet, or none with an entry.",
        f"Look at {record.address}; a branch with another name: wc harvest BRANCH",
    )
