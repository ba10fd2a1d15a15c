"""Stand-ins for the places where agents work in the cloud: what is cloned there, what
may be pushed, and what the environment says."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, NamedTuple

from tests.conftest import Machine, Repo

if TYPE_CHECKING:
    from pathlib import Path

_HOOK = """\
#!/bin/sh
while read old new ref; do
  case $ref in
    {}) ;;
    *) echo "403: $ref" >&2; exit 1 ;;
  esac
done
"""
_NOTHING = "none"


class Place(NamedTuple):
    """A place: its agent, the branch it works on, what its remote accepts, and what its
    environment has."""

    agent: str
    branch: str
    accepts: str
    env: dict[str, str]
    user: str = ""

    @property
    def has_remote(self) -> bool:
        return self.accepts != _NOTHING


CLAUDE = Place(
    "Claude Code",
    "claude/fix",
    "refs/heads/claude/*",
    {"CLAUDECODE": "1", "CLAUDE_CODE_REMOTE": "true"},
    "Claude <noreply@anthropic.com>",
)
PLACES = {
    "Claude Code in the cloud": CLAUDE,
    "Codex cloud": Place(
        "Codex",
        "work",
        _NOTHING,
        {
            "CODEX_THREAD_ID": "0199a1",
            "CODEX_INTERNAL_ORIGINATOR_OVERRIDE": "codex_web_agent",
        },
        "Codex <codex@openai.com>",
    ),
    "Copilot coding agent": Place(
        "Copilot CLI",
        "copilot/fix-12",
        "refs/heads/copilot/fix-12*",
        {"COPILOT_CLI": "1", "COPILOT_AGENT_ACTION": "task"},
        "copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>",
    ),
    "a place that is declared": Place(
        "Cursor",
        "cursor/fix",
        "refs/heads/cursor/*",
        {"CURSOR_AGENT": "1", "WATERCOOLER_SANDBOX": "Cursor"},
        "Cursor Agent <cursoragent@cursor.com>",
    ),
}


def new_hub(person: Repo, path: Path) -> Path:
    """A bare repository with a person's code and threads."""
    person.machine.git("init", "-q", "--bare", "-b", "main", str(path), cwd=path.parent)
    person.git("remote", "add", "origin", str(path))
    person.git("push", "-q", "origin", "HEAD:main")
    person.git("fetch", "-q", "origin")
    person.git("remote", "set-head", "origin", "main")
    return path


def accept_only(hub: Path, pattern: str) -> None:
    """From now on, the hub takes pushes to these refs alone; all of them if empty."""
    hook = hub / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.unlink(missing_ok=True)
    if pattern:
        hook.write_text(_HOOK.format(pattern))
        hook.chmod(0o755)


def session(place: Place, hub: Path, root: Path, branch: str = "") -> Repo:
    """A session in a place: a fresh machine, with a shallow clone of one branch."""
    branch = branch or place.branch
    machine = Machine(root, user="")
    name, _, email = place.user.rstrip(">").partition(" <")
    (machine.home / ".gitconfig").write_text(
        f"[user]\n\tname = {name}\n\temail = {email}\n[gc]\n\tauto = 0\n"
    )
    # Everything that is usually done in the background is done at once.
    machine.env.update(place.env | {"WATERCOOLER_SYNC": "inline"})
    path = root / "code"
    start = branch if place.has_remote else "main"
    if place.has_remote:
        accept_only(hub, "")
        if not machine.git("for-each-ref", f"refs/heads/{branch}", cwd=hub):
            machine.git("push", "-q", ".", f"main:{branch}", cwd=hub)
        accept_only(hub, place.accepts)
    words = ("--depth", "1", "--single-branch", "-b", start)
    machine.git("clone", "-q", *words, f"file://{hub}", str(path), cwd=root)
    repo = Repo(machine, path)
    if not place.has_remote:
        # Its setup script has a network; afterwards the remote is gone.
        repo.ok("init")
        repo.git("switch", "-q", "-c", branch)
        repo.git("remote", "remove", "origin")
    return repo


def carry(repo: Repo) -> None:
    """Have the branch that is checked out carry what was not pushed, as if the remote
    were away."""
    url = repo.git("remote", "get-url", "origin")
    repo.git("remote", "set-url", "origin", f"{url}.away")
    repo.ok("sync", "--carry")
    repo.git("remote", "set-url", "origin", url)


def carried(repo: Repo) -> list[str]:
    """The titles of the entries that the branch carries, sorted."""
    message = repo.git("log", "--format=%B")
    rows = [json.loads(x) for x in message.splitlines() if x.startswith("{")]
    return sorted(row["title"] for row in rows)


def leave(place: Place, cloud: Repo, person: Repo, branch: str = "") -> None:
    """The end of a session: its work becomes a branch of the remote. Without a remote,
    its changes are applied by hand."""
    branch = branch or place.branch
    if place.has_remote:
        cloud.git("push", "-q", "origin", f"HEAD:{branch}")
        return
    cloud.git("add", "--all")
    cloud.git("commit", "-q", "-m", "The work")
    patch = cloud.path.parent / "work.patch"
    diff = cloud.git("diff", "--binary", "main", "HEAD")
    patch.write_text(f"{diff}\n")
    tree = cloud.path.parent / "applied"
    target = f"codex/{cloud.path.parent.name}"
    person.git("worktree", "add", "-q", "-b", target, str(tree), "origin/main")
    applied = Repo(person.machine, tree)
    applied.git("apply", str(patch))
    applied.git("add", "--all")
    applied.git("commit", "-q", "-m", "From Codex")
    applied.git("push", "-q", "origin", target)
    person.git("worktree", "remove", "--force", str(tree))
    shutil.rmtree(tree, ignore_errors=True)
