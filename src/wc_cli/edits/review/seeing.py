"""Keeps a snapshot of a worktree with each entry that passed the ball.

A write starts it in a process that outlives the write, with the arguments ``ROOT FOLDER
TOPIC ENTRY``, and does not wait for it. The snapshot is a commit that only a ref below
``refs/wc/seen`` names. The index, the branches and the files of the worktree are not
touched, and the ref is never pushed.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.edits.radar import snapshots
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.clock import now_ms
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.edits.review import keeping
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

_NICENESS = 10
_SECONDS = 30.0
_NO_REF = ""


def main() -> None:
    """Keep the snapshot that the arguments ask for. If it fails, the entry's commit
    replaces the snapshot."""
    root, folder, topic, entry_id = sys.argv[1:]
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    keep(root, folder, (topic, entry_id), dict(os.environ))


def keep(
    root: str, folder: str, written: tuple[str, str], env: Mapping[str, str]
) -> None:
    """Keep the snapshot of the worktree at ``folder`` with an entry, given by topic and
    id, and remove unneeded snapshots."""
    repository = repositories.find(folder)
    if repository is None or not repository.top:
        return
    with contextlib.suppress(GitError, OSError, WcError):
        reader = StoreReader(root)
        topic, entry_id = reader.find(written[0]), written[1]
        git = snapshots.worktree_git(repository, env, time.monotonic() + _SECONDS)
        commit = _snapshot(git, repository)
        ref = keeping.ref_of(topic, entry_id)
        # Only if there is none: a repeated write came later.
        git.run("update-ref", ref, commit, _NO_REF)
    with contextlib.suppress(GitError, OSError, WcError):
        prune(root, repository, env)


def _snapshot(git: Git, repository: Repository) -> str:
    """The commit of a worktree's current state, in its own repository. Raises
    GitError."""
    state = snapshots.read_state(git, repository.top)
    if not state.head:
        raise GitError("there is no commit yet")
    if not state.paths:
        return state.head
    import tempfile  # 10 ms, only if something has changed

    with tempfile.TemporaryDirectory(prefix="wc-seen-") as temporary:
        env = {"GIT_INDEX_FILE": f"{temporary}/index"}
        return snapshots.commit_of(git, state, env)


def prune(root: str, repository: Repository, env: Mapping[str, str]) -> None:
    """Remove the snapshots that nobody needs. Those of an unreadable thread stay.
    Raises GitError."""
    reader, rules = StoreReader(root), settings.load(root, env)
    git = Git(repository.common, env, bare=True, until=time.monotonic() + _SECONDS)
    lines = git.line("for-each-ref", "--format=%(refname)", keeping.FOLDER).splitlines()
    refs: dict[str, dict[str, str]] = {}
    for ref in lines:
        topic, entry_id = keeping.owner_of(ref)
        refs.setdefault(topic, {})[entry_id] = ref
    commands = []
    for topic, kept in refs.items():
        with contextlib.suppress(WcError):
            if topic and reader.has(topic):
                thread = reader.thread(topic)
                ids = keeping.needed(thread, kept, rules.directory, now_ms())
            else:  # another store with the same code may have it
                ids = keeping.fresh(kept, now_ms())
            removed = kept.keys() - ids
            commands += [f"delete {kept[entry_id]}\n" for entry_id in removed]
    if commands:
        git.run("update-ref", "--stdin", feed="".join(commands).encode())


if __name__ == "__main__":
    main()
