"""``wc run --cloud`` with stand-ins for the clients: a real remote, real clones of it
in other homes, and what they leave."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.carry.places import PLACES, accept_only, new_hub, session
from tests.cli.runs.running import (
    FOUND,
    SECONDS,
    RunHere,
    Running,
    ask_for,
    clone_of,
    events,
    plan,
    record_of,
    repo_of,
    runner_of,
    shared,
    state,
    sync_at_once,
    write_record,
)
from tests.clients.conftest import installed
from tests.conftest import THREADS
from wc_cli.agents.runs import reserving
from wc_cli.agents.runs.cloud.addresses import ANY_ADDRESS, session_in, with_blanks
from wc_cli.agents.runs.runner import RunEvent, RunLimits
from wc_cli.commands import problems
from wc_cli.ledger.clock import now_ms
from wc_cli.run.context import Context
from wc_core.attention.runs import records
from wc_core.base import agents
from wc_core.base.layout import Layout
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

CLIENT = Path(__file__).parent / "cloudclient.py"
CLOUD = "Codex@cloud"
CLAIMS = "refs/wc/claims/"
CONFLICT, NOT_FOUND, OFFLINE = 4, 3, 8
CLAUDE, CODEX = PLACES["Claude Code in the cloud"], PLACES["Codex cloud"]


def with_clients(machine: Machine, hub: Path) -> None:
    """Give a machine the programs, signed in."""
    for program in ("claude", "codex"):
        path = machine.root / f"bin/{program}"
        path.write_text(
            f'#!/bin/sh\nexec {sys.executable} -S {CLIENT} {program} "$@"\n'
        )
        path.chmod(0o755)
    (machine.home / "cloud").mkdir()
    (machine.home / "cloud/hub").write_text(str(hub))
    folder = machine.home / ".config/watercooler"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[run]\nenvironment = "env_{repository}"\n')


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return tmp_path / "acme/app.git"


@pytest.fixture
def repo(tmp_path: Path, hub: Path) -> RunHere:
    """A repository whose threads are at its remote."""
    hub.parent.mkdir()
    machine = installed(tmp_path)
    with_clients(machine, hub)
    person = repo_of(machine)
    shared(person, hub)
    return person


def started(repo: Repo) -> dict[str, dict[str, Any]]:
    """What was started in the cloud, by the ids of the sessions."""
    paths = sorted((repo.machine.home / "cloud").glob("*.json"))
    return {path.stem: json.loads(path.read_text()) for path in paths}


def waiting(repo: Repo, *words: str) -> dict[str, str]:
    return {row["topic"]: row["reason"] for row in plan(repo, *words)["waiting"]}


def work_in_claude(hub: Path, root: Path, topic: str) -> Repo:
    """A session of Claude Code does the work, and pushes its branch."""
    cloud = session(CLAUDE, hub, root, f"claude/{topic}")
    (cloud.path / f"{topic}.txt").write_text("work\n")
    cloud.git("add", "-A")
    cloud.git("commit", "-qm", f"Work on {topic}")
    cloud.ok("done", topic, "-m", "Finished in the cloud")
    cloud.git("push", "-q", "origin", f"HEAD:claude/{topic}")
    accept_only(hub, "")
    return cloud


def work_in_codex(repo: Repo, hub: Path, root: Path, topic: str, task: str) -> None:
    """A session of Codex does the work. Its changes are a diff."""
    cloud = session(CODEX, hub, root)
    (cloud.path / f"{topic}.txt").write_text("work\n")
    cloud.ok("done", topic, "-m", "Finished in the cloud")
    cloud.git("add", "-A")
    diff = cloud.git("diff", "--binary", "--cached", "main")
    (repo.machine.home / f"cloud/{task}.diff").write_text(f"{diff}\n")


# --- a branch that a session pushes -------------------------------------------------


def test_from_the_ball_to_the_answer_by_a_branch(
    repo: Repo, hub: Path, tmp_path: Path
) -> None:
    ask_for(repo, "login", "Use a passkey", "Claude Code")
    (told,) = events(repo, "--cloud")
    assert (told["event"], told["topic"]) == ("started", "login")
    assert told["address"] == "https://claude.ai/code/session_010001"
    (fields,) = started(repo).values()
    assert fields["branch"] == "main"
    assert "> Use a passkey" in fields["prompt"]
    assert "wc done login" in fields["prompt"]
    # Everyone sees it, and nobody starts it again.
    ball = "Claude Code@cloud/session"
    found = state(repo, "login")
    assert (found["ball"], found["pass"]["state"]) == (ball, "in_cloud")
    assert told["address"] in found["entries"][-1]["title"]
    assert "in the cloud, started" in repo.ok("list").out
    assert events(repo) == events(repo, "--cloud") == []
    assert told["address"] in waiting(repo)["login"]
    # There, it is the session's own, whatever its name is.
    (tmp_path / "there").mkdir()
    cloud = work_in_claude(hub, tmp_path / "there", "login")
    assert cloud.json("list")["threads"][0]["ball"] == "Pat"
    repo.ok("sync", "--harvest")
    assert state(repo, "login")["ball"] == "Pat"
    (told,) = events(repo)
    assert (told["event"], told["text"]) == ("passed", "passed to Pat")
    result = repo.json("run", "fetch", "login")
    assert (result["branch"], result["remote"]) == ("claude/login", "origin")
    assert repo.git("log", "-1", "--skip=1", "--format=%s", result["commit"]) == (
        "Work on login"
    )


def test_a_session_has_the_ball_in_its_brief(
    repo: Repo, hub: Path, tmp_path: Path
) -> None:
    ask_for(repo, "login", "Use a passkey", "Claude Code")
    ask_for(repo, "other", "Something else", "Codex@cloud")
    events(repo, "login", "--cloud")
    (tmp_path / "there").mkdir()
    cloud = session(CLAUDE, hub, tmp_path / "there")
    cloud.ok("init")
    owners = {row["topic"]: row["have_ball"] for row in cloud.json("list")["threads"]}
    assert owners == {"login": True, "other": False}
    assert "login" in cloud.ok("brief").out
    accept_only(hub, "")
    # Not here: the ball is in the cloud.
    here = {"WATERCOOLER_AGENT": "Claude Code"}
    rows = repo.json("list", env=here)["threads"]
    assert not any(row["have_ball"] for row in rows)


def test_a_session_that_takes_the_ball_answers_the_person(
    repo: Repo, hub: Path, tmp_path: Path
) -> None:
    ask_for(repo, "login", "Use a passkey", "Claude Code@cloud")
    events(repo)
    (tmp_path / "there").mkdir()
    cloud = session(CLAUDE, hub, tmp_path / "there", "claude/login")
    cloud.ok("take", "login")
    cloud.ok("say", "login", "-m", "Which one?")
    cloud.git("push", "-q", "origin", "HEAD:claude/login")
    accept_only(hub, "")
    repo.ok("sync", "--harvest")
    assert repo.ball("login") == "Pat"


def test_nothing_of_a_session_that_has_not_answered(repo: Repo) -> None:
    ask_for(repo, "login", "work", "Claude Code@cloud")
    events(repo)
    done = repo.wc("run", "fetch", "login")
    assert done.code == CONFLICT
    assert "https://claude.ai/code/session_010001" in done.err


def test_the_ball_can_be_taken_back_and_started_again(repo: Repo) -> None:
    ask_for(repo, "login", "work", "Claude Code@cloud")
    events(repo)
    repo.ok("take", "login", "--reason", "It hangs")
    (told,) = events(repo)
    assert told["event"] == "passed"
    repo.ok("handoff", "login", "--to", "Claude Code@cloud")
    (told,) = events(repo)
    assert told["session"] == "session_010002"


def test_an_answer_starts_a_new_session_on_the_branch(
    repo: Repo, hub: Path, tmp_path: Path
) -> None:
    """The ball goes back to the session that asked, which has ended."""
    ask_for(repo, "login", "work", "Claude Code@cloud")
    events(repo)
    (tmp_path / "there").mkdir()
    cloud = session(CLAUDE, hub, tmp_path / "there", "claude/login")
    cloud.ok("say", "login", "--to", "asker", "-m", "Which one?")
    cloud.git("push", "-q", "origin", "HEAD:claude/login")
    accept_only(hub, "")
    repo.ok("sync", "--harvest")
    repo.ok("say", "login", "-m", "This one")
    assert state(repo, "login")["ball"] == "Claude Code@claude/login"
    # Its command begins where it runs.
    assert "no worktree has claude/login" in waiting(repo, "--cloud")["login"]
    path = str(tmp_path / "again")
    repo.git("worktree", "add", "-q", "-b", "claude/login", path, "origin/claude/login")
    told = events(repo, "--cloud")[-1]
    assert told["event"] == "started", told
    assert started(repo)[told["session"]]["branch"] == "claude/login"
    assert "> This one" in started(repo)[told["session"]]["prompt"]


# --- a diff -------------------------------------------------------------------------


def test_a_diff_becomes_a_branch_and_its_entries_arrive(
    repo: Repo, hub: Path, tmp_path: Path
) -> None:
    ask_for(repo, "login", "work", CLOUD)
    (told,) = events(repo)
    (fields,) = started(repo).values()
    assert (fields["branch"], fields["environment"]) == ("main", "env_acme/app")
    early = repo.wc("run", "fetch", "login")
    assert early.code == CONFLICT
    assert "it may still be running" in early.err
    (tmp_path / "there").mkdir()
    work_in_codex(repo, hub, tmp_path / "there", "login", told["session"])
    before = repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD")
    result = repo.json("run", "fetch", "login")
    assert (result["branch"], result["came"]) == ("codex/login", 1)
    assert repo.git("show", "codex/login:login.txt") == "work"
    assert repo.git("log", "-1", "--format=%an", "codex/login") == "Codex"
    assert (repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD")) == before
    found = state(repo, "login")
    assert found["ball"] == "Pat"
    assert found["entries"][-1]["title"] == "Finished in the cloud"
    again = repo.json("run", "fetch", "login")
    assert (again["commit"], again["is_new"], again["came"]) == (
        *(result["commit"], False),
        0,
    )
    assert not [path for path in repo.path.iterdir() if path.name == "error.log"]


def test_a_later_result_leaves_the_earlier_branch(repo: Repo) -> None:
    ask_for(repo, "login", "work", CLOUD)
    (told,) = events(repo)
    path = repo.machine.home / f"cloud/{told['session']}.diff"
    head = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n"
    path.write_text(f"{head.format('one')}@@ -0,0 +1 @@\n+1\n")
    assert repo.json("run", "fetch", "login")["branch"] == "codex/login"
    repo.git("branch", "-m", "codex/login", "mine")
    repo.git("branch", "codex/login", "main")
    path.write_text(f"{head.format('two')}@@ -0,0 +1 @@\n+2\n")
    assert repo.json("run", "fetch", "login")["branch"] == "codex/login-2"
    assert repo.git("rev-parse", "codex/login") == repo.git("rev-parse", "main")
    assert repo.git("show", "mine:one") == "1"
    assert repo.git("show", "codex/login-2:two") == "2"


def test_a_diff_that_does_not_apply_is_kept(repo: Repo) -> None:
    ask_for(repo, "login", "work", CLOUD)
    (told,) = events(repo)
    diff = "diff --git a/no b/no\n--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n"
    (repo.machine.home / f"cloud/{told['session']}.diff").write_text(diff)
    done = repo.wc("run", "fetch", "login")
    assert done.code == CONFLICT
    assert "does not apply to main" in done.err
    (kept,) = (repo.private / "runs").glob("*.diff")
    assert kept.read_text() == diff
    assert str(kept) in done.err
    assert not repo.git("branch", "--list", "codex/*")
    # The branch has moved on since, and there it does.
    (repo.path / "no").write_text("a\n")
    repo.git("add", "no")
    repo.git("commit", "-qm", "No")
    repo.git("push", "-q", "origin", "main")
    assert repo.json("run", "fetch", "login")["branch"] == "codex/login"


def test_what_cannot_be_an_entry_is_refused_and_the_work_is_there(repo: Repo) -> None:
    ask_for(repo, "login", "work", CLOUD)
    (told,) = events(repo)
    path = ".watercooler/outbox/a.jsonl"
    diff = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n"
    diff += f'+++ b/{path}\n@@ -0,0 +1 @@\n+{{"id": 1}}\n'
    (repo.machine.home / f"cloud/{told['session']}.diff").write_text(diff)
    result = repo.json("run", "fetch", "login")
    assert (result["branch"], result["came"]) == ("codex/login", 0)
    assert "line 1" in result["notes"][0]
    done = repo.wc("problems")
    assert done.code == FOUND
    assert done.out.startswith("codex/login: ")
    assert "git log codex/login" in done.out


def test_what_was_not_started_here_cannot_be_got(repo: Repo) -> None:
    ask_for(repo, "login", "work", CLOUD)
    done = repo.wc("run", "fetch", "login")
    assert done.code == NOT_FOUND
    assert "wc run --cloud login" in done.err


# --- what a session begins with -----------------------------------------------------


def test_a_branch_is_pushed_only_with_the_persons_word(repo: Repo, hub: Path) -> None:
    repo.git("switch", "-q", "-c", "fix")
    ask_for(repo, "login", "work", CLOUD)
    assert "lacks the branch fix" in waiting(repo)["login"]
    assert "--push" in waiting(repo)["login"]
    assert events(repo) == []
    (start,) = plan(repo, "--push")["start"]
    commit = repo.git("rev-parse", "HEAD")
    push = ["git", "push", "origin", f"{commit}:refs/heads/fix"]
    assert start["push"] == push
    assert not repo.machine.git("branch", "--list", "fix", cwd=hub)
    hook = repo.path / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\ntouch hook-ran\n")
    hook.chmod(0o755)
    (told,) = events(repo, "--push")
    assert told["event"] == "started", told
    assert repo.machine.git("rev-parse", "fix", cwd=hub) == commit
    assert started(repo)[told["session"]]["branch"] == "fix"
    repo.git("commit", "-q", "--allow-empty", "-m", "More")
    ask_for(repo, "more", "work", CLOUD)
    assert "has an older fix" in waiting(repo)["more"]
    # The remote has more than we know of, on another line.
    tree = repo.git("write-tree")
    other = repo.git("commit-tree", tree, "-p", "main", "-m", "Other")
    repo.git("push", "-q", "-f", "origin", f"{other}:refs/heads/fix")
    assert "other commits at origin" in waiting(repo, "--push")["more"]


def test_a_hook_that_refuses_a_push_starts_nothing(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "fix")
    ask_for(repo, "login", "work", CLOUD)
    hook = repo.path / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (told,) = events(repo, "--push")
    assert told["event"] == "failed"
    assert state(repo, "login")["ball"] == "Codex@cloud"
    assert not started(repo)


def test_a_session_can_begin_with_another_branch(repo: Repo) -> None:
    repo.git("push", "-q", "origin", "main:next")
    ask_for(repo, "login", "work", CLOUD)
    (told,) = events(repo, "--from", "next")
    assert started(repo)[told["session"]]["branch"] == "next"
    ask_for(repo, "more", "work", CLOUD)
    reasons = waiting(repo, "--from", "nowhere")
    assert "There is no branch nowhere" in reasons["more"]


# --- what goes wrong ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "ball", "text"),
    [
        ("refused", "Codex@cloud", "Please run 'codex login'"),
        ("silent", "Pat", "may have started one"),
    ],
)
def test_a_client_that_starts_nothing_leaves_the_ball(
    repo: Repo, act: str, ball: str, text: str
) -> None:
    ask_for(repo, "login", act, CLOUD)
    (told,) = events(repo)
    assert told["event"] == "failed"
    assert text in told["text"]
    found = state(repo, "login")
    assert found["ball"] == ball
    assert ("Not signed in" in found["entries"][-1]["body"]) == (act == "refused")
    repo.ok("sync")
    assert "Codex@cloud/session" not in repo.ok("list").out


def test_a_client_that_hangs_is_ended(repo: Repo) -> None:
    """In this process, so that it need not hang for long."""
    ask_for(repo, "login", "hang", CLOUD)
    told: list[RunEvent] = []
    limits = RunLimits(1, once=True, until=time.monotonic() + 60, seconds=60)
    limits = limits._replace(cloud_seconds=1.0)
    runner_of(repo, limits, told.append).run(lambda _: None)
    (event,) = told
    assert "took longer than 1s" in event.text
    assert state(repo, "login")["ball"] == "Pat"
    assert not record_of(repo).is_alive


def test_a_client_that_stays_is_ended_once_it_has_named_its_session(
    repo: Repo,
) -> None:
    ask_for(repo, "login", "stays", "Claude Code@cloud")
    before = time.monotonic()
    (told,) = events(repo)
    assert told["session"] == "session_010001"
    assert time.monotonic() - before < 30
    assert record_of(repo).state == records.IN_CLOUD


def test_an_address_in_the_thread_is_not_the_sessions(repo: Repo) -> None:
    wrong = "https://chatgpt.com/codex/tasks/task_e_wrong"
    repo.ok("new", "login", "-m", "echo silent", "-m", wrong, "--to", "Codex@cloud")
    (told,) = events(repo)
    assert told["event"] == "failed"
    assert wrong in repo.ok("run", "log", "login").out


def test_no_remote_no_threads_and_no_program(tmp_path: Path, hub: Path) -> None:
    (tmp_path / "machine").mkdir()
    machine = installed(tmp_path / "machine")
    person = repo_of(machine)
    ask_for(person, "login", "work", "Claude Code@cloud")
    machine.env["PATH"] = f"{machine.root}/bin:/usr/bin:/bin"
    assert "claude is not installed, or not in PATH" in waiting(person)["login"]
    with_clients(machine, hub)
    assert "no remote" in waiting(person)["login"]
    hub.parent.mkdir()
    new_hub(person, hub)
    assert "Share them: wc sync" in waiting(person)["login"]
    person.ok("sync")
    (machine.home / ".config/watercooler/config.toml").unlink()
    assert waiting(person) == {}
    ask_for(person, "more", "work", CLOUD)
    assert "run.environment" in waiting(person)["more"]
    person.ok("new", "zed", "-m", "work", "--to", "Zed@cloud")
    assert "how to start Zed in the cloud" in waiting(person)["zed"]
    hub.rename(hub.parent / "away")
    assert "login" in waiting(person)


def test_a_remote_that_does_not_answer_starts_nothing(repo: Repo, hub: Path) -> None:
    ask_for(repo, "login", "work", CLOUD)
    hub.rename(hub.parent / "away")
    assert events(repo) == []
    assert state(repo, "login")["ball"] == "Codex@cloud"


def test_the_persons_own_command_comes_first(repo: Repo, tmp_path: Path) -> None:
    program = tmp_path / "jules"
    program.write_text('#!/bin/sh\necho "session: https://jules.example/s/42"\n')
    program.chmod(0o755)
    words = ("config", "--global", "set", "run.jules-cloud")
    repo.ok(*words, "--", str(program), "--on", "{branch}")
    ask_for(repo, "login", "work", "Jules@cloud")
    (start,) = plan(repo)["start"]
    assert start["command"][:3] == [str(program), "--on", "main"]
    (told,) = events(repo)
    assert told["address"] == "https://jules.example/s/42"


def test_at_most_so_many_at_once(repo: Repo) -> None:
    for number in range(3):
        ask_for(repo, f"t{number}", "work", CLOUD)
    assert len(events(repo, "--max", "2")) == 2
    assert events(repo, "--max", "2") == []
    assert len(events(repo, "--max", "3")) == 1


def changed_record(repo: Repo, **fields: Any) -> None:
    """The record of login, as a `wc run` that was killed then would have left it."""
    lost = record_of(repo)._replace(runner=1 << 22, runner_begin=1, **fields)
    write_record(repo, lost)


def test_one_that_was_killed_before_the_command_gives_the_ball_back(
    repo: Repo,
) -> None:
    ask_for(repo, "login", "work", CLOUD)
    events(repo)
    changed_record(repo, state=records.STARTING, pid=0, session="", address="")
    assert events(repo, "--agent", "Claude Code") == []
    assert state(repo, "login")["ball"] == "Codex@cloud"


def hold_push(hub: Path, number: int) -> None:
    """Have the hub keep the threads waiting when they are sent for the n-th time."""
    hook = hub / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"""#!/bin/sh
grep -q {THREADS} || exit 0
echo >>"$GIT_DIR/pushes"
[ "$(grep -c ^ "$GIT_DIR/pushes")" = {number} ] || exit 0
touch "$GIT_DIR/holds"
for n in $(seq 400); do [ -e "$GIT_DIR/go" ] && exit; sleep 0.05; done
""")
    hook.chmod(0o755)


@pytest.mark.parametrize("number", [1, 2])
def test_one_that_was_killed_before_the_command_keeps_no_claim_and_no_ball(
    repo: Repo, hub: Path, number: int
) -> None:
    """While the threads are sent: before the entry that passes the ball, and after."""
    ask_for(repo, "login", "work", CLOUD)
    sync_at_once(repo.machine)
    hold_push(hub, number)
    one = Running(repo, "--once")
    end = time.monotonic() + SECONDS
    while not (hub / "holds").exists():
        assert time.monotonic() < end, one.told
        time.sleep(0.02)
    one.process.kill()
    one.close()
    (hub / "go").touch()
    claims = ("for-each-ref", CLAIMS)
    assert repo.machine.git(*claims, cwd=hub)
    assert events(repo, "--agent", "Claude Code") == []
    assert not repo.machine.git(*claims, cwd=hub)
    assert repo.ball("login") == "Codex@cloud"
    assert [told["event"] for told in events(repo)] == ["started"]
    assert len(started(repo)) == 1


def test_a_start_that_another_machine_prevents_leaves_the_earlier_session(
    repo: Repo,
) -> None:
    ask_for(repo, "login", "work", CLOUD)
    events(repo)
    repo.ok("take", "login", "--reason", "It hangs")
    repo.ok("handoff", "login", "--to", "Codex@cloud")
    sync_at_once(repo.machine)
    at = Context(repo.machine.env, str(repo.path), Asked("Codex"))
    reserving.reserve(at, "login", 60)
    assert [told["event"] for told in events(repo)] == ["passed"]
    assert len(started(repo)) == 1
    done = repo.wc("run", "fetch", "login")
    assert "task_e_0001; it may still be running" in done.err


def test_a_ball_that_has_moved_is_not_given_back(repo: Repo) -> None:
    ask_for(repo, "login", "work", CLOUD)
    events(repo)
    changed_record(repo, state=records.STARTING, pid=0, session="", address="")
    repo.ok("take", "login", "--reason", "It takes too long")
    assert events(repo, "--agent", "Claude Code") == []
    assert state(repo, "login")["ball"] == "Pat"


def test_one_that_was_killed_after_the_command_finds_its_session(repo: Repo) -> None:
    ask_for(repo, "login", "work", CLOUD)
    events(repo)
    changed_record(repo, state=records.RUNNING, session="", address="")
    # The thread has the address of the first one.
    output = Path(records.log_of(Layout(str(repo.store)), "login"))
    output.write_text("https://chatgpt.com/codex/tasks/task_e_0042\n")
    (told,) = events(repo, "--agent", "Claude Code")
    assert (told["event"], told["session"]) == ("started", "task_e_0042")
    assert state(repo, "login")["ball"] == "Codex@cloud/session"
    assert len(started(repo)) == 1


def test_what_is_in_the_cloud_leaves_room_here(repo: Repo) -> None:
    program = repo.machine.root / "bin/local"
    program.write_text("#!/bin/sh\nwc done here -m Finished\n")
    program.chmod(0o755)
    repo.ok("config", "--global", "set", "run.codex", str(program))
    ask_for(repo, "login", "work", CLOUD)
    ask_for(repo, "here", "work", "Codex")
    told = events(repo, "--max", "1")
    kinds = {(event["event"], event["topic"]) for event in told}
    assert kinds == {("started", "login"), ("started", "here"), ("passed", "here")}


def test_a_worktree_that_was_made_goes_with_its_thread_wherever_that_ran_last(
    repo: Repo,
) -> None:
    program = repo.machine.root / "bin/local"
    program.write_text("#!/bin/sh\ntouch left\nwc done login -m Finished\n")
    program.chmod(0o755)
    repo.ok("config", "--global", "set", "run.codex", str(program))
    other = repo.worktree("app-wt-other")
    ask_for(repo, "login", "work", "Codex")
    made = Path(events(repo)[0]["worktree"])
    assert made.is_dir()
    places = {"Codex@cloud": "", "Codex": str(made), "Codex@other": str(other.path)}
    for holder, place in places.items():
        words = ("--to", holder, "--force", "--reason", "Elsewhere")
        repo.ok("handoff", "login", *words)
        # What an earlier run has left is in nobody's way.
        begun = [told for told in events(repo, "--push") if told["event"] == "started"]
        assert [told["worktree"] for told in begun] == [place]
    repo.ok("close", "login")
    assert events(repo) == []
    (made / "left").unlink()
    (removed,) = events(repo)
    assert (removed["event"], removed["worktree"]) == ("removed", str(made))
    assert not made.exists()
    assert other.path.is_dir()


def test_problems_name_who_never_answered(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_for(repo, "login", "work", CLOUD)
    events(repo)
    assert repo.wc("problems").code == 0
    path = repo.machine.home / ".config/watercooler/config.toml"
    path.write_text("[run]\ncloud_minutes = 1\n")
    context = Context(repo.machine.env, str(repo.path), Asked())
    later = now_ms() + 61_000
    monkeypatch.setattr(problems, "now_ms", lambda: later)
    (finding,) = problems.cloud_findings(context, "login")
    assert "was started 1m ago and has not answered" in finding.message
    assert "https://chatgpt.com/codex/tasks/task_e_0001" in finding.fix
    assert "wc run fetch login" in finding.fix


def test_two_machines_start_no_session_twice(
    repo: Repo, hub: Path, tmp_path: Path
) -> None:
    """The second one has not heard of the first one's start."""
    (tmp_path / "lap").mkdir()
    lap = installed(tmp_path / "lap")
    with_clients(lap, hub)
    sync_at_once(repo.machine)
    sync_at_once(lap)
    ask_for(repo, "login", "work", CLOUD)
    there = clone_of(lap, hub)
    assert len(events(repo)) == 1
    assert there.ball("login") == "Codex@cloud"
    assert events(there) == []
    assert not started(there)
    assert there.ball("login") == "Codex@cloud/session"
    assert "in the cloud, started" in there.ok("list").out


# --- addresses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "output", "found"),
    [
        (
            "Claude Code",
            """Created cloud session: Fix\r
View: https://claude.ai/code/session_01Ab?from=cli&m=0\r
Resume with: claude --teleport session_01Ab\r
""",
            "session_01Ab",
        ),
        # As a program that draws writes it.
        (
            "Claude Code",
            "\x1b[2GView:\x1b[8Ghttps://claude.ai/code/cse_9\x1b[39m\r\n",
            "cse_9",
        ),
        ("Claude Code", "see https://claude.ai/code/session_01Ab for more\n", ""),
        ("Codex", "https://chatgpt.com/codex/tasks/task_e_6950\n", "task_e_6950"),
        ("Codex", "https://chatgpt.com/codex/settings\n", ""),
        ("Codex", "https://chatgpt.com/codex/tasks/task_e_given\n", ""),
        ("", "Started.\nLink: https://jules.example/s/42?x=1\n", "42"),
        ("", "no address\n", ""),
    ],
)
def test_an_address_is_distinguished(agent: str, output: str, found: str) -> None:
    row = agents.row_of(agent)
    pattern = row.cloud.address if row is not None and row.cloud else ANY_ADDRESS
    thread = "… https://chatgpt.com/codex/tasks/task_e_given …"
    session = session_in(with_blanks(output.encode()).decode(), pattern, thread)
    assert (session.id if session else "") == found
    assert session is None or "?" not in session.address
