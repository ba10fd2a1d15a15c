"""Landing at a remote: compare-and-swap there, protected branches, pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.landing.story import (
    CODEX,
    approve,
    begin,
    begun,
    change,
    head,
    line_of,
    work,
    worktree_of,
)
from tests.contract.inprocess import Here
from wc_cli.edits.landing import sending
from wc_cli.edits.landing.publishing import LandingRecord, LandingRecords
from wc_cli.edits.landing.sending import RemoteBase
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine


def begin_with_hub(machine: Machine) -> Here:
    here = begin(machine)
    here.git("init", "-q", "--bare", "-b", "main", str(hub(here)))
    here.git("remote", "add", "origin", str(hub(here)))
    here.git("push", "-q", "-u", "origin", "main")
    work(here, "login", 3)
    return here


@pytest.fixture
def here(machine: Machine) -> Here:
    """The main worktree, with an approved branch login, and a remote."""
    return begun(machine, begin_with_hub)


def hub(here: Here) -> Path:
    return here.path.parent / "hub.git"


def at_hub(here: Here, ref: str = "main") -> str:
    return here.git("--git-dir", str(hub(here)), "rev-parse", ref).strip()


def elsewhere(here: Here, line: int, text: str) -> None:
    """Someone else pushes a change to main."""
    other = Here(here.machine, here.path.parent / "other")
    if not other.path.exists():
        here.git("clone", "-q", str(hub(here)), str(other.path))
    other.git("pull", "-q")
    change(other, line, text)
    other.git("push", "-q")


def refuse(here: Here, message: str) -> None:
    hook = hub(here) / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho '{message}' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)


def test_push_moves_both(here: Here) -> None:
    here.ok("land", "login", "--push")
    assert head(here) == at_hub(here) == head(here, "origin/main")
    assert here.git("status", "--porcelain") == ""


def test_what_was_killed_between_the_two_moves_is_finished(here: Here) -> None:
    tree = worktree_of(here, "login")
    commit = head(tree, "HEAD")
    record = LandingRecord(
        "login", "login", commit, "main", head(here), commit, 1,
        worktree=str(here.path),
    )  # fmt: skip
    LandingRecords(Layout(str(here.store))).save(record)
    here.git("push", "-q", "origin", "login:main")
    assert "login: landed on main" in here.ok("land", "login").out
    assert head(here) == at_hub(here) == commit
    assert here.git("status", "--porcelain") == ""


def test_what_the_remote_has_was_not_undone(here: Here) -> None:
    here.ok("land", "login", "--push")
    here.git("reset", "-q", "--hard", "HEAD~1")
    assert "it has landed on main" in here.fails(4, "land", "login")
    here.git("--git-dir", str(hub(here)), "update-ref", "refs/heads/main", head(here))
    here.git("fetch", "-q")
    here.ok("land", "login", "--push")
    assert head(here) == at_hub(here)
    assert line_of(here, 3) == "login"


def test_what_another_machine_landed_was_not_undone_before_it_is_fetched(
    here: Here,
) -> None:
    here.ok("land", "login", "--push")
    commit = head(here)
    # As in a clone that has only the threads so far.
    here.git("reset", "-q", "--hard", "HEAD~1")
    for ref in ("ORIG_HEAD", "refs/remotes/origin/main"):
        here.git("update-ref", "-d", ref)
    here.git("reflog", "expire", "--expire=now", "--all")
    here.git("gc", "-q", "--prune=now")
    assert here.machine.run(("git", "cat-file", "-e", commit), here.path).code
    assert "it has landed on main" in here.fails(4, "land", "login")
    assert "main no longer has" in here.fails(4, "land", "login", "--clean")


def test_it_builds_on_what_is_at_the_remote(here: Here) -> None:
    elsewhere(here, 9, "nine")
    here.ok("land", "login", "--push")
    assert head(here) == at_hub(here)
    assert [line_of(here, number) for number in (3, 9)] == ["login", "nine"]
    assert (here.path / "notes.txt").read_text("utf-8").count("nine") == 1


def test_a_remote_that_moves_in_between_is_built_on_again(here: Here) -> None:
    other = here.path.parent / "other"
    here.git("clone", "-q", str(hub(here)), str(other))
    push = f"cd {other} && git commit -q --allow-empty -m meanwhile && git push -q"
    here.ok("config", "set", "land.check", f"test -e {other}/x || ({push} && touch x)")
    (other / ".git/info/exclude").write_text("x\n", encoding="utf-8")
    here.ok("land", "login", "--push", "--yes")
    assert head(here) == at_hub(here)
    subjects = here.git("log", "--format=%s", "main").splitlines()
    assert subjects.count("meanwhile") >= 1
    assert subjects[0] == "Merge login: Do login"


def test_two_that_have_diverged_are_not_brought_together(here: Here) -> None:
    elsewhere(here, 9, "nine")
    change(here, 15, "fifteen")
    before = head(here), at_hub(here)
    said = here.fails(4, "land", "login", "--push")
    assert "have both moved on" in said
    assert "pull --rebase origin main" in said
    assert (head(here), at_hub(here)) == before


def test_a_protected_branch_is_no_failure_of_the_branch(here: Here) -> None:
    refuse(here, "GH006: Protected branch update failed")
    before = head(here), at_hub(here), here.entries("login")
    said = here.fails(4, "land", "login", "--push")
    assert "main at origin is protected: GH006: Protected branch update failed" in said
    assert "wc land --pr" in said
    assert (head(here), at_hub(here), here.entries("login")) == before


def test_a_hook_that_refuses_is_named(here: Here) -> None:
    refuse(here, "Ticket missing in the message.")
    said = here.fails(4, "land", "login", "--push")
    assert "main at origin was refused by a hook there: Ticket missing in the " in said
    assert "wc land --pr" in said


def test_a_remote_that_refuses_says_why(here: Here) -> None:
    other = here.path.parent / "other"
    here.git("clone", "-q", str(hub(here)), str(other))
    here.git("remote", "set-url", "origin", str(other))
    before = head(here), here.entries("login")
    said = here.fails(4, "land", "login", "--push")
    assert "refused to move main at origin: branch is currently checked out." in said
    assert "wc land --pr" in said
    assert (head(here), here.entries("login")) == before


@pytest.mark.parametrize(
    ("hangs", "method", "message"),
    [
        ("upload-pack", "fetch", "could not be used: git ls-remote took longer than"),
        ("receive-pack", "push", "it is not known whether main at origin has moved"),
    ],
)
def test_a_remote_that_hangs_is_given_up(
    here: Here, monkeypatch: pytest.MonkeyPatch, hangs: str, method: str, message: str
) -> None:
    ssh = here.machine.home / "ssh"
    ssh.write_text(
        f'#!/bin/sh\nshift\ncase "$*" in *{hangs}*) exec sleep 60; esac\n'
        'exec sh -c "$*"\n',
        encoding="utf-8",
    )
    ssh.chmod(0o755)
    here.git("config", "core.sshCommand", str(ssh))
    here.git("config", "ssh.variant", "simple")
    here.git("remote", "set-url", "origin", f"example:{hub(here)}")
    before = head(here), at_hub(here), here.entries("login")
    whole = getattr(RemoteBase, method)

    def in_a_moment(remote: RemoteBase, *words: str) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(sending, "_SECONDS", 0.5)
            return whole(remote, *words)

    with monkeypatch.context() as patch:
        patch.setattr(RemoteBase, method, in_a_moment)
        assert message in here.fails(8, "land", "login", "--push")
    assert (head(here), at_hub(here), here.entries("login")) == before
    # Nothing is left of it.
    here.git("remote", "set-url", "origin", str(hub(here)))
    here.ok("land", "login", "--push")
    assert head(here) == at_hub(here)


def test_a_remote_that_is_gone_changes_nothing(here: Here) -> None:
    hub(here).rename(hub(here).with_name("gone"))
    before = head(here), here.entries("login")
    assert "could not be used" in here.fails(8, "land", "login", "--push")
    here.git("config", "core.sshCommand", "echo No route to host >&2; false")
    here.git("remote", "set-url", "origin", "example:app")
    said = here.fails(8, "land", "login", "--push")
    assert "The remote origin could not be used: No route to host." in said
    assert (head(here), here.entries("login")) == before


def test_another_machine_has_landed_it(here: Here) -> None:
    other = Here(here.machine, here.path.parent / "other")
    here.git("push", "-q", "origin", "login")
    here.git("clone", "-q", str(hub(here)), str(other.path))
    other.git("merge", "-q", "--no-ff", "origin/login")
    other.git("push", "-q")
    done = here.ok("land", "login", "--push")
    commit = at_hub(here)
    assert done.out == f"login: its changes were on main already, at {commit[:9]}\n"
    title = here.entries("login")[-1]["title"]
    assert title == f"main has all of its changes already, at {commit[:9]}"
    assert head(here) == commit
    assert here.git("status", "--porcelain") == ""
    assert here.json("read", "login")["status"] == "CLOSED"


def test_a_rule_against_closing_leaves_what_another_machine_landed(
    here: Here,
) -> None:
    here.git("push", "-q", "origin", "login:main")
    here.ok("config", "set", "rules.close_link", "pr")
    before = head(here), len(here.entries("login"))
    done = here.wc("land", "login", "--push")
    assert (done.code, done.out.startswith("login: ")) == (9, True)
    assert "wc ack login --pr NUMBER" in done.err
    assert (head(here), len(here.entries("login"))) == before
    here.ok("ack", "login", "--pr", "12", "-m", "The request")
    done = here.ok("land", "login", "--push")
    assert (
        done.out == f"login: its changes were on main already, at {at_hub(here)[:9]}\n"
    )
    assert head(here) == at_hub(here) == head(here, "login")
    assert here.json("read", "login")["status"] == "CLOSED"


def test_a_rule_against_closing_does_not_stop_those_after_a_kill(here: Here) -> None:
    commit, base = head(here, "login"), head(here)
    record = LandingRecord("login", "login", commit, "main", base, commit, 1)
    records = LandingRecords(Layout(str(here.store)))
    records.save(record)
    here.git("merge", "-q", "--ff-only", "login")
    work(here, "pay", 9)
    here.ok("ack", "pay", "--pr", "12", "-m", "The request")
    here.ok("config", "set", "rules.close_link", "pr")
    done = here.wc("land", "--all")
    assert done.code == 9
    told, landed = done.out.splitlines()
    assert told.startswith(f"login: it is on main as {commit[:9]}, but its thread ")
    assert landed.startswith("pay: landed on main as ")
    assert [*records.all()] == [record]
    here.ok("ack", "login", "--pr", "13", "-m", "The request")
    assert here.ok("land", "--all").out.startswith("login: landed on main as ")
    assert here.json("read", "login")["status"] == "CLOSED"


def test_a_dirty_base_is_left_behind(here: Here) -> None:
    (here.path / "notes.txt").write_text("mine\n", encoding="utf-8")
    before = head(here)
    done = here.ok("land", "login", "--push")
    assert "main here is behind origin" in done.err
    assert head(here) == before
    assert line_of(here, 3, "origin/main") == "login"
    assert (here.path / "notes.txt").read_text("utf-8") == "mine\n"


# --- pull requests ------------------------------------------------------------------

GH = """#!/bin/sh
echo "$@" >> "$HOME/gh-words"
case "$1 $2" in
"pr view") if [ -e "$HOME/opened" ]; then
    echo '{"number": 12, "url": "https://github.com/o/r/pull/12", "state": "OPEN"}'
  else echo 'no pull requests found' >&2; exit 1; fi ;;
"pr create") touch "$HOME/opened"; echo https://github.com/o/r/pull/12 ;;
esac
"""


def test_a_pull_request_is_opened_then_updated(here: Here, machine: Machine) -> None:
    tree = worktree_of(here, "login")
    programs = machine.home / "programs"
    programs.mkdir()
    (programs / "gh").write_text(GH, encoding="utf-8")
    (programs / "gh").chmod(0o755)
    env = {"PATH": f"{programs}:{machine.env['PATH']}"}
    before = head(here)
    said = here.ok("land", "login", "--pr", env=env).out
    assert said == "login: opened pull request #12: https://github.com/o/r/pull/12\n"
    assert at_hub(here, "login") == head(here, "login")
    assert (head(here), at_hub(here)) == (before, before)
    assert here.entries("login")[-1]["pr_refs"] == [12]
    assert here.json("read", "login")["status"] == "OPEN"
    words = (machine.home / "gh-words").read_text("utf-8")
    assert "pr create --head login --base main --title Do login" in words
    change(tree, 9, "nine")
    tree.git("commit", "-q", "--amend", "-m", "other")
    approve(here)
    said = here.ok("land", "login", "--pr", env=env).out
    assert said == "login: updated pull request #12: https://github.com/o/r/pull/12\n"
    assert at_hub(here, "login") == head(here, "login")


def test_without_gh_the_address_is_what_the_remote_says(here: Here) -> None:
    env = {"PATH": here.machine.env["PATH"]}
    said = here.ok("land", "login", "--pr", env=env).out
    assert said == "login: pushed login to origin\n"
    work(here, "pay", 9)
    hook = hub(here) / "hooks/post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\necho 'To create a merge request, visit:'\n"
        "echo '  https://git.example.com/o/r/new?source=pay'\n",
        encoding="utf-8",
    )
    hook.chmod(0o755)
    said = here.ok("land", "pay", "--pr", env=env).out
    assert said.endswith(
        "open a pull request: https://git.example.com/o/r/new?source=pay\n"
    )


def test_a_branch_at_the_remote_that_others_have_moved_is_not_overwritten(
    here: Here,
) -> None:
    tree = worktree_of(here, "login")
    tree.git("push", "-q", "origin", "login")
    other = Here(here.machine, here.path.parent / "other")
    here.git("clone", "-q", str(hub(here)), str(other.path))
    other.git("switch", "-q", "login")
    change(other, 12, "twelve")
    other.git("push", "-q")
    tree.ok("say", "login", "-m", "More", "--to", "Pat", *CODEX)
    before = at_hub(here, "login")
    assert "commits of someone else" in here.fails(4, "land", "login", "--pr")
    assert at_hub(here, "login") == before


def test_a_branch_that_was_deleted_at_the_remote_is_pushed_again(here: Here) -> None:
    here.ok("land", "login", "--pr")
    here.git("--git-dir", str(hub(here)), "branch", "-q", "-D", "login")
    here.ok("land", "login", "--pr")
    assert at_hub(here, "login") == head(here, "login")
    here.git("--git-dir", str(hub(here)), "update-ref", "-d", "refs/heads/main")
    here.ok("land", "login", "--push")
    assert at_hub(here) == head(here)
