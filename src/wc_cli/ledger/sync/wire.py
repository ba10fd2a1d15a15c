"""Transfers the store's branch from and to a remote: git fetch, git push.

Both name exactly what moves where, so the user's configuration of this remote cannot
move anything else. Nothing is ever forced. The user's git, ssh and credentials are
used, but never prompt.
"""

from __future__ import annotations

import math
import os
import time

from wc_cli.ledger.branch.git import Git, GitError, GitKilledError, GitTimeoutError
from wc_cli.ledger.sync import ssh
from wc_cli.ledger.sync.wireerrors import (
    DeclinedError,
    LeaseError,
    UnreachableError,
    WireError,
    classify,
)
from wc_core.base.layout import BRANCH
from wc_core.base.lean import contextlib, re
from wc_core.ledger.git import config, remotes
from wc_core.ledger.git.repository import is_object_id, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from wc_cli.ledger.branch.git import Running
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository

_REF = f"refs/heads/{BRANCH}"
_NO_BRANCH = b"couldn't find remote ref"
# git-push(1) "OUTPUT": the branch's previous commit, or that it is new.
# Flags are part of the patterns: a name such as re.MULTILINE would import `re`.
_PUSHED = re.compile(rb"(?m)^(?: \t[^\t\n]*\t(?P<before>[0-9a-f]+)\.\.|\*\t)")
_CREATED = re.compile(rb"(?m)^\*\t")
# Another clone moved a ref: noticed by our git, or by the remote's when it locks or
# moves the ref.
_LEASE_LOST = re.compile(
    rb"stale info|failed to update ref|cannot lock ref|incorrect old value"
    rb"|reference already exists|Unable to create '[^']*\.lock'"
)
_NOT_ATOMIC = b"does not support --atomic"
_SETTINGS = {
    "push.pushOption": "",  # such as: open a merge request
    # A dead connection ends git even if nobody is left to kill it.
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
}
# The commits of each branch that a shallow clone fetches.
_SHALLOW_DEPTH = 200
_FETCH = (
    *("--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head"),
    *("--no-auto-maintenance", "--refmap=", "--no-progress"),
    # Everything must be readable later without a network.
    "--no-filter",
)
_PUSH = (
    *("--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"),
    *("--recurse-submodules=no", "--no-progress"),
)


class Push:
    """A running push of a ``commit``. It ends with the block in which it is used,
    unless it was waited for."""

    def __init__(
        self, commit: str, running: Running, finish: Callable[[], bytes]
    ) -> None:
        self.commit = commit
        self._running = running
        self._finish = finish

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._running.__exit__(*details)

    def result(self) -> str:
        """Wait for it to end. Returns the previous commit of the remote's branch, at
        least its first characters; empty if the branch was created. Raises
        WireError."""
        pushed = _PUSHED.search(self._finish())
        return (pushed["before"] or b"").decode() if pushed else self.commit


class BranchesFetch:
    """A running fetch of branches. It ends with the block in which it is used, unless
    it was waited for."""

    def __init__(self, running: Running, finish: Callable[[], None]) -> None:
        self._running = running
        self._finish = finish
        self._problem: WireError | None = None
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._running.__exit__(*details)

    def wait(self) -> None:
        """Wait for it to end, however it does."""
        if not self._ended:
            self._ended = True
            try:
                self._finish()
            except WireError as error:
                self._problem = error

    def result(self) -> None:
        """Wait for it to end. Raises WireError if it failed."""
        self.wait()
        if self._problem is not None:
            raise self._problem


class Wire:
    """The connection between a repository and one remote.

    Every process ends by the ``until`` of ``git``. None inherits the lock of ``git``,
    so a lingering credential helper, or a git whose caller was killed, does no harm.
    """

    def __init__(self, git: Git, remote: Remote, repository: Repository) -> None:
        self.remote = remote
        self.repository = repository
        self.git = git.duplicate()
        self.git.handle = None
        if self.git.until < math.inf:
            self.git.longest = math.inf  # the caller has set a limit
        if self._is_relative():
            self.git.prefix = ("-C", remotes.home_folder(repository))

    def _is_relative(self) -> bool:
        """Return whether the remote's address depends on the folder git runs in."""
        addresses = self._configured("remote", "url").get(self.remote.name, [])
        return any(map(remotes.is_relative, addresses))

    def _configured(self, section: str, key: str) -> dict[str, list[str]]:
        """The values of a key of git's configuration, by remote or address."""
        return config.values(section, key, self.repository, self.git.env)

    def fetch(self, *, packed: bool = False) -> str:
        """Fetch the remote's branch, and move the tracking ref.

        Returns its commit; empty if the remote has no such branch, and then the
        tracking ref stays. If ``packed``, the received pack is kept as it is. Raises
        WireError.
        """
        refspec = f"+{_REF}:{self.remote.tracking}"
        settings = {"fetch.unpackLimit": "1"} if packed else {}
        words = ("fetch", *_FETCH, "--", self.remote.name, refspec)
        with self._classified_errors():
            try:
                self._run(words, settings)
            except GitError as error:
                if _NO_BRANCH in error.err:
                    return ""
                raise
            return self._tracked_commit()

    def _tracked_commit(self) -> str:
        """The tracking ref's commit, according to git."""
        tracking = f"{self.remote.tracking}^{{commit}}"
        try:
            return self.git.line("rev-parse", "--verify", "--quiet", tracking)
        except GitKilledError:
            raise
        except GitError as error:
            message = f"{self.remote.label}: its {BRANCH} is not a branch"
            hint = (
                "Ask for it to be removed there, or use another: WATERCOOLER_GIT_REPO=…"
            )
            raise WireError(message, hint) from error

    def push(self, commit: str) -> str:
        """Push a commit like `start_push`, and wait for it. Returns the same as
        `Push.result`. Raises WireError."""
        with self.start_push(commit) as push:
            return push.result()

    def start_push(self, commit: str) -> Push:
        """Start to move the remote's branch forward to a commit, or to create it there;
        the tracking ref follows, unless pushes go elsewhere than fetches. Raises
        WireError."""
        if not is_object_id(commit):
            raise ValueError(commit)  # an empty one would delete the branch
        began = time.monotonic()
        words = ("push", *_PUSH, "--", self.remote.name, f"{commit}:{_REF}")
        # If a mirror fetches branches into branches, git would move our own branch back
        # to the pushed commit. So tracking is off for this one.
        mirrored = not self._is_usual()
        settings = self._of_remote({"fetch": f"^{_REF}"}) if mirrored else {}
        tracked = self._tracking_ref()
        with self._classified_errors():
            running = self.git.start(*words, env=self._variables(settings))

        def finish() -> bytes:
            with self._classified_errors(began):
                output = running.result()
                self._track(commit, tracked, mirrored=mirrored)
            return output

        return Push(commit, running, finish)

    def _track(self, commit: str, before: str, *, mirrored: bool) -> None:
        """Set the tracking ref, which was at ``before``, after a push."""
        tracking = self.remote.tracking
        if not self.goes_elsewhere:
            if mirrored or self._tracking_ref() != commit:
                self.git.run("update-ref", "-m", "wc: pushed", tracking, commit)
        elif self._tracking_ref() != before:
            # The push says nothing about the place to fetch from, but git moved the
            # ref.
            undo = (tracking, before) if before else ("-d", tracking)
            self.git.run("update-ref", *undo)

    def is_known(self, commit: str) -> bool:
        """Return whether the place to which a commit would be pushed already has the
        branch. Raises WireError."""
        if not self.goes_elsewhere:
            return True
        words = ("push", "--dry-run", *_PUSH, "--", self.remote.name)
        with self._classified_errors():
            return not _CREATED.search(self._run((*words, f"{commit}:{_REF}"), {}))

    def fetch_refs(self, *refspecs: str) -> None:
        """Fetch all refs that match patterns; refs that the remote no longer has are
        removed here, too. Raises WireError."""
        words = [word for word in _FETCH if word != "--no-prune"]
        with self._classified_errors():
            command = ("fetch", *words, "--prune", "--", self.remote.name)
            self._run((*command, *refspecs), {})

    def start_fetch(self, refspecs: Sequence[str]) -> BranchesFetch:
        """Start to fetch the branches that match patterns, as deep as a shallow clone
        needs them, and as much of them as a partial clone wants. Raises WireError."""
        began = time.monotonic()
        options = [word for word in _FETCH if word != "--no-filter"]
        if os.path.isfile(f"{self.repository.common}/shallow"):
            options.append(f"--depth={_SHALLOW_DEPTH}")
        words = ("fetch", *options, "--", self.remote.name, *refspecs)
        with self._classified_errors():
            running = self.git.start(*words, env=self._variables({}))

        def finish() -> None:
            with self._classified_errors(began):
                running.result()

        return BranchesFetch(running, finish)

    def push_refs(self, refspecs: Sequence[str], leases: Mapping[str, str]) -> None:
        """Push refs, all or none. Each ref in ``leases`` must have that commit at the
        remote, or be missing if it is empty.

        Raises LeaseError if a lease does not hold, and otherwise WireError.
        """
        conditions = [f"--force-with-lease={ref}:{oid}" for ref, oid in leases.items()]
        # A single ref moves or does not, even at a remote without atomic pushes.
        atomic = ("--atomic",) if len(refspecs) > 1 else ()
        words = ("push", *atomic, *_PUSH, *conditions, "--", self.remote.name)
        with self._classified_errors():
            try:
                self.git.run(*words, *refspecs, env=self._variables({}))
            except GitError as error:
                if _LEASE_LOST.search(error.out + error.err):
                    message = f"{self.remote.label} has other claims now"
                    raise LeaseError(message, "Run the same command again.") from error
                if _NOT_ATOMIC in error.err:
                    message = f"{self.remote.label} does not take atomic pushes"
                    raise DeclinedError(message, "Nothing was pushed.") from error
                raise

    @property
    def goes_elsewhere(self) -> bool:
        """Whether pushes may go to another place than fetches come from."""
        name = self.remote.name
        pushed, fetched = (
            self._configured("remote", key) for key in ("pushurl", "url")
        )
        instead = self._configured("url", "pushinsteadof")
        return bool(instead) or name in pushed or len(fetched.get(name, ())) > 1

    def _is_usual(self) -> bool:
        """Return whether git fetches the remote's branches as after git-clone(1). Then
        git itself knows which ref tracks a pushed branch."""
        name = self.remote.name
        usual = f"refs/remotes/{name}/"
        tracks = self.remote.tracking == f"{usual}{BRANCH}"
        refspecs = self._configured("remote", "fetch").get(name)
        return tracks and refspecs == [f"+refs/heads/*:{usual}*"]

    def _tracking_ref(self) -> str:
        """The tracking ref's commit, read without git."""
        return resolve(self.repository, self.remote.tracking)

    @contextlib.contextmanager
    def _classified_errors(self, began: float = math.inf) -> Iterator[None]:
        """Turn a git error in the block into a WireError. The request was made when the
        block ``began``, or earlier."""
        began = min(began, time.monotonic())
        try:
            yield
        except WireError:
            raise
        except GitTimeoutError as error:
            seconds = round(time.monotonic() - began)
            limit = f"within {seconds} s" if seconds else "in time"
            raise UnreachableError(
                f"{self.remote.label} did not answer {limit}",
                "Your entries are safe here; the next sync sends them.",
            ) from error
        except GitError as error:
            raise classify(error, self.remote, self.git.env) from error

    def _run(self, words: Sequence[str], settings: Mapping[str, str]) -> bytes:
        """Run a git command that contacts the remote, with additional git
        ``settings``."""
        return self.git.run(*words, env=self._variables(settings))

    def _variables(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The variables for a git command that contacts the remote."""
        return {**self._ssh_env(), **self._settings_env(settings)}

    def _ssh_env(self) -> dict[str, str]:
        """The variable for the ssh to use, if git's own choice is wrong."""
        try:
            command = ssh.ssh_command(self.repository, self.git.env)
        except OSError as error:
            message = f"the key of {ssh.KEY} cannot be used: {error.strerror}"
            hint = f"Name the file of a private key, or unset {ssh.KEY}."
            raise WireError(message, hint) from error
        return {"GIT_SSH_COMMAND": command} if command else {}

    def _of_remote(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Settings of this remote, by their full keys."""
        name = self.remote.name
        return {f"remote.{name}.{key}": value for key, value in settings.items()}

    def _settings_env(self, extra: Mapping[str, str]) -> dict[str, str]:
        """Variables with settings that override the user's. Unlike a command line, they
        can name any remote."""
        own = self._of_remote({"mirror": "false", "followRemoteHEAD": "never"})
        settings = {**_SETTINGS, **own, **extra}
        first = config.count(self.git.env)
        result = {"GIT_CONFIG_COUNT": str(first + len(settings))}
        for index, (key, value) in enumerate(settings.items(), first):
            result[f"GIT_CONFIG_KEY_{index}"] = key
            result[f"GIT_CONFIG_VALUE_{index}"] = value
        return result
