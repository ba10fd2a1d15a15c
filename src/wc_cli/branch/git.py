"""The only code that runs git.

Hooks are off, nothing prompts, and what git starts ends with it.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# git --local-env-vars: what a hook or an alias of another repository leaves
# in the environment must not redirect us.
_LOCAL_VARIABLES = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"}
    | {"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG"}
    | {"GIT_CONFIG_PARAMETERS", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE"}
    | {"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE"}
    | {"GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_LITERAL_PATHSPECS"}
)
_OPTIONS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.autocrlf=false"),
    *("-c", "core.sparseCheckout=false"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "gc.autoDetach=false"),
    # Else a commit says that it is in what it is not.
    *("-c", "i18n.commitEncoding=UTF-8"),
    # Its daemon would outlive us, with the lock that it inherits.
    *("-c", "core.fsmonitor=false"),
    *("-c", "credential.interactive=false"),
)
_SECONDS = 60
# git removes its lock files when it is asked to end.
_LAST_SECONDS = 0.5
_PAUSE = 0.01


_NEVER_ASK = {
    "GIT_TERMINAL_PROMPT": "0",
    # Set, but empty: none, whatever the configuration or a desktop says.
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
}


class GitError(Exception):
    """git said no; the text is git's own, without paths of ours.

    ``out`` and ``err`` are all that it printed.
    """

    def __init__(self, message: str, out: bytes = b"", err: bytes = b"") -> None:
        super().__init__(message)
        self.out = out
        self.err = err


class GitKilledError(GitError):
    """git did not end by itself, so it could not tidy up after itself."""


class GitTimeoutError(GitKilledError):
    """git was ended by us, for there was no more time."""


class Git:
    """git in one repository: at ``folder``, or with ``--git-dir``.

    Every git inherits ``handle``, the lock of whoever runs it: it is held
    until the last of them has ended, even if we are killed. None runs for
    longer than ``longest``, a minute, or past ``until`` on the monotonic clock.
    """

    def __init__(
        self,
        where: str,
        env: Mapping[str, str],
        *,
        bare: bool = False,
        handle: int | None = None,
        until: float = math.inf,
    ) -> None:
        self.prefix = ("--git-dir", where) if bare else ("-C", where)
        self.inherited = () if handle is None else (handle,)
        self.until = until
        self.longest: float = _SECONDS
        clean = {k: v for k, v in env.items() if k not in _LOCAL_VARIABLES}
        self.env = {
            **clean,
            "LC_ALL": "C",
            "GIT_OPTIONAL_LOCKS": "0",
            **_NEVER_ASK,
            **_author(env),
        }

    def run(self, *words: str, feed: bytes = b"", env: Mapping[str, str] = {}) -> bytes:
        """What git prints. Raises GitError."""
        seconds = min(self.longest, self.until - time.monotonic())
        if seconds <= 0:
            raise GitTimeoutError(f"there was no time left for git {words[0]}")
        try:
            git = subprocess.Popen(  # noqa: S603 - words of ours, no shell
                ["git", *self.prefix, *_OPTIONS, *words],  # noqa: S607
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self.env, **env},
                pass_fds=self.inherited,
                # A group of its own: what git starts ends with it.
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise GitError("git is not installed") from error
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror}") from error
        with git:
            try:
                out, err = git.communicate(feed, seconds)
            except subprocess.TimeoutExpired as error:
                _end(git.pid)
                message = f"git {words[0]} took over {seconds:.0f} s"
                raise GitTimeoutError(message) from error
            except BaseException:  # ^C, which git in its own group does not get
                _end(git.pid)
                raise
        if git.returncode < 0:
            raise GitKilledError(f"git {words[0]} was killed")
        if git.returncode:
            raise GitError(_reason(err) or f"git {words[0]} failed", out, err)
        return out

    def line(self, *words: str, feed: bytes = b"", env: Mapping[str, str] = {}) -> str:
        """What git prints, as one line of text."""
        return os.fsdecode(self.run(*words, feed=feed, env=env)).strip()


def _end(leader: int) -> None:
    """End a process group, its leader being a child that nobody waits for."""
    deadline = time.monotonic() + _LAST_SECONDS
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.killpg(leader, signal.SIGTERM)
        while not os.waitid(os.P_PID, leader, how) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        os.killpg(leader, signal.SIGKILL)


def _reason(stderr: bytes) -> str:
    """The sentence of git's that says why: its first fatal one, else its last."""
    lines = [one for one in os.fsdecode(stderr).splitlines() if one.strip()]
    fatal = [one for one in lines if one.startswith(("fatal:", "error:"))]
    return (fatal[:1] or lines[-1:] or [""])[0].removeprefix("fatal: ")


def _author(env: Mapping[str, str]) -> dict[str, str]:
    """Our own variables for whose name stands on commits."""
    result: dict[str, str] = {}
    for ours, part in (("AUTHOR", "NAME"), ("EMAIL", "EMAIL")):
        value = env.get(f"WATERCOOLER_GIT_{ours}", "")
        if value:
            result |= {f"GIT_AUTHOR_{part}": value, f"GIT_COMMITTER_{part}": value}
    return result


def version(env: Mapping[str, str]) -> tuple[int, ...]:
    """The version of git, as numbers. Raises GitError without git."""
    words = Git(os.sep, env).line("version").split()
    numbers = words[2].split(".") if len(words) > 2 else []  # noqa: PLR2004
    return tuple(int(one) for one in numbers if one.isdecimal())
