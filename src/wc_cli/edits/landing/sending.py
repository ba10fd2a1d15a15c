"""The remote's side of a landing: fetching its branch, moving it by compare-and-swap,
and pull requests."""

from __future__ import annotations

import itertools

from wc_cli.edits.landing import programs
from wc_cli.ledger.branch.git import Git, GitError, GitTimeoutError
from wc_cli.ledger.sync import ssh
from wc_core.base.errors import (
    ConflictError,
    NotFoundError,
    OfflineError,
    StorageError,
    WcError,
)
from wc_core.base.lean import contextlib, json, re
from wc_core.base.text import clean, one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config, remotes
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

_SECONDS = 120.0
_PROTECTED = re.compile(
    r"GH006|protected branch|not allowed to push|TF402455|deny(?:ing)? updating"
    r"|prohibited by Gerrit",
    re.IGNORECASE,
)
_HOOK = re.compile(r"hook declined|GL-HOOK-ERR")
# What `git push --porcelain` prints for a branch that does not move.
_REFUSED = re.compile(r"^!\t.*\t\[remote rejected\](?: \((.*)\))?$", re.MULTILINE)
_MOVED = re.compile(r"stale info|non-fast-forward|fetch first|cannot lock ref")
_UNREADABLE = "fatal: Could not read from remote repository"
_ADDRESS = re.compile(r"https?://\S+")
_GITHUB = re.compile(r"(?:https://|git@|ssh://git@)(github\.com)[:/](.+?)(?:\.git)?/?$")


class RemoteMovedError(ConflictError):
    """The branch at the remote is no longer at the commit that was built on."""


class ProtectedError(ConflictError):
    """The remote does not let this branch be pushed: it is protected, or a hook
    refused it."""


class PullRequest(NamedTuple):
    """A pull request, or where to open one. ``number`` is 0 if there is none yet;
    ``address`` may be empty."""

    number: int
    address: str
    is_new: bool = False


class RemoteBase:
    """The branch on which others land, at a remote of the code."""

    def __init__(
        self, repository: Repository, env: Mapping[str, str], branch: str, name: str
    ) -> None:
        self.repository = repository
        self.env = env
        self.branch = branch
        self.name = name

    @classmethod
    def find(
        cls, repository: Repository, env: Mapping[str, str], branch: str
    ) -> RemoteBase:
        """Return the remote that a branch is pushed to: its own, else ``origin`` or the
        only one. Raises NotFoundError."""
        configured = remotes.names(repository, env)
        own = [
            config.get(key, repository, env)
            for key in (
                f"branch.{branch}.pushRemote",
                "remote.pushDefault",
                f"branch.{branch}.remote",
            )
        ]
        usual = configured if len(configured) == 1 else ["origin"]
        for name in (*own, *usual):
            if name in configured:
                return cls(repository, env, branch, name)
        raise NotFoundError(
            f"There is no remote to push {one_line(branch)} to.",
            f"Name one: git config branch.{one_line(branch)}.remote NAME",
        )

    @property
    def tracking(self) -> str:
        """The ref of the branch as it was fetched."""
        return f"refs/remotes/{self.name}/{self.branch}"

    def fetch(self) -> str:
        """Fetch the branch. Returns its commit; empty if the remote has none. Raises
        OfflineError."""
        if not self._has(self.branch):
            return ""
        spec = f"+refs/heads/{self.branch}:{self.tracking}"
        try:
            words = ("--quiet", "--no-tags", "--no-recurse-submodules", "--")
            self._git().run("fetch", *words, self.name, spec)
        except GitError as error:
            raise self._offline(error) from error
        return repositories.resolve(self.repository, self.tracking)

    def _has(self, branch: str) -> bool:
        """Ask the remote whether it has a branch. Raises OfflineError."""
        ref = f"refs/heads/{branch}"
        try:
            listed = self._git().run("ls-remote", "--", self.name, ref).decode()
        except GitError as error:
            raise self._offline(error) from error
        return any(line.endswith(f"\t{ref}") for line in listed.splitlines())

    def push(self, commit: str, expected: str) -> None:
        """Move the branch at the remote from ``expected`` (empty: it has none) to a
        commit. Raises RemoteMovedError, ProtectedError, ConflictError and OfflineError;
        then it has not moved, unless the remote did not answer."""
        ref = f"refs/heads/{self.branch}"
        lease = f"--force-with-lease={ref}:{expected}"
        self._push(lease, f"{commit}:{ref}")

    def push_branch(self, branch: str, commit: str) -> str:
        """Send a thread's branch, as it is, unless someone else has moved it. Returns
        what the remote said. Raises as `push`."""
        ref = f"refs/heads/{branch}"
        expected = repositories.resolve(
            self.repository, f"refs/remotes/{self.name}/{branch}"
        )
        spec = f"{commit}:{ref}"
        try:
            return self._push(f"--force-with-lease={ref}:{expected}", spec)
        except RemoteMovedError as error:
            if self._has(branch):
                name, at = one_line(branch), one_line(self.name)
                raise RemoteMovedError(
                    f"{name} at {at} has commits of someone else.",
                    f"Bring them together first: git pull {at} {name}",
                ) from error
        # It was deleted there.
        return self._push(f"--force-with-lease={ref}:", spec)

    def _push(self, lease: str, spec: str) -> str:
        words = ("push", "--porcelain", "--atomic", lease, "--", self.name, spec)
        git = self._git()
        try:
            with git.start(*words) as running:
                running.result()
                return clean(running.err.decode(errors="replace"))
        except GitError as error:
            text = (error.out + b"\n" + error.err).decode(errors="replace")
            raise self._refusal(error, text, spec) from error

    def _refusal(self, error: GitError, text: str, spec: str) -> WcError:
        branch = spec.rpartition("refs/heads/")[2]
        place = f"{one_line(branch)} at {one_line(self.name)}"
        if isinstance(error, GitTimeoutError):
            return OfflineError(
                f"{one_line(self.name)} did not answer in time, so it is not known "
                f"whether {place} has moved.",
                f"See what it has: git fetch {one_line(self.name)}. Then try again",
            )
        is_protected = _PROTECTED.search(text)
        if is_protected or _HOOK.search(text):
            reason = _said(text)
            because = f": {reason}" if reason else ""
            kind = "is protected" if is_protected else "was refused by a hook there"
            return ProtectedError(
                f"{place} {kind}{because}.",
                "Open a pull request instead: wc land --pr",
            )
        if _MOVED.search(text):
            return RemoteMovedError(f"{place} has moved.", "Try again: wc land --push")
        if refused := _REFUSED.search(text):
            reason = one_line(refused[1] or "it did not say why", 200)
            return ConflictError(
                f"The remote refused to move {place}: {reason}.",
                "Ask who runs it. Or open a pull request: wc land --pr",
            )
        return self._offline(error, "push")

    def _offline(self, error: GitError, word: str = "fetch") -> OfflineError:
        message = remotes.anonymous(one_line(_reason(error))).rstrip(".")
        return OfflineError(
            f"The remote {one_line(self.name)} could not be used: {message}.",
            f"Try it by hand: git {word} {one_line(self.name)}",
        )

    def _git(self) -> Git:
        env = dict(self.env)
        with contextlib.suppress(FileNotFoundError):
            command = ssh.ssh_command(self.repository, self.env)
            if command:
                env["GIT_SSH_COMMAND"] = command
        git = Git.for_files(self.repository.common, env)
        git.prefix = ("--git-dir", self.repository.common)
        git.longest = _SECONDS
        return git

    # --- pull requests ------------------------------------------------------------

    def pull_request(
        self, branch: str, title: str, body: str, said: str
    ) -> PullRequest:
        """Open a pull request for a branch that was pushed, or find the one that is
        open, with GitHub's ``gh``. Without it, return the address where to open one, as
        far as it is known: the remote ``said`` it, or it is GitHub. Raises
        StorageError if ``gh`` fails."""
        folder = self.repository.top or self.repository.common
        view = ("pr", "view", branch, "--json", "number,url,state")
        try:
            _, out, _ = programs.run_github(view, folder, self.env)
        except NotFoundError:
            return PullRequest(0, self._address(branch, said))
        with contextlib.suppress(ValueError, TypeError, LookupError):
            fields = json.loads(out)
            if fields["state"] == "OPEN":
                return PullRequest(int(fields["number"]), str(fields["url"]))
        words = ("--head", branch, "--base", self.branch, "--title", title)
        create = ("pr", "create", *words, "--body", body)
        code, out, err = programs.run_github(create, folder, self.env)
        addresses = _ADDRESS.findall(out)
        if code or not addresses:
            lines = err.strip().splitlines() or ["it said nothing"]
            raise StorageError(
                f"gh could not open a pull request: {one_line(lines[-1])}.",
                f"The branch is pushed. Try it yourself: gh pr create --head {branch}",
            )
        number = addresses[-1].rstrip("/").rpartition("/")[2]
        is_number = number.isdecimal()
        return PullRequest(int(number) if is_number else 0, addresses[-1], is_new=True)

    def _address(self, branch: str, said: str) -> str:
        """Return where a pull request can be opened; empty if that is unknown."""
        lines = [line for line in said.splitlines() if line.startswith("remote:")]
        for line in lines:
            if found := _ADDRESS.search(line):
                return found[0]
        url = config.get(f"remote.{self.name}.url", self.repository, self.env)
        match = _GITHUB.match(url)
        if match is None:
            return ""
        path = f"compare/{self.branch}...{branch}?expand=1"
        return f"https://{match[1]}/{match[2]}/{path}"


def _reason(error: GitError) -> str:
    """Return why a remote could not be reached: what ssh says, if git only says that it
    could not read."""
    lines = [line for line in error.err.decode(errors="replace").splitlines() if line]
    for before, line in itertools.pairwise(lines):
        if line.startswith(_UNREADABLE):
            return before
    return str(error)


def _said(text: str) -> str:
    """Return the line in which a remote says why it refused; empty if it does not."""
    for line in text.splitlines():
        said = line.removeprefix("remote:").strip().removeprefix("error:").strip()
        if line.startswith("remote:") and said:
            return one_line(said, 200).rstrip(".")
    return ""
