"""Programs that a landing runs: the check of the repository, and GitHub's ``gh``.

The check's command comes from the store, so from anyone who can write to it. It runs
only if a person approved its text on this machine before: that is recorded in the
private folder (`wc_core.ledger.git.private`), and never taken from the store.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time

from wc_cli.ledger.branch.checkouts import path_options
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import durable
from wc_core.base.errors import NotFoundError, StorageError
from wc_core.base.files import read_plain
from wc_core.base.lean import contextlib
from wc_core.base.programs import find_program
from wc_core.base.text import clean
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.git.repository import CHECK_REASON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

_MAX_OUTPUT = 4000
# A process in its group that reads from us, so it learns when we have ended, and then
# ends the group. Two subshells, so that it is no child of the command.
_WITH_WATCHER = """exec 3<&0 </dev/null
( ( read -r _ <&3; kill -KILL 0 ) >/dev/null 2>&1 & )
exec /bin/sh -c "$1" 3<&-
"""
# Those that it starts while the others are ended.
_MAX_ROUNDS = 5
_GITHUB_SECONDS = 60.0


# The place of the command, in what was approved.
_PLACE = "land.check"
# A worktree of a large repository takes its time.
_ADD_SECONDS = 600.0


class Outcome(NamedTuple):
    """Whether a command succeeded, and its output."""

    is_passed: bool
    output: str = ""


def is_approved(layout: Layout, command: str) -> bool:
    """Return whether a command was approved on this machine."""
    private = private_layout(layout)
    try:
        content = read_plain(private.approved_commands, private.root) or b""
    except OSError:
        return False
    return _digest(command).encode() in content.splitlines()


def approve(layout: Layout, command: str) -> None:
    """Remember that a command may run on this machine. Raises StorageError."""
    private = private_layout(layout)
    durable.make_private_folder(private.root)
    durable.make_folder(private.local, private.root)
    digest = _digest(command)
    durable.ensure_line(private.approved_commands, digest, private.root)


def _digest(command: str) -> str:
    return hashlib.sha256(f"{_PLACE}\0{command}".encode()).hexdigest()


def run_command(
    command: str, folder: str, env: Mapping[str, str], seconds: float
) -> Outcome:
    """Run a command with ``sh`` in a folder. It passes if it exits with 0
    within this many seconds. Then all processes of its session are ended, and those of
    its group also if this process is killed."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 - a person has approved it here
            ["/bin/sh", "-c", _WITH_WATCHER, "sh", command],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            # Not a pipe: what it leaves in the background would keep that open.
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(timeout=seconds)
            ending = f"exit status {process.returncode}"
        except subprocess.TimeoutExpired:
            ending = f"not finished within {seconds:g} s"
        finally:
            _end_session(process)
        output.seek(max(0, output.seek(0, os.SEEK_END) - _MAX_OUTPUT))
        data = output.read()
    return Outcome(ending == "exit status 0", _report(ending, data))


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """End a process, its group, and the other groups of its session."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for _ in range(_MAX_ROUNDS):
        pids = [pid for pid in _process_ids() if _session_of(pid) == process.pid]
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not pids:
            break
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def _process_ids() -> list[int]:
    names: Iterable[str]
    try:
        names = os.listdir("/proc")
    except OSError:
        words = ("/bin/ps", "-A", "-o", "pid=")
        names = subprocess.run(words, capture_output=True, text=True).stdout.split()  # noqa: PLW1510, S603 - none, if it fails
    return [int(name) for name in names if name.isdecimal()]


def _session_of(pid: int) -> int:
    """Return the session of a process; 0 if it has ended."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _report(ending: str, data: bytes) -> str:
    """How a command ended, and the end of its output, as markdown."""
    text = clean(data[-_MAX_OUTPUT:].decode(errors="replace")).strip("\n")
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    return f"{ending}\n\n{lines}" if lines else ending


def run_github(
    words: Sequence[str], folder: str, env: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run GitHub's command line, ``gh``, in the repository in a folder. Returns its
    exit status, its output and its errors. Raises NotFoundError if it is missing, and
    StorageError if it does not answer."""
    program = find_program(env, "gh")
    if not program:
        raise NotFoundError("There is no gh here.", "Install the GitHub CLI.")
    try:
        done = subprocess.run(  # noqa: S603 - no shell
            [program, *words],
            cwd=folder,
            env={**env, "GH_PROMPT_DISABLED": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_GITHUB_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StorageError(f"gh could not be used: {error}.", "Try again.") from error
    return done.returncode, done.stdout, clean(done.stderr)


class CheckResult(NamedTuple):
    """The result of a check: whether it passed, how it ended with the last lines of its
    output, as markdown, and how long it took."""

    is_passed: bool
    text: str
    seconds: float


class CheckPlace:
    """Where landings are checked: a worktree in the store, one at a time. The caller
    holds the lock of landings."""

    def __init__(
        self, repository: Repository, layout: Layout, env: Mapping[str, str]
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._env = env

    def check(self, commit: str, command: str, seconds: float) -> CheckResult:
        """Run a command in a worktree with this commit, which is removed afterwards.
        Raises StorageError if that cannot be made."""
        with self._worktree(commit) as folder:
            started = time.monotonic()
            outcome = run_command(command, folder, self._env, seconds)
        took = time.monotonic() - started
        return CheckResult(outcome.is_passed, outcome.output, took)

    @contextlib.contextmanager
    def _worktree(self, commit: str) -> Iterator[str]:
        self.tidy()
        folder = self._layout.landing_worktree
        durable.make_folder(os.path.dirname(folder), self._layout.root, flush=False)
        try:
            words = ("worktree", "add", "--quiet", "--detach", "--lock")
            reason = ("--reason", CHECK_REASON)
            options = path_options(self._repository, self._env)
            self._git().run(*options, *words, *reason, "--", folder, commit)
            yield folder
        except GitError as error:
            raise StorageError(
                f"git could not make a worktree for the check: {error}",
                "Is the disk full? See: git worktree list",
            ) from error
        finally:
            self.tidy()

    def tidy(self) -> None:
        """Remove the worktree, also one that a killed landing has left."""
        folder = self._layout.landing_worktree
        if not os.path.lexists(folder):
            return
        # Twice: it is locked.
        with contextlib.suppress(GitError):
            self._git().run("worktree", "remove", "--force", "--force", "--", folder)
        if os.path.lexists(folder):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(GitError):
                self._git().run("worktree", "unlock", "--", folder)
                self._git().run("worktree", "prune")

    def _git(self) -> Git:
        git = Git.for_files(self._repository.common, self._env)
        git.prefix = ("--git-dir", self._repository.common)
        git.longest = _ADD_SECONDS
        return git
