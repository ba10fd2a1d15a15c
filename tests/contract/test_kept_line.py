"""A line that is kept for the prompt is printed only while it is true.

`bin/wc-statusline` prints a kept line while nothing has changed. After each change it
has to say what ``wc statusline`` says. A prompt may come, and the writer may die, at
each call to the system that a write makes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import amounts
from tests.contract import faults
from tests.leaving import leave
from wc_cli.run.context import Context
from wc_core.ledger.threads import proposals
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.conftest import Repo
    from tests.contract.faults import Call, Hit

SCRIPT = str(Path(__file__).resolve().parents[2] / "bin/wc-statusline")
PLAIN = ("--color=never",)
# What a write does to files after it has the lock.
TRIED = {"write", "rename", "unlink"}
CODEX = {"CODEX_THREAD_ID": "1"}


class Prompt(NamedTuple):
    """A prompt in a worktree, and the variables of who looks."""

    home: Repo
    env: Mapping[str, str]

    def says(self, *words: str, shell: str = "sh") -> str:
        """What the script prints."""
        env = {**self.env, "PWD": str(self.home.path)}
        done = self.home.machine.run([shell, SCRIPT, *words], self.home.path, env=env)
        assert (done.code, done.err) == (0, "")
        return done.out.strip()

    def says_afresh(self) -> str:
        """What the script prints where no line is kept."""
        stamp = line_folder(self.home) / "stamp"
        if not stamp.exists():
            return self.says()
        away = stamp.rename(stamp.parent / "away")
        try:
            return self.says()
        finally:
            away.rename(stamp)

    def truth(self) -> str:
        """What the threads say."""
        return self.home.ok("statusline", env=self.env).out.strip()


@pytest.fixture
def linked(repo: Repo) -> Repo:
    """A worktree on the branch ``login``, beside that of the repository."""
    repo.ok("new", "main", "--title", "T", "--to", "Codex")
    return repo.worktree("app-login", "login")


def line_folder(repo: Repo) -> Path:
    return repo.store / ".local/line"


def test_after_each_change_the_line_is_true(repo: Repo, linked: Repo) -> None:
    prompts = [Prompt(repo, {}), Prompt(linked, {}), Prompt(linked, CODEX)]
    for prompt in prompts:
        prompt.home.ok("list", env=prompt.env)
    mark = repo.store / ".local/hot"
    loop = linked.path / ".claude/loop-state.json"

    def wc(*words: str, home: Repo = repo) -> Callable[[], object]:
        return lambda: home.ok(*words)

    def conflict() -> None:
        mark.mkdir()
        (mark / "app-login").write_text("auth.py with Codex\n=main\n")

    def loop_begins() -> None:
        loop.parent.mkdir()
        loop.write_text(json.dumps({"status": "running", "iteration": 1}))

    changes: list[Callable[[], object]] = [
        wc("new", "login", "--title", "T", home=linked),
        wc("say", "login", "--title", "T", "--to", "Codex", home=linked),
        wc("say", "login", "--title", "T", "--to", "Pat", "--as", "Codex"),
        wc("read", "login"),
        wc("say", "main", "--title", "T", "--to", "Pat", "--as", "Codex"),
        wc("set-status", "login", "BLOCKED", home=linked),
        lambda: linked.git("checkout", "-q", "-b", "other"),
        wc("new", "other", "--title", "T", "--to", "Codex", home=linked),
        lambda: linked.git("checkout", "-q", "login"),
        lambda: linked.git("checkout", "-q", "--detach"),
        lambda: linked.git("checkout", "-q", "other"),
        conflict,
        lambda: shutil.rmtree(mark),
        loop_begins,
        lambda: shutil.rmtree(loop.parent),
        wc("done", "other", "--title", "T", "--as", "Codex"),
        wc("say", "other", "--title", "T", "--to", "Codex", home=linked),
        wc("use", "main", home=linked),
        wc("use", "--none", home=linked),
        wc("use", "login", home=linked),
        wc("say", "login", "--title", "T", home=linked),
        wc("set-status", "login", "CLOSED", "--reason", "x", home=linked),
        wc("link", "other", "waits-for", "main"),
        wc("done", "main", "--title", "T"),
        wc("doctor", "--repair"),
        lambda: shutil.rmtree(line_folder(repo)),
        wc("read", "other", "--peek"),
    ]
    for number, change in enumerate(changes):
        change()
        # In the usual run one of them looks at once, and another after its command.
        for prompt in prompts if amounts.is_long() else [prompts[number % 2]]:
            said = [prompt.says(), prompt.says(), prompt.says("--stdin", *PLAIN)]
            assert said == [prompt.truth()] * 3, (number, prompt)
        # A command records who we are on this branch.
        prompt = prompts[2 - number % len(prompts)]
        prompt.home.ok("list", env=prompt.env)
        said = [prompt.says(), prompt.says(), prompt.truth()]
        assert said == [said[0]] * 3, (number, prompt)


def kept_file(repo: Repo) -> Path:
    [kept] = [path for path in line_folder(repo).iterdir() if path.name != "stamp"]
    return kept


def rewrite(kept: Path, data: bytes) -> None:
    """Change a kept line as if it had always been so."""
    times = kept.stat()
    kept.write_bytes(data)
    os.utime(kept, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_a_kept_line_is_printed_until_something_changes(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "T")
    prompt = Prompt(repo, {})
    assert prompt.says() == "🎾 you · main"
    kept = kept_file(repo)
    text = kept.read_text()
    shells = [shell for shell in ("dash", "bash", "zsh") if shutil.which(shell)]
    rewrite(kept, text.replace("you", "believed").encode())
    for shell in shells:
        assert prompt.says(shell=shell) == "🎾 believed · main"
    for damaged in (
        "",
        text[:20],
        text.partition("\n.\n")[0],
        text.replace("you", "\x1b[31m"),
        text.replace("you", "\x9b"),
        text.replace("you", "\u202e"),
        text.replace("1;33", "1;33m\x1b[5"),
        text.replace(" main\n", " other\n", 1),
        text.replace(str(repo.path), "/another"),
        text.split("\n")[0],
    ):
        assert damaged != text
        for shell in shells:
            rewrite(kept, damaged.encode())
            assert prompt.says("--stdin", shell=shell).endswith("you · main\x1b[0m")
    away = repo.path / "notes.txt"
    away.write_text("mine\n")
    kept.unlink()
    kept.symlink_to(away)
    assert prompt.says() == "🎾 you · main"
    assert away.read_text() == "mine\n"
    rewrite(kept, text.replace("you", "believed").encode())
    repo.ok("say", "main", "--title", "T", "--to", "Codex", "--force")
    assert prompt.says() == "Codex has the ball · main"


@pytest.mark.parametrize("changed", ["settings", "git's user", "threads", "log"])
def test_what_others_change_ends_a_kept_line(repo: Repo, changed: str) -> None:
    """Who knows nothing of kept lines: an editor, git, another tool."""
    repo.ok("new", "main", "--title", "T")
    prompt = Prompt(repo, {})
    assert prompt.says() == "🎾 you · main"
    kept = kept_file(repo)
    rewrite(kept, kept.read_bytes().replace(b"you", b"believed"))
    assert prompt.says() == "🎾 believed · main"
    if changed == "settings":
        (repo.store / "config.toml").write_text('[aliases]\nrobby = "Codex"\n')
    elif changed == "git's user":
        repo.git("config", "user.name", "Sam")
    elif changed == "log":
        words = ("commit", "-q", "--allow-empty", "-m", "x")
        repo.machine.git(*words, cwd=repo.store)
    else:
        (repo.store / "graph/baseline/threads/foreign").mkdir()
    said = "Pat has the ball · main · 1 new" if "user" in changed else "🎾 you · main"
    assert [prompt.says(), prompt.says()] == [said] * 2


def test_the_prompt_follows_a_store_that_was_moved(repo: Repo) -> None:
    """Even if a copy, with a line and its stamp, stays in the old place."""
    repo.ok("new", "main", "--title", "T")
    prompt, old = Prompt(repo, {}), repo.store
    assert prompt.says() == "🎾 you · main"
    moved, copy = old.with_name("moved"), old.with_name("copy")
    shutil.copytree(old, copy, symlinks=True)
    repo.git("worktree", "unlock", str(old))
    repo.git("worktree", "move", str(old), str(moved))
    copy.rename(old)
    assert prompt.says() == "🎾 you · main"
    repo.ok("say", "main", "--title", "T", "--to", "Codex", "--force")
    for _ in range(2):
        assert prompt.says() == "Codex has the ball · main"
    shutil.rmtree(old)
    assert prompt.says() == "Codex has the ball · main"
    shutil.rmtree(moved)
    assert prompt.says() == "wc: store missing, run wc doctor"


def leading(repo: Repo) -> Path:
    """The file that leads the script to the store's `.local`."""
    [path] = (repo.path / ".git/worktrees").glob("*/watercooler")
    return path


def links(repo: Repo) -> list[Path]:
    """The symbolic links in git's folders for worktrees: with one, Claude Code refuses
    to remove any worktree of the repository."""
    everything = (repo.path / ".git/worktrees").rglob("*")
    return [path for path in everything if path.is_symlink()]


def test_git_removes_what_leads_to_the_stamp(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "T")
    path = leading(repo)
    assert path.read_text() == f"{repo.store}/.local\n"
    assert links(repo) == []
    repo.git("worktree", "remove", "--force", "--force", str(repo.store))
    assert not path.parent.exists()


@pytest.mark.parametrize("by", ["write", "doctor"])
def test_the_link_of_an_older_wc_is_replaced(repo: Repo, by: str) -> None:
    repo.settled("new", "main", "--title", "T")
    prompt = Prompt(repo, {})
    assert prompt.says() == "🎾 you · main"
    path = leading(repo)
    path.unlink()
    path.symlink_to(repo.store / ".local")
    assert prompt.says() == "🎾 you · main"
    if by == "write":
        repo.settled("say", "main", "--title", "T")
    else:
        # One that was left when its process was killed.
        path.with_name("watercooler.123").symlink_to(repo.store / ".local")
        done = repo.wc("doctor")
        assert done.code == 9
        assert "this link is from an older wc" in done.out
        assert "Claude Code can remove no worktree" in done.out
        assert "upgrade" in done.out
        assert path.is_symlink()
        assert "by a file" in repo.ok("doctor", "--repair").out
    assert links(repo) == []
    assert path.read_text() == f"{repo.store}/.local\n"
    assert [prompt.says(), prompt.says()] == ["🎾 you · main"] * 2


@pytest.mark.parametrize("name", ["folder", "file", "nothing", "empty", "elsewhere"])
def test_what_is_in_the_place_of_the_link(
    repo: Repo, tmp_path: Path, name: str
) -> None:
    repo.ok("new", "main", "--title", "T")
    link = leading(repo)
    link.unlink()
    other = tmp_path / "elsewhere/line"
    other.mkdir(parents=True)
    (other / "stamp").write_text("0\n")
    root = repo.path
    (other / "=main.=default").write_text(f"0 main\n2\nfalse\n0 main {root}\n")
    if name == "folder":
        shutil.copytree(other.parent, link)
    elif name == "file":
        link.write_text("mine\n")
    elif name == "empty":
        link.touch()
    elif name == "elsewhere":
        link.symlink_to(other.parent)
    prompt = Prompt(repo, {})
    assert [prompt.says(), prompt.says()] == ["🎾 you · main"] * 2
    repo.ok("say", "main", "--title", "T", "--to", "Codex", "--force")
    assert [prompt.says(), prompt.says()] == ["Codex has the ball · main"] * 2
    if name != "folder":
        local = f"{repo.store}/.local\n"
        assert link.read_text() == ("mine\n" if name == "file" else local)
    assert not link.is_symlink()


@pytest.mark.parametrize("name", ["default", "codex"])
def test_a_name_is_not_taken_for_the_agent_that_runs_the_prompt(
    repo: Repo, name: str
) -> None:
    """Their files differ by a sign before the agent's, which a name may have, too."""
    repo.ok("new", "main", "--title", "T")
    for env in ({}, CODEX):
        repo.ok("list", env=env)
        Prompt(repo, env).says()
    named = Prompt(repo, {"WATERCOOLER_AGENT": f"={name}"})
    for _ in range(2):
        assert named.says("--stdin", *PLAIN) == named.says_afresh()
        assert named.says() == "Pat has the ball · main · 1 new"


class Interrupted(faults.Calls):
    """The calls of a write; before one of them someone looks, and after it the writer
    may die."""

    def __init__(self, at: int, look: Callable[[], object], *, dies: bool) -> None:
        super().__init__(at)
        self.look = look
        self.dies = dies

    def make(self, call: Call, hit: Hit) -> object:
        self.made.append(call)
        if len(self.made) == self.at:
            self.look()
        result = hit()
        if self.dies and len(self.made) == self.at:
            os._exit(1)
        return result


def say(repo: Repo, holder: str, calls: faults.Calls, report: Path) -> None:
    """Pass the ball in a child process; list the calls that changed the disk."""
    pid = os.fork()
    if not pid:
        try:
            calls.install()
            context = Context(repo.machine.env, str(repo.path), Asked("Codex"))
            draft = proposals.Draft("main", "say", "T", to=holder, force=True)
            context.writer().write(draft, context.source)
            changed = [
                at for at, call in enumerate(calls.made, 1) if call.name in TRIED
            ]
            report.write_text(json.dumps(changed))
        finally:
            leave(0)
    os.waitpid(pid, 0)


@pytest.mark.parametrize("dies", [False, True])
def test_a_prompt_at_each_call_of_a_write(
    repo: Repo, tmp_path: Path, *, dies: bool
) -> None:
    """A line that was made from files of which some had changed is never kept; and
    after a kill a kept line says what the files say."""
    repo.ok("new", "main", "--title", "T")
    prompt, report = Prompt(repo, {}), tmp_path / "calls"
    say(repo, "Pat", faults.Calls(), report)

    def look() -> None:
        subprocess.run(
            ["sh", SCRIPT],
            cwd=repo.path,
            env={**repo.machine.env, "PWD": str(repo.path)},
            stdout=subprocess.DEVNULL,
            check=True,
        )

    changes = json.loads(report.read_text())
    assert len(changes) > 10
    step = 1 if amounts.is_long() else 3
    for number, at in enumerate(changes[int(dies) :: step]):
        holder = ("Codex", "Pat")[number % 2]
        look()
        say(repo, holder, Interrupted(at, look, dies=dies), report)
        kept = prompt.says()
        if dies:
            assert kept == prompt.says_afresh(), at
            words = ("handoff", "main", "--to", holder, "--reason", "x", "--force")
            repo.ok(*words)
        assert [prompt.says(), prompt.says()] == [prompt.truth()] * 2, at


def test_a_kept_line_of_someone_else_starts_nothing(repo: Repo) -> None:
    """A store may come with code: nobody runs what its kept lines name."""
    repo.settled("new", "main", "--title", "T")
    marker = repo.machine.root / "ran"
    code = repo.store / "evil/sitecustomize.py"
    code.parent.mkdir()
    code.write_text(f"open({str(marker)!r}, 'w').close()\n")
    due = repo.store / ".local/due/1.nothing"
    due.parent.mkdir(exist_ok=True)
    due.touch()
    line_folder(repo).mkdir(exist_ok=True)
    for folder in (".", str(repo.path)):
        env = {"WATERCOOLER_SYNC": "background", "PYTHONPATH": str(code.parent)}
        env |= {"HOME": "/nonexistent"}
        asked = {"name": "x.", "key": "", "root": "/x", "at": 9_999_999_999}
        fields = json.dumps(asked | {"folder": folder, "env": env})
        data = f"zzz  main\t\n\n/x\n5\n2 hello\n.\n{fields}\n"
        (line_folder(repo) / "x.").write_text(data)
        remake = f"promptlines.remake({str(repo.store)!r}, dict(os.environ))"
        program = f"import os; from wc_cli.run.entries import promptlines; {remake}"
        words = [sys.executable, "-c", program]
        assert repo.machine.run(words, repo.store).code == 0
    time.sleep(1)  # A process that is started needs a moment.
    assert not marker.exists()


def test_during_a_rebase_no_line_is_kept(repo: Repo) -> None:
    """Two branches at the same commit have threads of their own."""
    repo.git("commit", "-q", "--allow-empty", "-m", "more")
    holders = {"alpha": "Codex", "beta": "Cursor"}
    for branch, holder in holders.items():
        repo.git("checkout", "-q", "-b", branch)
        repo.settled("new", f"of-{branch}", "--title", "T", "--to", holder)
    for branch, holder in holders.items():
        repo.git("checkout", "-q", branch)
        folder = repo.path / ".git/rebase-merge"
        folder.mkdir()
        (folder / "head-name").write_text(f"refs/heads/{branch}\n")
        repo.git("checkout", "-q", "--detach")
        prompt = Prompt(repo, {})
        said = [prompt.says(), prompt.says()]
        assert said == [f"{holder} has the ball · of-{branch}"] * 2
        shutil.rmtree(folder)
        repo.git("checkout", "-q", branch)


def test_a_folder_that_looks_like_a_bare_repository(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "T")
    folder = repo.machine.folder("app/fixture")
    (folder.path / "refs").mkdir()
    (folder.path / "HEAD").write_text("ref: refs/heads/main\n")
    done = repo.machine.run([SCRIPT], folder.path)
    assert done.out == "🎾 you · main\n"


def test_a_store_that_is_gone_among_many_packed_refs(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "T")
    for number in range(70):
        repo.git("branch", f"b{number}")
    repo.git("pack-refs", "--all")
    shutil.move(repo.store, f"{repo.store}.away")
    assert "store missing" in Prompt(repo, {}).says()


def test_two_agents_never_share_a_line(repo: Repo) -> None:
    """The name of one may be what stands for the other in the key."""
    repo.ok("new", "main", "--title", "T", "--to", "Claude Code", "--force")
    for env in ({"CLAUDECODE": "1"}, {"AI_AGENT": "l"}) * 2:
        prompt = Prompt(repo, env)
        assert prompt.says() == prompt.says_afresh()
    told = {
        Prompt(repo, env).says() for env in ({"CLAUDECODE": "1"}, {"AI_AGENT": "l"})
    }
    assert len(told) == 2


def test_git_changes_a_store_in_the_tree(repo: Repo) -> None:
    (repo.path / ".watercooler/threads").mkdir(parents=True)
    repo.ok("new", "ui", "--title", "T", "--to", "Codex")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "thread")
    repo.git("checkout", "-q", "-b", "feature")
    repo.ok("handoff", "ui", "--to", "Cursor", "--reason", "Away")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "passed")
    repo.git("checkout", "-q", "main")
    prompt = Prompt(repo, {})
    repo.ok("list")
    prompt.says()
    repo.git("merge", "-q", "feature")
    assert prompt.says() == prompt.truth()


@pytest.mark.parametrize("place", ["here", "there"])
def test_a_commit_ends_a_kept_conflict(repo: Repo, linked: Repo, place: str) -> None:
    marks = repo.store / ".local/hot"
    marks.mkdir()
    (marks / "app-login").write_text("auth.py with Codex\n=main\n")
    prompt = Prompt(linked, {})
    assert "auth.py with Codex" in prompt.says()
    kept = kept_file(repo)
    rewrite(kept, kept.read_bytes().replace(b"Codex", b"believed"))
    assert "auth.py with believed" in prompt.says()
    tree = linked if place == "here" else repo
    tree.git("commit", "-q", "--allow-empty", "-m", "more")
    assert "auth.py" not in prompt.says()
