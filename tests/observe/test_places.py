"""Which store a call reads, and who is taken to make it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from fastmcp import Client
from mcp_types import Implementation

from tests.observe.stores import MODES, Session, Store, answer_text
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.roots import current_call
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.observe.stores import Mode


def git(folder: Path, *arguments: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "pat",
        "GIT_AUTHOR_EMAIL": "pat@example.org",
        "GIT_COMMITTER_NAME": "pat",
        "GIT_COMMITTER_EMAIL": "pat@example.org",
    }
    subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        env=environment,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and the store's branch, not checked out."""
    folder = tmp_path / "code" / "app"
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(folder, "branch", "watercooler/threads")
    return folder


def other(tmp_path: Path, name: str) -> Store:
    store = Store(tmp_path / name / ".watercooler")
    store.thread(f"in-{name.replace(' ', '-')}")
    return store


@pytest.mark.parametrize("mode", MODES)
def test_the_clients_root_comes_first(
    tmp_path: Path, env: dict[str, str], mode: Mode
) -> None:
    rooted, project, here = (
        other(tmp_path, name) for name in ("the root", "project", "here")
    )
    root = rooted.root.parent
    session = Session(here.root.parent, env, mode=mode)
    assert "in-here" in session.text("list_threads")
    session.env["CLAUDE_PROJECT_DIR"] = str(project.root.parent)
    assert "in-project" in session.text("list_threads")
    session.roots = ["file:///nowhere/at/all", root.as_uri()]
    assert "in-the-root" in session.text("list_threads")
    assert "in-the-root" in session.read("threads")
    # A root with a store goes before one without, whatever their order.
    session.roots = [tmp_path.as_uri(), project.root.parent.as_uri()]
    assert "in-project" in session.text("list_threads")
    session.roots = [tmp_path.as_uri()]
    assert session.error("list_threads")["code"] == "NOT_FOUND"
    session.env["WATERCOOLER_DIR"] = str(here.root)
    assert "in-here" in session.text("list_threads")


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_cannot_say_its_roots_is_answered(
    tmp_path: Path, env: dict[str, str], mode: Mode
) -> None:
    here = other(tmp_path, "here")
    session = Session(here.root.parent, env, mode=mode)
    session.roots = ["file:///tmp/%00", "file:///nowhere"]
    assert "in-here" in session.text("list_threads")


def test_a_client_that_fails_to_say_its_roots_is_asked_once(
    tmp_path: Path, env: dict[str, str]
) -> None:
    here = other(tmp_path, "here")
    asked: list[object] = []

    def roots(context: object) -> list[str]:
        asked.append(context)
        raise RuntimeError("not today")

    async def ask() -> None:
        start = ServerContext(str(here.root.parent), env, lambda: 0)
        async with Client(build_server(start), mode="legacy", roots=roots) as client:
            for _ in range(2):
                result = await client.call_tool("watercooler_v1_list_threads", {})
                assert "in-here" in result.content[0].text

    asyncio.run(ask())
    assert len(asked) == 1


def test_outside_a_request_the_folder_is_the_servers(
    tmp_path: Path, env: dict[str, str]
) -> None:
    start = ServerContext(str(tmp_path), env, lambda: 0)
    call = current_call(None, [], start)
    assert call.folder == str(tmp_path)
    assert call.client == "MCP client"


def test_home_is_shown_as_a_tilde(tmp_path: Path, env: dict[str, str]) -> None:
    store = other(tmp_path / "home", "code")
    session = Session(store.root.parent, env)
    shown = "~/code/.watercooler"
    assert f"in the store {shown}\n" in session.text("list_threads")
    assert session.json("list_threads")["store"] == shown
    assert f"store: {shown}\n" in session.text("read_thread", topic="in-code")
    found = session.fields("whoami")
    assert (found["store"], found["folder"]) == (shown, "~/code")


def test_no_store_says_what_to_run(tmp_path: Path, env: dict[str, str]) -> None:
    session = Session(tmp_path, env)
    for tool in ("list_threads", "reindex", "list_updates"):
        told = session.error(tool)
        assert told["code"] == "NOT_FOUND"
        assert "There is no store yet" in told["message"]
        assert "wc init" in told["hint"]
    found = session.fields("health")
    assert not found["ok"]
    assert not found["exists"]
    assert "wc init" in found["problems"][0]
    found = session.fields("whoami")
    assert not found["exists"]
    assert "Watercooler" in session.read("instructions")


def test_a_removed_folder_is_named(tmp_path: Path, env: dict[str, str]) -> None:
    told = Session(tmp_path / "gone", env).error("list_threads")
    assert told["code"] == "NOT_FOUND"
    assert f"no longer exists: {tmp_path}/gone" in told["message"]
    assert "wc init" not in told["hint"]


def test_a_remote_that_has_not_been_asked_is_named(
    repository: Path, env: dict[str, str]
) -> None:
    git(repository, "branch", "-D", "watercooler/threads")
    git(repository, "remote", "add", "origin", str(repository.parent / "gone"))
    session = Session(repository, env)
    told = session.error("list_threads")
    assert told["message"] == "origin has not been asked for threads."
    assert told["hint"] == "Ask it: wc init"
    (problem,) = session.fields("health")["problems"]
    assert "origin has not been asked for threads. Ask it: wc init" in problem


def test_a_store_named_wrongly(tmp_path: Path, env: dict[str, str]) -> None:
    session = Session(tmp_path, env | {"WATERCOOLER_DIR": "gone"})
    told = session.error("list_threads")
    assert told["message"].startswith("WATERCOOLER_DIR names ")


def test_a_branch_nobody_has_checked_out(repository: Path, env: dict[str, str]) -> None:
    session = Session(repository, env)
    told = session.error("read_thread", topic="plan")
    assert told["code"] == "NOT_FOUND"
    assert "has threads on its branch watercooler/threads" in told["message"]
    assert told["hint"] == "Check them out: wc init"


def test_a_checkout_of_the_branch(
    repository: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    root = tmp_path / "checkout"
    git(repository, "worktree", "add", "-q", str(root), "watercooler/threads")
    Store(root).thread("plan")
    subfolder = repository / "deep" / "down"
    subfolder.mkdir(parents=True)
    session = Session(subfolder, env)
    assert "plan" in session.text("list_threads")
    found = session.fields("health")
    assert (found["kind"], found["branch"]) == ("branch", "watercooler/threads")
    # The repository moves away from its checkout.
    moved = repository.with_name("moved")
    repository.rename(moved)
    session.folder = moved
    told = session.error("list_threads")
    assert told["code"] == "CORRUPT"
    assert "worktree repair" in told["hint"]
    found = session.fields("health")
    assert not found["ok"]
    assert "worktree repair" in found["problems"][0]
    found = session.fields("whoami")
    assert "worktree repair" in found["problem"]
    assert found["store"] is None
    assert found["code_branch"] == "main"


@pytest.mark.parametrize(
    ("client", "you"),
    [
        ("claude-code", "Claude Code (pat)"),
        ("claude-ai", "Claude Desktop (pat)"),
        ("codex-mcp-client", "Codex (pat)"),
        ("Codex", "Codex (pat)"),
        ("cursor-vscode", "Cursor (pat)"),
        ("Visual Studio Code", "VS Code (pat)"),
        ("Visual Studio Code - Insiders", "VS Code (pat)"),
        ("gemini-cli-mcp-client", "Gemini CLI (pat)"),
        ("gemini-cli-mcp-client-watercooler", "Gemini CLI (pat)"),
        ("qwen-cli-mcp-client-watercooler", "Qwen Code (pat)"),
        ("qwen-cli-mcp-client-", "Qwen Code (pat)"),
        ("@cline/core", "Cline (pat)"),
        ("continue-cli-client", "Continue (pat)"),
        ("copilot-cli", "Copilot CLI (pat)"),
        ("continue-cli-client-2", "continue-cli-client-2 (pat)"),
        ("amp-mcp-client", "Amp (pat)"),
        ("github-copilot-developer", "Copilot CLI (pat)"),
        ("Visual-Studio-Code", "VS Code (pat)"),
        ("claude-ai (via mcp-remote 0.1.37)", "Claude Desktop (pat)"),
        ("some-other-client", "some-other-client (pat)"),
        ("", "MCP client (pat)"),
        ("\x1b[31mevil\nname", "evil name (pat)"),
    ],
)
@pytest.mark.usefixtures("store")
def test_who_a_client_is(session: Session, client: str, you: str) -> None:
    session.client = client
    for mode in MODES:
        session.mode = mode
        text = answer_text(session.call("whoami"))
        assert you in text
        assert re.search(r'by: client,|"source": "client"', text)


@pytest.mark.usefixtures("store")
def test_an_agent_that_another_one_started_is_itself(session: Session) -> None:
    """Claude Code runs Codex, which starts us."""
    session.env["CLAUDECODE"] = "1"
    session.client = "codex-mcp-client"
    found = session.fields("whoami")
    assert (found["you"], found["source"]) == ("Codex (pat)", "client")
    # A client that is no agent has been started by one.
    session.client = "inspector"
    assert session.text("whoami").startswith("you: Claude Code (pat) (by: CLAUDECODE,")


@pytest.mark.usefixtures("store")
def test_the_environment_knows_better(session: Session) -> None:
    session.env["WATERCOOLER_AGENT"] = "Codex@fix (sam)"
    found = session.fields("whoami")
    assert found["you"] == "Codex@fix (sam)"
    assert found["source"] == "WATERCOOLER_AGENT"
    session.env["WATERCOOLER_AGENT"] = "bad\x00name"
    assert session.error("whoami")["code"] == "INVALID_INPUT"
    assert session.error("list_threads")["code"] == "INVALID_INPUT"
    found = session.fields("health")
    assert "INVALID_INPUT" in found["problems"][0]


def test_a_linked_worktree_gives_a_seat(
    repository: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    linked = tmp_path / "app-wt-fix-login"
    git(repository, "worktree", "add", "-q", "-b", "fix", str(linked))
    session = Session(linked, env)
    found = session.fields("whoami")
    assert found["you"] == "Claude Code@fix-login (pat)"
    assert found["seat"] == "fix-login"


def test_an_in_tree_store_has_the_branch_of_the_code(
    repository: Path, env: dict[str, str]
) -> None:
    Store(repository / ".watercooler").thread("plan")
    found = Session(repository, env).fields("health")
    assert (found["kind"], found["branch"]) == ("in-tree", "main")


@pytest.mark.parametrize("mode", MODES)
def test_a_root_whose_store_is_broken_is_no_reason_to_fail(
    repository: Path, tmp_path: Path, env: dict[str, str], mode: Mode
) -> None:
    root = tmp_path / "checkout"
    git(repository, "worktree", "add", "-q", str(root), "watercooler/threads")
    moved = repository.with_name("moved")
    repository.rename(moved)
    here = other(tmp_path, "here")
    session = Session(here.root.parent, env, mode=mode)
    session.roots = [moved.as_uri(), here.root.parent.as_uri()]
    assert "in-here" in session.text("list_threads")


@pytest.mark.parametrize("mode", MODES)
def test_over_a_network_neither_folder_nor_user_are_the_servers(
    repository: Path, tmp_path: Path, env: dict[str, str], mode: Mode
) -> None:
    linked = tmp_path / "app-wt-fix-login"
    git(repository, "worktree", "add", "-q", "-b", "fix", str(linked))
    Store(linked / ".watercooler").thread("served")
    rooted = other(tmp_path, "rooted")
    env |= {"WATERCOOLER_AGENT": "Codex (pat)", "CLAUDECODE": "1"}
    start = ServerContext(str(linked), env, lambda: 0, store_name="team")

    async def ask() -> dict[str, object]:
        roots = [rooted.root.parent.as_uri()]
        info = Implementation(name="claude-code", version="1")
        server = build_server(start)
        async with Client(server, mode=mode, roots=roots, client_info=info) as client:
            listed = await client.call_tool("watercooler_v1_list_threads", {})
            assert "served" in listed.content[0].text
            assert str(tmp_path) not in listed.content[0].text
            found = await client.call_tool("watercooler_v1_whoami", {})
            return dict(found.structured_content)

    found = asyncio.run(ask())
    assert (found["you"], found["seat"], found["tag"]) == ("Claude Code", "", "")
    assert (found["store"], found["folder"]) == ("team", "team")
    assert "code_branch" not in found


def test_a_stateless_client_may_answer_nothing(
    tmp_path: Path, env: dict[str, str]
) -> None:
    here = other(tmp_path, "here")

    async def ask() -> None:
        start = ServerContext(str(here.root.parent), env, lambda: 0)
        server = build_server(start)
        async with Client(server, roots=[tmp_path.as_uri()]) as client:
            name = "watercooler_v1_list_threads"
            result = await client.session.call_tool(name, {}, input_responses={})
            assert "in-here" in getattr(result.content[0], "text", "")
        # Without any client at all.
        answer = await server.call_tool(name, {})
        assert "in-here" in getattr(answer.content[0], "text", "")

    asyncio.run(ask())
