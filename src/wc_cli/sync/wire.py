"""The branch of the store on its way from and to a remote: git fetch, git push.

Both name exactly what they move and where to, so nothing that the user's
configuration says of this remote moves anything else. Nothing is ever forced.
They are the user's git, ssh and credentials, but they never ask.
"""

from __future__ import annotations

import contextlib
import copy
import math
import re
import time
from typing import TYPE_CHECKING

from wc_cli.branch.git import Git, GitError, GitKilledError, GitTimeoutError
from wc_cli.sync import ssh
from wc_cli.sync.wireerrors import UnreachableError, WireError, sorted_out
from wc_core.git import config, remotes, repository
from wc_core.layout import BRANCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.git.remotes import Remote
    from wc_core.git.repository import Repository

_REF = f"refs/heads/{BRANCH}"
_NO_BRANCH = b"couldn't find remote ref"
_ID = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
# git-push(1) "OUTPUT": where the branch was, or that it is new.
_TAKEN = re.compile(rb"^(?: \t[^\t\n]*\t(?P<before>[0-9a-f]+)\.\.|\*\t)", re.MULTILINE)
_MADE = re.compile(rb"^\*\t", re.MULTILINE)
_SETTINGS = {
    "push.pushOption": "",  # such as: open a merge request
    # A line that is dead is noticed even if nobody is left to kill us.
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
}
_FETCH = (
    *("--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head"),
    *("--no-auto-maintenance", "--refmap=", "--no-progress"),
    # All of it is to be read, later and without a network.
    "--no-filter",
)
_PUSH = (
    *("--porcelain", "--no-verify", "--no-signed", "--no-follow-tags"),
    *("--recurse-submodules=no", "--no-progress"),
)


class Wire:
    """The way between a repository and one remote.

    Whatever is started ends by the ``until`` of ``git``. It does not inherit
    its lock: a helper for credentials may stay on, and a git whose caller was
    killed may wait for a remote for long; neither can do any harm.
    """

    def __init__(self, git: Git, remote: Remote) -> None:
        self.remote = remote
        self.settings = dict(_SETTINGS)
        self.git = copy.copy(git)
        self.git.inherited = ()
        if self.git.until < math.inf:
            self.git.longest = math.inf  # whoever waits has said for how long
        self.where = repository.find(git.prefix[1])
        if self.where is not None and self._is_relative(self.where):
            self.git.prefix = ("-C", remotes.home_folder(self.where))

    def _is_relative(self, where: Repository) -> bool:
        """Whether the remote's address depends on the folder git runs in."""
        known = config.values("remote", "url", where, self.git.env)
        return any(map(remotes.is_relative, known.get(self.remote.name, [])))

    def fetch(self, *, packed: bool = False) -> str:
        """The commit that the remote's branch is at, its tracking ref moved
        there; empty where the remote has no such branch, the tracking ref left
        where it was. ``packed``: what comes stays the pack it comes as. Raises
        WireError."""
        refspec = f"+{_REF}:{self.remote.tracking}"
        if packed:
            self.settings["fetch.unpackLimit"] = "1"
        with self._sorted_out():
            try:
                self._run("fetch", *_FETCH, "--", self.remote.name, refspec)
            except GitError as error:
                if _NO_BRANCH in error.err:
                    return ""
                raise
            return self._commit()

    def _commit(self) -> str:
        """The commit that the tracking ref is at."""
        tracking = f"{self.remote.tracking}^{{commit}}"
        try:
            return self.git.line("rev-parse", "--verify", "--quiet", tracking)
        except GitKilledError:
            raise
        except GitError as error:
            message = f"{self.remote.shown}: its branch {BRANCH} is none"
            hint = "Have it removed there, or use another: WATERCOOLER_GIT_REPO=…"
            raise WireError(message, hint) from error

    def push(self, commit: str) -> str:
        """Move the remote's branch forward to a commit, made where there is
        none, and its tracking ref with it, unless it goes elsewhere. Where it
        was, at least the first characters of that; empty where it was made.
        Raises WireError."""
        if not _ID.fullmatch(commit):
            raise ValueError(commit)  # an empty one would delete the branch
        words = ("push", *_PUSH, "--", self.remote.name, f"{commit}:{_REF}")
        # Where a mirror fetches branches into branches, git would move our own
        # back to what it pushed: it is told not to track this one.
        more = {} if self._is_usual() else {"fetch": f"^{_REF}"}
        had = self._tracked()
        with self._sorted_out():
            out = self._run(*words, **more)
            tracking = self.remote.tracking
            if self.goes_elsewhere:
                # That says nothing of where one fetches from, but git moves it.
                if self._tracked() != had:
                    undo = (tracking, had) if had else ("-d", tracking)
                    self.git.run("update-ref", *undo)
            elif more or self._tracked() != commit:
                self.git.run("update-ref", "-m", "wc: pushed", tracking, commit)
        taken = _TAKEN.search(out)
        return (taken["before"] or b"").decode() if taken else commit

    def is_known(self, commit: str) -> bool:
        """Whether wherever a push of that commit goes to has the branch already:
        that may be elsewhere than where one fetches from. Raises WireError."""
        if not self.goes_elsewhere:
            return True
        words = ("push", "--dry-run", *_PUSH, "--", self.remote.name)
        with self._sorted_out():
            return not _MADE.search(self._run(*words, f"{commit}:{_REF}"))

    @property
    def goes_elsewhere(self) -> bool:
        """Whether what is pushed may go to where nothing is fetched from."""
        name, env = self.remote.name, self.git.env
        pushed = config.values("remote", "pushurl", self.where, env)
        fetched = config.values("remote", "url", self.where, env)
        instead = config.values("url", "pushinsteadof", self.where, env)
        return bool(instead) or name in pushed or len(fetched.get(name, ())) > 1

    def _is_usual(self) -> bool:
        """Whether git fetches the remote's branches as it does after git-clone(1):
        then it knows itself which ref tracks one that was pushed."""
        known = config.values("remote", "fetch", self.where, self.git.env)
        name = self.remote.name
        usual = f"refs/remotes/{name}/"
        tracks = self.remote.tracking == f"{usual}{BRANCH}"
        return tracks and known.get(name) == [f"+refs/heads/*:{usual}*"]

    def _tracked(self) -> str:
        """Where the tracking ref is, as far as one sees without git."""
        if self.where is None:
            return ""
        return repository.resolve(self.where, self.remote.tracking)

    @contextlib.contextmanager
    def _sorted_out(self) -> Iterator[None]:
        """What git says in the block becomes one of our errors."""
        try:
            yield
        except WireError:
            raise
        except GitError as error:
            raise sorted_out(error, self.remote, self.git.env) from error

    def _run(self, *words: str, **settings: str) -> bytes:
        """A git that asks the remote; ``settings`` of this remote are added."""
        began = time.monotonic()
        env = {**self._ssh(), **self._settings(settings)}
        try:
            return self.git.run(*words, env=env)
        except GitTimeoutError as error:
            seconds = round(time.monotonic() - began)
            limit = f"within {seconds} s" if seconds else "in time"
            raise UnreachableError(
                f"{self.remote.shown} did not answer {limit}",
                "Your entries are safe here; the next sync sends them.",
            ) from error

    def _ssh(self) -> dict[str, str]:
        """The ssh to be used, where git's own choice will not do."""
        try:
            command = ssh.command(self.where, self.git.env)
        except OSError as error:
            message = f"the key of {ssh.KEY} cannot be used: {error.strerror}"
            hint = f"Name the file of a private key, or unset {ssh.KEY}."
            raise WireError(message, hint) from error
        return {"GIT_SSH_COMMAND": command} if command else {}

    def _settings(self, more: Mapping[str, str]) -> dict[str, str]:
        """Settings stronger than the user's. The environment can have a remote
        with any name, a command line cannot."""
        ours = {"mirror": "false", "followRemoteHEAD": "never", **more}
        prefix = f"remote.{self.remote.name}."
        settings = {**self.settings, **{f"{prefix}{key}": ours[key] for key in ours}}
        first = config.count(self.git.env)
        result = {"GIT_CONFIG_COUNT": str(first + len(settings))}
        for index, (key, value) in enumerate(settings.items(), first):
            result[f"GIT_CONFIG_KEY_{index}"] = key
            result[f"GIT_CONFIG_VALUE_{index}"] = value
        return result
