"""Running git. No other module does.

Hooks are off, git never prompts, and the processes it starts end with it. Hooks from
git's configuration are off as of git 2.55; earlier ones cannot be told.
"""

from __future__ import annotations

import os
import time
from types import MappingProxyType

from wc_cli.ledger.branch.process import Process
from wc_core.base.lean import contextlib
from wc_core.base.lean.signal import SIGPIPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

    from wc_cli.ledger.branch.process import Feed

# git --local-env-vars: a hook or an alias of another repository sets these, and they
# would redirect git to that repository.
_LOCAL_VARIABLES = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"}
    | {"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG"}
    | {"GIT_CONFIG_PARAMETERS", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE"}
    | {"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE"}
    | {"GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_LITERAL_PATHSPECS"}
)
# The events of hooks that our commands reach. Hooks from the configuration, which git
# 2.54 and later run, are not in the folder of hooks.
_EVENTS = (
    *("post-checkout", "post-index-change", "pre-auto-gc", "pre-push"),
    "reference-transaction",
)
_NO_HOOKS = (
    *("-c", "core.hooksPath=/dev/null"),
    *(word for event in _EVENTS for word in ("-c", f"hook.{event}.enabled=false")),
)
_SAFE_OPTIONS = (
    *_NO_HOOKS,
    *("-c", "gc.autoDetach=false"),
    # Its daemon would outlive this process and keep the lock that it inherits.
    *("-c", "core.fsmonitor=false"),
    *("-c", "credential.interactive=false"),
)
_OPTIONS = (
    *_SAFE_OPTIONS,
    *("-c", "core.autocrlf=false"),
    *("-c", "core.sparseCheckout=false"),
    *("-c", "commit.gpgSign=false"),
    # Larger files are read and written in pieces, and not stored as deltas.
    *("-c", "core.bigFileThreshold=64m"),
    # Otherwise git records the wrong encoding in the commit.
    *("-c", "i18n.commitEncoding=UTF-8"),
)
# What git says if it does not open a repository: whose it is, or of which format.
_REFUSALS = (
    *(b"detected dubious ownership", b"unknown repository extension"),
    *(b"Expected git repo version", b"v1-only extension", b"not a git repository"),
)
_FATAL = ("fatal:", "error:")
_MOST_LINES = 5
_SECONDS = 60
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_INFINITE = float("inf")  # `math` is a library of its own in some Pythons

_NEVER_ASK = {
    "GIT_TERMINAL_PROMPT": "0",
    # Set but empty: no program, whatever the configuration or the desktop names.
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
}

# For `git status` of the code: without the worktrees that clients make within one.
OWN_FILES = (
    *("--", ".", ":(exclude,top).claude/worktrees"),
    *(":(exclude,top).gemini/worktrees", ":(exclude,top).qwen/worktrees"),
)

# For commands about the code: don't fetch what a partial clone lacks, because nobody
# waits for the network there. Before git 2.44 only the second one works.
NO_NETWORK = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}


class GitError(Exception):
    """git failed. The message is git's own; ``out`` and ``err`` are its complete
    output."""

    def __init__(self, message: str, out: bytes = b"", err: bytes = b"") -> None:
        super().__init__(message)
        self.out = out
        self.err = err


class GitKilledError(GitError):
    """git was killed and could not remove its lock files."""


class GitTimeoutError(GitKilledError):
    """git ran out of time and was ended."""


class GitRefusedError(GitError):
    """git opens no repository there, so its answer says nothing about one."""


class Git:
    """git in one repository: at ``folder``, or, if that is ``bare``, with --git-dir.

    Every git process inherits ``handle``, the caller's lock, which is therefore held
    until the last of them has ended, even if this process is killed. None runs for
    longer than ``longest``, by default a minute, or past ``until`` on the monotonic
    clock. ``options`` are options of git itself, such as ``-c core.autocrlf=input``.
    """

    def __init__(
        self,
        folder: str,
        env: Mapping[str, str],
        *,
        bare: bool = False,
        handle: int | None = None,
        until: float = _INFINITE,
        options: tuple[str, ...] = (),
    ) -> None:
        self.prefix: tuple[str, ...] = ("--git-dir", folder) if bare else ("-C", folder)
        self.handle = handle
        self.until = until
        # After ours: the last value of a setting wins.
        self.options: tuple[str, ...] = (*_OPTIONS, *options)
        self.longest: float = _SECONDS
        clean = {k: v for k, v in env.items() if k not in _LOCAL_VARIABLES}
        self.env = {**clean, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", **_NEVER_ASK}

    @classmethod
    def for_files(cls, folder: str, env: Mapping[str, str]) -> Git:
        """Return git for the files of a user's worktree: the user's own settings decide
        what they look like."""
        git = cls(folder, env)
        git.options = _SAFE_OPTIONS
        return git

    def duplicate(self) -> Git:
        """Return git with the same attributes, which can be changed."""
        # Not copy.copy: to import `copy` takes 4 ms. It tries to import a module of
        # Jython, for which Python searches all of sys.path.
        duplicate = object.__new__(Git)
        duplicate.__dict__.update(self.__dict__)
        return duplicate

    def run(
        self, *words: str, feed: Feed = b"", env: Mapping[str, str] = _NO_VARIABLES
    ) -> bytes:
        """Run git with these arguments. Returns its output. Raises GitError, and what
        the ``feed`` raises."""
        with self.start(*words, env=env) as running:
            return running.result(feed)

    def pieces(self, *words: str) -> Iterator[bytes]:
        """Run git with these arguments, and yield its output in pieces. Raises
        GitError."""
        with self.start(*words) as running:
            yield from running.pieces()

    def start(self, *words: str, env: Mapping[str, str] = _NO_VARIABLES) -> Running:
        """Start git with these arguments without waiting for it. Raises GitError."""
        seconds = min(self.longest, self.until - time.monotonic())
        if seconds <= 0:
            raise GitTimeoutError(f"there was no time left for git {_command(words)}")
        try:
            process = Process(
                ["git", *self.prefix, *self.options, *words],
                {**self.env, **env},
                self.handle,
            )
        except FileNotFoundError as error:
            raise GitError("git is not installed") from error
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror}") from error
        return Running(process, _command(words), seconds)

    def line(
        self, *words: str, feed: Feed = b"", env: Mapping[str, str] = _NO_VARIABLES
    ) -> str:
        """Run git. Returns its output as one line of text. Raises GitError."""
        return os.fsdecode(self.run(*words, feed=feed, env=env)).strip()


def _command(words: Sequence[str]) -> str:
    """The command among git's arguments: the first word after its options."""
    position = 0
    while words[position] == "-c":
        position += 2
    return words[position]


class Running:
    """A git process that may run for ``seconds`` from now. It ends with the block in
    which it is used, unless it was waited for."""

    def __init__(self, process: Process, word: str, seconds: float) -> None:
        self._process = process
        self._word = word
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        # What it printed to standard error, once it has ended.
        self.err = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End it, if it still runs: ^C does not reach git in its own group."""
        self._process.end()

    def result(self, feed: Feed = b"") -> bytes:
        """Wait for it to end. Returns its output. Raises GitError."""
        with self._timed() as seconds:
            code, out, self.err = self._process.communicate(feed, seconds)
        self._check(code, out)
        return out

    def pieces(self) -> Iterator[bytes]:
        """Yield its output in pieces, until it ends. Raises GitError, maybe at the
        end."""
        with self._timed() as seconds:
            code, self.err = yield from self._process.pieces(b"", seconds)
        self._check(code)

    @contextlib.contextmanager
    def _timed(self) -> Iterator[float]:
        """Yield the seconds that are left, and turn a TimeoutError in the block into a
        GitError."""
        try:
            yield max(0.0, self._deadline - time.monotonic())
        except TimeoutError as error:
            limit = max(0.1, round(self._seconds, 1))
            message = f"git {self._word} took longer than {limit:g} s"
            raise GitTimeoutError(message) from error

    def _check(self, code: int, out: bytes = b"") -> None:
        # A program that git talked to may have ended first; then git tidies up.
        if code < 0 and code != -SIGPIPE:
            raise GitKilledError(f"git {self._word} was killed")
        if code:
            message = _reason(self.err) or f"git {self._word} failed"
            kind = GitRefusedError if _is_refusal(self.err) else GitError
            raise kind(message, out, self.err)


def _is_refusal(stderr: bytes) -> bool:
    return any(text in stderr for text in _REFUSALS)


def _reason(stderr: bytes) -> str:
    """The part of git's output that gives the reason: the first fatal line, else the
    last line. Of what it goes on with, all up to the last line that is indented."""
    lines = [line for line in os.fsdecode(stderr).splitlines() if line.strip()]
    for place, line in enumerate(lines):
        if line.startswith(_FATAL):
            continued = _indented(lines[place + 1 :])
            parts = [line, *map(str.strip, continued[:_MOST_LINES])]
            parts += ["…"] if continued[_MOST_LINES:] else []
            return " ".join(parts).removeprefix("fatal: ")
    return (lines[-1:] or [""])[0]


def _indented(lines: Sequence[str]) -> Sequence[str]:
    """The lines up to the last indented one, before one with a label of its own."""
    end = 0
    for place, line in enumerate(lines):
        label, mark, _ = line.partition(": ")
        if mark and label.isalpha():
            break
        if line.startswith("\t"):
            end = place + 1
    return lines[:end]


def version(env: Mapping[str, str]) -> tuple[int, ...]:
    """The version of git, as numbers. Raises GitError if git is not installed."""
    words = Git(os.sep, env).line("version").split()
    numbers = words[2].split(".") if len(words) > 2 else []  # noqa: PLR2004
    return tuple(int(number) for number in numbers if number.isdecimal())
