"""A repository in which everything was done that wc can do, as version 0.1.0 left it.

``code.txt`` has the branches of the code and the claims, for ``git fast-import``,
and ``store`` the files on the branch of the threads.
They were made once, with commands that may be gone: they are never changed.

- ``login``: acknowledged, asked and answered, with a checklist, boxes in its text, a
  budget, tags, a correction, a retracted entry, a review and a summary; part of
  ``passkeys``
- ``search``: waits for ``login``; taken, and handed to anyone
- ``release``: with gates of each kind, one passed and one removed; ``docs`` and
  ``announce``, now ``news``, came from a list
- ``export`` was approved and has landed, ``german`` could not; ``ci`` is closed
- ``imported`` came from an export, with gates, a budget and a checklist, ``bd-1`` from
  another tracker, ``cloudy`` in part with a branch of the code
- an older tool began ``legacy``, and only it wrote to ``legacy-only``
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

DATA = Path(__file__).parent
# Two days after the first entry: notes and claims have not expired.
NOW_MS = 1_788_422_400_000
CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "1"}
CODEX = {"CODEX_THREAD_ID": "2"}
_DATE = {f"GIT_{role}_DATE": "1788300000 +0000" for role in ("AUTHOR", "COMMITTER")}


def opened(machine: Machine) -> dict[str, Here]:
    """The worktrees, by branch, in a fresh clone."""
    # A brief that had no time says so.
    machine.env.update(_DATE)
    path = machine.root / "app"
    path.mkdir()
    main = Here(machine, path)
    main.git("init", "-q", "-b", "main")
    stream = (DATA / "code.txt").read_bytes()
    machine.run(["git", "fast-import", "--quiet"], path, feed=stream)
    index = {"GIT_INDEX_FILE": f"{machine.root}/index"}
    words = ("-c", "core.autocrlf=false", "--work-tree", str(DATA / "store"))
    for action in (("add", "-f", "."), ("write-tree",)):
        done = machine.run(["git", *words, *action], path, env=index)
        assert not done.code, done.err
    commit = main.git("commit-tree", "-m", "Threads", done.out.strip())
    main.git("update-ref", "refs/heads/watercooler/threads", commit)
    main.git("reset", "-q", "--hard")
    worktrees = {"main": main}
    for name in ("login", "search"):
        place = machine.root / f"app-wt-{name}"
        main.git("worktree", "add", "-q", str(place), name)
        worktrees[name] = Here(machine, place)
    changed = worktrees["login"].path / "app/store.py"
    changed.write_text(f"{changed.read_text()}\n\ndef save(user):\n    pass\n")
    main.ok("list", env={"WATERCOOLER_SYNC": "inline"})
    return worktrees
