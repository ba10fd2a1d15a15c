"""Classifies what git prints when a remote fails: unreachable, refused, rejected."""

from __future__ import annotations

import os

from wc_cli.ledger.branch.git import GitError, GitKilledError
from wc_core.base.lean import re
from wc_core.base.text import one_line
from wc_core.ledger.git.remotes import anonymous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.remotes import Remote

_WIDTH = 300


class WireError(GitError):
    """A problem on our side, or an unknown one. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class UnreachableError(WireError):
    """The remote, or the repository there, could not be reached."""


class SilentError(UnreachableError):
    """The remote did not answer a push: it may have moved the refs."""


class RefusedError(WireError):
    """The remote, or git, does not permit the operation."""


class DeclinedError(RefusedError):
    """The remote takes pushes, but not this one, for example to a protected branch, or
    several refs at once."""


class RejectedError(WireError):
    """The remote's branch has moved since the last fetch: fetch again."""


class LeaseError(WireError):
    """Another clone moved a ref of the remote first: nothing was pushed."""


_SAFE = "Your entries are safe here; the next sync sends them."
_LATER = f"{_SAFE} Try again later."
_ADDRESS = f"{_SAFE} Is the address right, and do you have access? git remote -v"
_KNOWN = f"{_SAFE} Connect once by hand, so that ssh knows the host: ssh -T HOST"
_CERTIFICATE = f"{_SAFE} Ask whoever runs the host for a valid certificate."
_KEY = f"{_SAFE} Load your key (ssh-add), or name one: WATERCOOLER_GIT_SSH_KEY=~/.ssh/…"
_LOGIN = (
    f"{_SAFE} Log in once by hand, so that git's credential helper has a token: "
    "git ls-remote"
)
_RIGHTS = (
    f"{_SAFE} Ask the owner of the remote for permission to push the branch "
    "watercooler/threads, or use another: WATERCOOLER_GIT_REPO=…"
)
_OWNER = f"{_SAFE} If you trust it: git config --global --add safe.directory …"
_TRANSPORT = "Use an address with https or ssh, or a path."
_OTHER_BRANCH = (
    f"{_SAFE} A branch named watercooler is in the way; rename it there, or use "
    "another remote: WATERCOOLER_GIT_REPO=…"
)
_CHECKED_OUT = (
    f"{_SAFE} Someone has that repository's branch checked out: use a bare one, "
    "WATERCOOLER_GIT_REPO=…"
)
_AGAIN = "Fetch, merge and push again: wc sync"
_LOCAL = "See: wc doctor"
# What git prints if an outdated tracking branch is in the way of a new one. It names
# the command only where that branch is not packed, as it is in a new clone.
_OUTDATED = r"'refs/remotes/[^']*' exists; cannot create|git remote prune"
_UNKNOWN = f"{_SAFE} Try it by hand, to see everything that git prints: git fetch"

# The first match decides. Lines from the other side ("remote: …") are distinguished
# from local errors. The patterns are compiled only after a failure.
_LOCAL_FAULT = (
    r"(?m)^(?!remote:|error: remote )[^\n]*(?:No space left|Read-only file system"
    r"|Disk quota|[Uu]nable to create '|cannot lock ref|bad object|src refspec"
    r"|unable to (?:write|create|update)|insufficient permission for adding"
    r"|local refs could not be updated|not a valid object)"
)
_SORTS: tuple[tuple[type[WireError], str, str], ...] = (
    (UnreachableError, r"Host key verification failed|HOST IDENTIFICATION", _KNOWN),
    (RefusedError, r"Permission denied \((?:\w|[,-])+\)", _KEY),
    (
        RefusedError,
        (
            r"Authentication failed|could not read (?:Username|Password)"
            r"|returned error: 401|HTTP(?: Basic: Access denied|\S* 401)"
        ),
        _LOGIN,
    ),
    (
        RefusedError,
        (
            r"returned error: (?:403|405|413)|HTTP\S* (?:403|413)|service not enabled"
            r"|git-http-push failed|return code 22|remote unpack failed"
            r"|Permission to .* denied|marked as read.only|not allowed to"
            r"|[Aa]ccess denied(?! or repository)|[Pp]ermission denied"
        ),
        _RIGHTS,
    ),
    (RefusedError, r"dubious ownership", _OWNER),
    (
        RefusedError,
        r"transport '.*' not allowed|'remote-.*' is not a git command",
        _TRANSPORT,
    ),
    (
        UnreachableError,
        (
            r"does not appear to be a git repository|[Rr]epository\b.* not found"
            r"|not exported|returned error: 404|is this a git repository|does not exist"
        ),
        _ADDRESS,
    ),
    (UnreachableError, r"[Cc]ertificate", _CERTIFICATE),
    (
        UnreachableError,
        (
            r"[Cc]ould ?n.t (?:resolve|connect)|Could not resolve|Name or service"
            r"|[Nn]ame resolution|unable to (?:look up|connect|access)|[Tt]imed out"
            r"|Connection (?:refused|reset|closed)|unreachable|No route to host"
            r"|Failed to connect|Broken pipe|hung up|early EOF|unexpected disconnect"
            r"|RPC failed|transfer closed|Empty reply|Recv failure|too slow"
            r"|failed to report status|Could not read from remote repository"
        ),
        _LATER,
    ),
)
_RACE = (
    r"but expected|reference already exists|incorrect old value|\.lock': File exists"
)
_REJECTED = rb"(?m)^!\t[^\t\n]*\t\[rejected\]"
_DECLINED = rb"(?m)^!\t[^\t\n]*\t\[remote rejected\] \((.*)\)$"


def classify(error: GitError, remote: Remote, env: Mapping[str, str]) -> WireError:
    """The kind of error of a failed git fetch or push."""
    text = os.fsdecode(error.err)
    if re.search(_REJECTED, error.out):
        message = f"{remote.label} has entries that are not here yet"
        return RejectedError(message, _AGAIN)
    if isinstance(error, GitKilledError):
        return WireError(f"{remote.label}: {error}", _LATER)
    if re.search(_LOCAL_FAULT, text):
        prune = f"Run: git remote prune {remote.label}"
        hint = prune if re.search(_OUTDATED, text) else _LOCAL
        return WireError(f"{remote.label}: {_presentable(str(error), env)}", hint)
    declined = re.search(_DECLINED, error.out)
    if declined:
        return _declined(os.fsdecode(declined[1]), text, remote, env)
    for kind, pattern, hint in _SORTS:
        match = re.search(pattern, text)
        if match:
            line = _presentable(_line_at(text, match), env)
            return kind(f"{remote.label}: {line}", hint)
    return WireError(f"{remote.label}: {_presentable(str(error), env)}", _UNKNOWN)


def _declined(
    reason: str, text: str, remote: Remote, env: Mapping[str, str]
) -> WireError:
    """The error for a remote that accepted the commits but did not move its branch."""
    if re.search(_RACE, f"{reason}\n{text}"):
        return RejectedError(f"{remote.label} was changed in the meantime", _AGAIN)
    detail = _informative_line(text)
    hint = _RIGHTS
    if "checked out" in reason:
        hint = _CHECKED_OUT
    elif "cannot create" in f"{reason}{detail}":
        hint = _OTHER_BRANCH
    message = _presentable(f"{reason}: {detail}" if detail else reason, env)
    return DeclinedError(f"{remote.label} refused: {message}", hint)


def _informative_line(text: str) -> str:
    """The most informative line from the other side: its first error, otherwise its
    first line."""
    lines = [line for line in text.splitlines() if line.startswith("remote:")]
    lines = [line.removeprefix("remote:").strip() for line in lines]
    lines = [line for line in lines if line and "hook declined" not in line]
    errors = (line for line in lines if line.startswith(("error", "fatal")))
    return next(errors, "") or "".join(lines[:1])


def _line_at(text: str, match: re.Match[str]) -> str:
    """The line in which a match begins."""
    start = text.rfind("\n", 0, match.start()) + 1
    return text[start:].partition("\n")[0].removeprefix("fatal: ")


def _presentable(text: str, env: Mapping[str, str]) -> str:
    """Git's words without credentials and home folder, on one line."""
    home = env.get("HOME", "")
    text = anonymous(text)
    if len(home) > 1:
        text = text.replace(f"{home}/", "~/")
    return one_line(text, _WIDTH).rstrip(".")
