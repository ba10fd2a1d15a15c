"""``wc statusline`` and ``bin/wc-statusline`` say the same."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Machine

SCRIPT = str(Path(__file__).resolve().parents[3] / "bin" / "wc-statusline")


def twins(
    repo: Repo,
    *words: str,
    cwd: str = "",
    feed: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """The line, which both print."""
    machine = repo.machine
    where = repo.path / cwd
    # A shell keeps PWD; the script relies on it.
    env = {**(env or {}), "PWD": str(where)}
    script = machine.run(["sh", SCRIPT, *words], where, feed=feed, env=env)
    ours = repo.wc("statusline", *words, cwd=cwd, feed=feed, env=env)
    assert (script.code, script.err, ours.code, ours.err) == (0, "", 0, "")
    assert ours.out == script.out
    return script.out.rstrip("\n")


CLAUDE = {"CLAUDECODE": "1"}


def alone(repo: Repo, env: Mapping[str, str] | None = None) -> str:
    """What a copy of the script prints that finds no ``wc-cli``."""
    copy = repo.machine.root / "alone" / "wc-statusline"
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(SCRIPT, copy)
    env = {**(env or {}), "PWD": str(repo.path)}
    return repo.machine.run(["sh", str(copy)], repo.path, env=env).out.rstrip("\n")


def test_nothing_to_say(repo: Repo, machine: Machine) -> None:
    assert twins(repo) == ""
    assert twins(machine.folder("notes")) == ""


def test_a_thread_is_in_the_worktree_without_a_branch_where_it_was_opened(
    repo: Repo,
) -> None:
    path = repo.path.parent / "app-bare"
    repo.git("worktree", "add", "-q", "--detach", str(path))
    bare = Repo(repo.machine, path)
    bare.ok("new", "auth", "--title", "x")
    assert twins(bare) == "🎾 you · auth"
    bare.ok("say", "auth", "--title", "y", "--to", "Codex", "--force")
    assert twins(bare) == "Codex has the ball · auth"
    assert twins(repo) == ""
    # Only who opens it says where it is.
    repo.ok("new", "other", "--title", "x")
    bare.ok("say", "other", "--title", "y")
    assert [entry.get("thread_branch") for entry in repo.entries("other")] == [None] * 2
    bare.ok("new", "third", "--title", "x", "--branch", "main")
    assert twins(repo).startswith("🎾 you · ")
    # The store's own folder is nobody's worktree.
    inside = Repo(repo.machine, repo.store)
    inside.ok("new", "fourth", "--title", "x")
    assert "thread_branch" not in repo.entries("fourth")[0]


def test_a_thread_is_in_the_main_worktree_without_a_branch_where_it_was_opened(
    repo: Repo,
) -> None:
    fix = repo.worktree("app-fix", "fix")
    repo.git("checkout", "-q", "--detach")
    repo.ok("new", "auth", "--title", "x")
    assert twins(repo) == "🎾 you · auth"
    assert twins(fix) == "🎾 auth waits for you elsewhere"
    assert repo.ok("whose").out.startswith("auth: your move")
    # It stays here, whatever is checked out later.
    repo.git("checkout", "-q", "main")
    assert twins(repo) == "🎾 you · auth"
    assert repo.entries("auth")[0]["thread_branch"] == ".main"


def test_who_gets_the_ball_back_sees_who_has_it(repo: Repo) -> None:
    fix = repo.worktree("app-wt-fix", "fix")
    review = repo.worktree("app-wt-review", "review")
    repo.ok("new", "auth", "--title", "x", "--to", "Claude Code@fix", "--force")
    to = ("--to", "Codex@review", "--force")
    fix.ok("say", "auth", "--title", "Please review", *to, env=CLAUDE)
    line = "Codex@review has the ball · auth"
    assert twins(fix, env=CLAUDE) == line
    assert twins(fix) == f"{line} · 1 new"
    assert twins(review).startswith(line)
    # From now on, it usually goes back to Codex.
    review.ok("say", "auth", "--title", "OK", "--to", "Pat", env={"CODEX_SANDBOX": "1"})
    assert twins(fix, env=CLAUDE) == ""


def test_whoever_rebases_stays_in_their_seat(repo: Repo) -> None:
    """Git detaches HEAD, but balls and entries stay those of the branch."""
    fix = repo.worktree("app-fix", "fix/login")
    fix.git("commit", "-q", "--allow-empty", "-m", "work")
    claude = {"CLAUDECODE": "1"}
    fix.ok("new", "auth", "--title", "x", env=claude)
    fix.ok("new", "mine", "--title", "x")
    who = fix.json("whoami", env=claude)["name"]
    assert who.startswith("Claude Code@fix/login (")
    lines = [twins(fix), twins(fix, env=claude)]
    stops = ["git", "rebase", "-q", "--exec", "false", "HEAD~1"]
    assert repo.machine.run(stops, fix.path).code
    assert fix.git("branch", "--show-current").strip() == ""
    assert fix.json("whoami", env=claude)["name"] == who
    assert [twins(fix), twins(fix, env=claude)] == lines
    fix.ok("say", "auth", "--title", "y", env=claude, cwd="")
    fix.ok("new", "other", "--title", "z")
    assert fix.entries("auth")[1]["code_branch"] == "fix/login"
    assert fix.json("list", "--branch", "fix/login")["threads"][0]["topic"] == "other"
    # In the meantime, others complete the seat, as at other times.
    repo.ok("new", "asked", "--title", "q", "--to", "Claude@fix/login")
    assert repo.entries("asked")[0]["ball"] == who
    fix.git("rebase", "--abort")
    assert fix.json("whoami", env=claude)["name"] == who


def test_a_fresh_clone(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    path = repo.machine.root / "clone"
    repo.machine.git("clone", "-q", str(repo.path), str(path), cwd="/")
    fresh = Repo(repo.machine, path)
    line = "wc: threads not checked out, run wc init"
    assert twins(fresh) == line
    for words in (["--rows=3"], ["--ascii"], ["--format", "{topic}"]):
        assert twins(fresh, *words) == line
    assert twins(fresh, "--color=always") == f"\033[2m{line}\033[0m"
    for columns in range(45):
        assert line.startswith(twins(fresh, env={"COLUMNS": str(columns)})[:-1])
    fresh.ok("init")
    assert twins(fresh) == "🎾 you · auth"


def test_a_day_in_two_worktrees(repo: Repo) -> None:
    fix = repo.worktree("app-wt-fix", "feature/fix")
    fix.ok("say", "login", "--title", "Begin", "--to", "Pat", "--as", "Codex")
    # What a worktree's script says about "me" it has from the commands run there.
    repo.ok("init")
    fix.ok("init")
    assert twins(repo) == "🎾 login waits for you elsewhere"
    assert twins(fix) == "🎾 you · login · 1 new"
    fix.ok("say", "login", "--title", "Done", "--status", "IN_REVIEW")
    assert twins(fix).startswith("Codex@fix has the ball · login")
    assert "IN_REVIEW" in twins(fix)
    # As Codex, in the worktree it sits in and in another one.
    fix.ok("init", env={"WATERCOOLER_AGENT": "Codex"})
    assert "🎾 you · login" in twins(fix, env={"WATERCOOLER_AGENT": "Codex"})
    repo.ok("init", env={"WATERCOOLER_AGENT": "Codex"})
    assert twins(repo, env={"WATERCOOLER_AGENT": "Codex"}) == ""
    for topic in ("alpha", "beta", "gamma"):
        repo.ok("new", topic, "--title", "x", "--to", "Pat", "--as", "Codex")
    assert twins(repo) == "🎾 you · alpha · 1 new · +2"
    whole = "🎾 3 for you elsewhere · Codex@fix has the ball · login · IN_REVIEW"
    assert twins(fix) == whole
    (fix.path / "a/b").mkdir(parents=True)
    assert twins(fix, cwd="a/b") == whole
    repo.ok("read", "alpha")
    assert twins(repo) == "🎾 you · alpha · +2"
    for topic in ("alpha", "beta", "gamma"):
        repo.ok("set-status", topic, "CLOSED")
    assert twins(repo) == ""
    fix.ok("handoff", "login", "--to", "anyone", "--reason", "free")
    assert twins(fix).startswith("anyone can take · login")


CLAUDE = {"CLAUDECODE": "1"}


def test_a_person_and_their_agent_in_one_worktree(repo: Repo) -> None:
    repo.ok("init")
    repo.ok("new", "job", "--title", "a", env=CLAUDE)
    assert twins(repo) == "Claude Code has the ball · job · 1 new"
    assert twins(repo, env=CLAUDE) == "🎾 you · job"
    repo.ok("handoff", "job", "--to", "Pat", "--reason", "yours")
    assert twins(repo).startswith("🎾 you · job")
    assert twins(repo, env=CLAUDE).startswith("Pat has the ball · job")


def test_a_person_in_a_worktree_that_is_new_to_wc(repo: Repo) -> None:
    repo.ok("new", "job", "--title", "a")
    fix = repo.worktree("fix", "fix")
    assert twins(fix) == "🎾 job waits for you elsewhere"


@pytest.mark.parametrize("user", ["Pat", "Zoë van Dyk", "Sam (ACME)"])
def test_first_prompts_after_an_agent_s_first_ball(repo: Repo, user: str) -> None:
    """The person has never run wc: not here, and not in any other worktree."""
    repo.git("config", "user.name", user)
    person = user.partition(" (")[0]
    fix = repo.worktree("app-wt-fix", "feature/fix")
    fix.ok("new", "fix", "--title", "Q?", "--to", person, env=CLAUDE)
    bare = repo.path.parent / "bare"
    repo.git("worktree", "add", "-q", "--detach", str(bare))
    other = Repo(repo.machine, bare)
    assert twins(repo) == "🎾 fix waits for you elsewhere"
    assert twins(fix) == "🎾 you · fix · 1 new"
    assert twins(other) == "🎾 fix waits for you elsewhere"
    # The script now knows who looks.
    assert alone(fix) == "🎾 you · fix · 1 new"


@pytest.mark.parametrize(
    "env",
    [
        {"CLAUDECODE": "1"},
        {"WATERCOOLER_AGENT": "Claude"},
        {"WATERCOOLER_AGENT": "CLAUDE Code@fix (pat)"},
        {"CLAUDECODE": "1", "WATERCOOLER_SEAT": "Review"},
        {"AI_AGENT": "claude-code_2-1_agent"},
        {"WATERCOOLER_AGENT": "robby"},
    ],
)
def test_first_prompts_of_an_agent(repo: Repo, env: dict[str, str]) -> None:
    repo.ok("config", "set", "aliases.robby", "Claude Code")
    fix = repo.worktree("app-wt-fix", "feature/fix")
    repo.ok(
        "new",
        "any",
        "--title",
        "Q?",
        "--to",
        "Claude Code",
        "--branch",
        "main",
        "--force",
    )
    repo.ok("new", "fix", "--title", "Q?", "--to", "Claude Code@fix", "--force")
    assert "you · any" in twins(repo, env=env)
    line = twins(fix, env=env)
    seat = env.get("WATERCOOLER_SEAT")
    assert ("you · fix" in line) == (seat is None)
    assert alone(fix, env=env) == line


def test_a_store_without_local_files(repo: Repo) -> None:
    """An older tool's, or one whose local files were deleted."""
    repo.settled("new", "auth", "--title", "x", "--to", "Codex", "--force")
    shutil.rmtree(repo.store / ".local")
    assert twins(repo) == "Codex has the ball · auth"


def test_another_branch_is_the_same_seat(repo: Repo) -> None:
    tree = repo.worktree("tree", "f2")
    tree.ok("new", "job", "--title", "a", env=CLAUDE)
    assert twins(tree, env=CLAUDE) == "🎾 you · job"
    repo.machine.git("checkout", "-q", "-b", "f3", cwd=tree.path)
    assert twins(tree, env=CLAUDE) == "🎾 you · job"
    assert twins(tree) == "Claude Code@f2 has the ball · job · 1 new"
    # A change keeps its seat whatever the branch.
    change = repo.worktree("app-wt-c1", "c1")
    change.ok("new", "more", "--title", "a", env=CLAUDE)
    repo.machine.git("checkout", "-q", "-b", "c2", cwd=change.path)
    assert "more" in twins(change, env=CLAUDE)


def test_a_seat_for_one_command_is_not_kept(repo: Repo) -> None:
    repo.ok("new", "job", "--title", "a", env=CLAUDE)
    repo.ok("new", "more", "--title", "a", "--seat", "x", env=CLAUDE)
    assert twins(repo, env=CLAUDE) == "🎾 you · job"


def test_an_agent_with_a_store_in_the_tree_of_its_worktree(repo: Repo) -> None:
    fix = repo.worktree("fix", "fix")
    (fix.path / ".watercooler/threads").mkdir(parents=True)
    fix.ok("new", "job", "--title", "a", env=CLAUDE)
    assert twins(fix, env=CLAUDE) == "🎾 you · job"


def test_a_linked_store_in_the_tree(repo: Repo, machine: Machine) -> None:
    repo.ok("new", "job", "--title", "a")
    away = machine.folder("away").path
    (away / "threads").mkdir()
    (repo.path / ".watercooler").symlink_to(away)
    assert twins(repo) == "🎾 you · job"


LOOKS = [
    ([], {"COLUMNS": "12"}),
    ([], {"COLUMNS": "40"}),
    (["--ascii"], {}),
    (["--color=always"], {}),
    (["--color=never"], {}),
]


def test_looks(repo: Repo) -> None:
    repo.ok("new", "a-rather-long-topic-of-someone", "--title", "x")
    for words, env in LOOKS:
        assert twins(repo, *words, env=env)


def test_claude_code_s_json(repo: Repo, machine: Machine) -> None:
    repo.ok("new", "auth", "--title", "x")
    away = machine.folder("elsewhere")
    for fields in (
        {"workspace": {"current_dir": str(repo.path)}, "cwd": "/"},
        {"cwd": str(repo.path)},
        {"workspace": {"current_dir": "/"}, "worktree": {"path": str(repo.path)}},
        {"workspace": {"current_dir": "/gone", "project_dir": str(repo.path)}},
    ):
        feed = json.dumps(fields).encode()
        assert twins(away, "--stdin", "--color=never", feed=feed) == "🎾 you · auth"
    for feed in (b"", b"nonsense", b"[]", b'{"cwd": 7}', b"\xff" * 100):
        assert twins(away, "--stdin", feed=feed) == ""


def test_a_store_that_is_gone(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    store = repo.store
    store.rename(store.with_name("away"))
    assert twins(repo) == "wc: store missing, run wc doctor"


def test_a_repository_that_was_moved(repo: Repo, machine: Machine) -> None:
    repo.ok("say", "auth", "--title", "x")
    repo.path = repo.path.rename(machine.root / "moved")
    assert twins(repo) == "wc: store moved, run wc doctor"


def test_damage_does_not_blank_the_line(repo: Repo) -> None:
    for topic in ("auth", "billing"):
        repo.ok("new", topic, "--title", "x")
    (repo.log("auth")).with_name("meta.json").write_text("{")
    assert twins(repo) == "🎾 you · auth · +1"


def test_a_colour_that_is_none(repo: Repo) -> None:
    assert "always" in repo.fails(2, "statusline", "--color", "red")


def test_templates_rows_and_links(repo: Repo) -> None:
    repo.ok("new", "one", "--title", "x", "--to", "Pat", "--as", "Codex")
    repo.ok("new", "two", "--title", "x", "--to", "Codex", "--as", "Pat")
    repo.ok("init")
    assert twins(repo, "--format", "{ball}{topic}{? ({new})}") == "🎾one (1)"
    rows = twins(repo, "--rows", "3").splitlines()
    assert rows == ["🎾 you · one · 1 new", "Codex has the ball · two"]
    linked = twins(repo, "--links", "page")
    page = linked.partition("file://")[2].partition("\033")[0]
    assert Path(page).name == "one.md"
    assert Path(page).parent.name == "threads"


# --- what the script leaves to wc-cli -------------------------------------------


@pytest.mark.parametrize(
    ("topic", "words", "env", "expected"),
    [
        # Written from right to left, so it is isolated.
        ("דגל", (), {}, "🎾 you · \u2068דגל\u2069"),
        # How wide it is, the script cannot tell.
        ("zähler-中", (), {"COLUMNS": "18"}, "🎾 you · zähler-中"),
        ("zähler-中", (), {"COLUMNS": "17"}, "🎾 you · zähler-…"),
        ("auth", (), {"COLUMNS": "5"}, "🎾"),
        ("auth", (), {"COLUMNS": "1"}, ""),
        ("auth", (), {"COLUMNS": "0012"}, "🎾 you"),
        ("auth", (), {"COLUMNS": "wide"}, "🎾 you · auth"),
        ("auth", ("--rows=2", "--color=always"), {}, "\x1b[1;33m🎾 you · auth\x1b[0m"),
        ("auth", ("--rows=20", "--ascii"), {}, "[*] you - auth"),
        ("auth", ("--format={topic}!",), {"COLUMNS": "4"}, "aut…"),
        ("auth", ("--format=a\033b",), {}, "🎾 you · auth"),
        ("auth", ("--format", "", "--ascii"), {}, "[*] you - auth"),
    ],
)
def test_what_the_script_leaves_to_its_twin(
    repo: Repo, topic: str, words: tuple[str, ...], env: dict[str, str], expected: str
) -> None:
    repo.ok("new", topic, "--title", "x")
    assert twins(repo, *words, env=env) == expected


@pytest.mark.parametrize("odd", ["many", "0", "1"])
def test_rows_that_are_no_number_are_none(repo: Repo, odd: str) -> None:
    """The script forgives what a command does not."""
    repo.ok("new", "one", "--title", "x")
    repo.ok("new", "two", "--title", "x")
    done = repo.machine.run(["sh", SCRIPT, f"--rows={odd}"], repo.path)
    assert (done.code, done.out, done.err) == (0, "🎾 you · one · +1\n", "")


def _loop(repo: Repo, **changed: object) -> None:
    path = repo.path / ".claude/loop-state.json"
    path.parent.mkdir(exist_ok=True)
    fields = {"status": "running", "current_iteration": 3, "max_iterations": 10}
    path.write_text(json.dumps(fields | {"terminal_pid": os.getpid()} | changed))


def test_a_loop_stands_behind_the_ball(repo: Repo, machine: Machine) -> None:
    repo.ok("init")
    _loop(repo)
    assert twins(repo) == "loop 3/10"
    repo.ok("new", "auth", "--title", "x", "--to", "Codex", "--force")
    assert twins(repo) == "Codex has the ball · auth · loop 3/10"
    _loop(repo, status="waiting:human")
    text = "Codex has the ball · auth · loop 3/10 waiting for you"
    assert twins(repo, "--color=always") == f"\033[1;33m{text}\033[0m"
    _loop(repo, status="stalled")
    feed = json.dumps({"cwd": str(repo.path)}).encode()
    away = machine.folder("elsewhere")
    said = twins(away, "--stdin", "--ascii", "--color=never", feed=feed)
    assert said == "Codex has the ball - auth - loop 3/10 stalled"
    _loop(repo, status="done")
    assert twins(repo) == "Codex has the ball · auth"


def test_a_loop_that_is_half_written_is_left_out(repo: Repo) -> None:
    repo.ok("init")
    path = repo.path / ".claude/loop-state.json"
    _loop(repo)
    assert twins(repo) == "loop 3/10"
    path.write_text('{"status": "runn')
    assert twins(repo) == ""
    assert not (repo.store / ".local/loops").exists()


def test_input_that_the_script_has_read_names_the_folder(
    repo: Repo, machine: Machine
) -> None:
    repo.ok("new", "one", "--title", "x")
    repo.ok("new", "two", "--title", "x")
    away = machine.folder("elsewhere")
    feed = json.dumps({"workspace": {"current_dir": str(repo.path)}}).encode()
    plain = ("--stdin", "--color=never", "--rows=2")
    assert twins(away, *plain, feed=feed) == "🎾 you · one\n🎾 you · two"
    words = [*plain, "--chain", "cat; echo"]
    done = machine.run(["sh", SCRIPT, *words], away.path, feed=feed)
    expected = f"{feed.decode()}\n🎾 you · one\n🎾 you · two\n"
    assert (done.code, done.out, done.err) == (0, expected, "")


@pytest.mark.parametrize(
    "shell",
    ["sh", *(pytest.param(one, marks=pytest.mark.long) for one in ("bash", "zsh"))],
)
def test_a_slow_chained_line_does_not_starve_ours(repo: Repo, shell: str) -> None:
    """Claude Code ends a run after 5 seconds. What still runs may keep its output."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} IS NOT INSTALLED")
    repo.ok("new", "one", "--title", "x")
    words = [shell, SCRIPT, "--color=never", "--chain", "echo begun; sleep 20 | cat"]
    before = time.monotonic()
    done = repo.machine.run(words, repo.path)
    assert time.monotonic() - before < 15
    assert (done.code, done.out, done.err) == (0, "begun\n🎾 you · one\n", "")
    feed = json.dumps({"cwd": str(repo.path)}).encode()
    words = [shell, SCRIPT, "--color=never", "--stdin", "--chain", "cat; echo"]
    before = time.monotonic()
    done = repo.machine.run(words, repo.path, feed=feed)
    assert time.monotonic() - before < 4
    assert done.out == f"{feed.decode()}\n🎾 you · one\n"


def test_wc_cli_is_found_through_links(repo: Repo, machine: Machine) -> None:
    repo.ok("new", "auth", "--title", "x")
    folder = machine.folder("programs").path
    (folder / "first").symlink_to(SCRIPT)
    (folder / "in").mkdir()
    (folder / "in/wc-statusline").symlink_to("../first")
    for words, where in (
        ([str(folder / "in/wc-statusline")], repo.path),
        (["sh", "../programs/in/wc-statusline"], repo.path),
        (["sh", "wc-statusline"], folder / "in"),
    ):
        done = machine.run([*words, "--format={topic}!"], where)
        assert (done.code, done.err) == (0, "")
        assert done.out == ("auth!\n" if where == repo.path else "")


def test_without_wc_cli_only_a_current_line_is_printed(
    repo: Repo, machine: Machine
) -> None:
    repo.ok("new", "auth", "--title", "x")
    alone = machine.folder("alone").path / "wc-statusline"
    shutil.copy(SCRIPT, alone)

    def says() -> str:
        done = machine.run([str(alone)], repo.path)
        assert (done.code, done.err) == (0, "")
        return done.out.strip()

    assert says() == ""
    assert twins(repo) == says() == "🎾 you · auth"
    # The same where it fails.
    cli = alone.with_name("wc-cli")
    cli.symlink_to("/bin/false")
    assert says() == "🎾 you · auth"
    repo.ok("read", "auth")
    repo.ok("set-status", "auth", "BLOCKED")
    assert says() == ""
    _loop(repo)
    assert says() == ""


def test_settings_that_cannot_be_read_blank_no_prompt(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "x")
    (repo.store / "config.toml").write_text("[")
    done = repo.machine.run(["sh", SCRIPT, "--rows=3"], repo.path)
    assert (done.code, done.out, done.err) == (0, "🎾 you · auth\n", "")


def test_a_prompt_starts_nothing_in_the_background(repo: Repo) -> None:
    """A command that reads takes up what is left to settle; a prompt does not."""
    repo.ok("new", "auth", "--title", "x", env={"WATERCOOLER_SYNC": "off"})

    def files() -> list[Path]:
        paths = sorted((repo.store / ".local").rglob("*"))
        return [path for path in paths if path.parent.name not in {"line", "me"}]

    unsettled = files()
    env = {"WATERCOOLER_SYNC": "background"}
    done = repo.machine.run(["sh", SCRIPT, "--rows=3"], repo.path, env=env)
    assert done.out == "🎾 you · auth\n"
    assert files() == unsettled
