"""The files that say who works in a worktree."""

from __future__ import annotations

import pytest

from wc_core.attention.status.identityfiles import (
    MAIN_WORKTREE,
    asked_name,
    identity_files,
    who_name,
)
from wc_core.base.agents import VARIABLES
from wc_core.base.names import Directory, Name
from wc_core.people.identity.resolve import Identity


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Claude Code", "claudecode"),
        ("  Codex@Fix (Pat)\n", "codex@fix(pat)"),
        ("", "=default"),
        (" \t\n", "=default"),
        ("ZOË", "zoË"),
        ("../x", "%2E.%2Fx"),
    ],
)
def test_what_the_agent_variable_names(agent: str, name: str) -> None:
    assert asked_name(agent) == name


def test_who_i_am() -> None:
    who = Identity(Name("claude", "Fix", "Pat"), "WATERCOOLER_AGENT")
    content = b"claudecode@fix(pat)\n"
    env = {"WATERCOOLER_AGENT": "Claude @fix"}
    assert identity_files(MAIN_WORKTREE, who, Directory(), env) == {
        "me/=main/claude@fix": content
    }
    here = who._replace(source="CLAUDECODE")
    env = {"WATERCOOLER_AGENT": " ", "CLAUDECODE": "1"}
    assert identity_files("app-wt-fix", here, Directory(), env) == {
        "me/app-wt-fix/=claudecode": content
    }


_VARIABLES = {
    "CODEX_THREAD_ID": "=codex",
    "CODEX_SANDBOX": "=codex",
    "GEMINI_CLI": "=geminicli",
    "QWEN_CODE": "=qwencode",
    "OPENCODE": "=opencode",
    "CRUSH": "=crush",
    "GOOSE_TERMINAL": "=goose",
    "PI_CODING_AGENT": "=pi",
    "KIRO_SESSION_ID": "=kiro",
    "COPILOT_CLI": "=copilotcli",
    "CURSOR_AGENT": "=cursor",
    "CLAUDECODE": "=claudecode",
    "COPILOT_AGENT": "=vscode",
    "CLINE_ACTIVE": "=cline",
    "ANTIGRAVITY_AGENT": "=antigravity",
}


def test_an_agent_and_a_person_have_files_of_their_own() -> None:
    names = {variable: who_name(variable, {variable: "1"}) for variable in _VARIABLES}
    assert names == _VARIABLES
    assert set(names) == {variable for variable, _ in VARIABLES}
    asked = {"WATERCOOLER_AGENT": "=Claude Code"}
    assert who_name("WATERCOOLER_AGENT", asked) == "%3Dclaudecode"
    assert who_name("AI_AGENT", {"AI_AGENT": "openhands@2"}) == "=openhands"
    assert who_name("AGENT", {"AGENT": "amp"}) == "=amp"
    for rule in ("user", "git user"):
        person = Identity(Name("Pat"), rule, person=True)
        found = identity_files("w", person, Directory(), {"WATERCOOLER_SEAT": "left"})
        assert found == {"me/w/=default": b"pat\n"}


@pytest.mark.parametrize(
    ("seat", "name"),
    [
        ("left", "=codex@left"),
        ("session", "=codex@a1b2c3"),
        ("", "=codex"),
        # What a shell cannot work out as it is shares the file of the worktree.
        ("Left", "=codex"),
        ("fix/ui", "=codex"),
        ("x" * 65, "=codex"),
    ],
)
def test_distinct_seats_have_files_of_their_own(seat: str, name: str) -> None:
    env = {"CODEX_THREAD_ID": "019a-5e6f-a1b2c3", "WATERCOOLER_SEAT": seat}
    assert who_name("CODEX_THREAD_ID", env) == name
    asked = env | {"WATERCOOLER_AGENT": "zed"}
    assert who_name("WATERCOOLER_AGENT", asked) == name.replace("=codex", "zed")
