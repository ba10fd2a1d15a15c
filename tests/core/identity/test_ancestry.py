"""Which agent a command is run by, judged by the programs above it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wc_core.people.identity.ancestry import Ancestor, agent_above, script_word


def _yes() -> bool:
    return True


def _never_asked() -> bool:
    raise AssertionError("nothing has to be looked up here")


def _program(*words: str, script: str = "", terminal: bool = False) -> Ancestor:
    return Ancestor(words, script, terminal)


def _node(script: str = "/home/pat/x.js", *, terminal: bool = False) -> Ancestor:
    return _program("node", script, script=script, terminal=terminal)


SH = _program("sh", "-c", "wc say topic")
# The shell that a person types into, which what is above it cannot change.
PROMPT = Ancestor(("-bash",), terminal=True, leads_session=True)
CRON = _program("/usr/sbin/cron", "-f")
CLINE = _program("/opt/cline", "-v", "fix it")
CONTINUE = _node("/usr/lib/node_modules/@continuedev/cli/dist/cn.js")
TUI = _node(terminal=True)._replace(reads_keys=_yes)
CONNECTED = _program("/usr/bin/newagent")._replace(has_server=_yes)


@pytest.mark.parametrize(
    ("ancestors", "expected"),
    [
        ([], ""),
        ([SH], ""),
        # Agents in the table, by the name of a program or of a package.
        ([SH, CLINE, PROMPT], "Cline"),
        ([SH, CONTINUE, PROMPT], "Continue"),
        ([CLINE, CONTINUE], "Cline"),
        ([SH, _node("/x/node_modules/cline/node_modules/y/z.js"), PROMPT], "Cline"),
        ([SH, _node("/home/pat/cline/x.js", terminal=True), PROMPT], ""),
        ([SH, _program("vim", "cline")], ""),
        # A person's pipeline, in a terminal that an agent's program may have opened.
        ([PROMPT], ""),
        ([SH, PROMPT, CLINE], ""),
        ([_program("bash", "release.sh", terminal=True), PROMPT, _node()], ""),
        # A shell without a terminal is no prompt.
        ([Ancestor(("bash", "-c", "x"), leads_session=True), CLINE], "Cline"),
        # Scripts of people.
        ([SH, CRON], ""),
        ([SH, _node(), SH, CRON], ""),
        ([SH, _program("python3", "job.py")], ""),
        ([SH, _program("make"), _program("git", "commit")], ""),
        ([SH, _node(terminal=True), PROMPT], ""),
        # Agents that are not in the table.
        ([SH, _node()], "Agent"),
        ([SH, _program("bun", "x.ts")], "Agent"),
        ([SH, TUI, PROMPT], "Agent"),
        ([SH, CONNECTED, PROMPT], "Agent"),
        ([SH, _node(), CLINE], "Cline"),
        # Adopters of a server whose client has ended, and what starts everything.
        ([SH, CONNECTED._replace(pid=1)], ""),
        ([SH, _program("/bin/systemd", "--user")._replace(has_server=_yes)], ""),
        ([SH, _program("/sbin/docker-init", "--")._replace(has_server=_yes)], ""),
        ([_program("python3", "/bin/supervisord")._replace(has_server=_yes)], ""),
        ([SH, CLINE._replace(pid=1)], "Cline"),
        # Editors are people's.
        ([_program("git", "commit"), _program("/usr/share/code/code")], ""),
        ([SH, _program("emacs")._replace(has_server=_yes)], ""),
        ([SH, _node("/home/pat/.vscode-server/bin/0a/out/main.js"), _node()], ""),
        ([SH, _program("/x/.cursor-server/bin/0a/node", "--type=x"), _node()], ""),
    ],
)
def test_the_nearest_agent_counts(ancestors: list[Ancestor], expected: str) -> None:
    assert agent_above(ancestors, {}) == expected


@pytest.mark.parametrize(
    "env",
    [{"CI": "true"}, {"CI": "1"}, {"NODE_ENV": "test"}, {"JEST_WORKER_ID": "1"}],
)
def test_ci_and_tests_are_of_people_unless_an_agent_is_known(
    env: dict[str, str],
) -> None:
    for unknown in (_node(), TUI, CONNECTED):
        assert agent_above([SH, unknown], env) == ""
    assert agent_above([SH, CONTINUE], env) == "Continue"


@pytest.mark.parametrize("env", [{"CI": "false"}, {"CI": ""}, {"NODE_ENV": "x"}])
def test_variables_that_say_no(env: dict[str, str]) -> None:
    assert agent_above([SH, _node()], env) == "Agent"


def test_shells_are_not_looked_up() -> None:
    shell = SH._replace(has_server=_never_asked, reads_keys=_never_asked)
    assert agent_above([shell, CRON], {}) == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("node", "x.js", "y"), "x.js"),
        (("/usr/bin/node", "--no-warnings", "x.js"), "x.js"),
        (("bun", "run.ts"), "run.ts"),
        (("node", "-e"), ""),
        (("node",), ""),
        (("bash", "x.sh"), ""),
        ((), ""),
    ],
)
def test_which_word_is_a_script(words: tuple[str, ...], expected: str) -> None:
    assert script_word(words) == expected


_ORDINARY = """
import sys
sys.path[:] = sys.argv[1:]
from wc_core.people.identity.ancestry import Ancestor, agent_above
programs = ("sh", "-c", "wc list"), ("/usr/bin/python3", "job.py"), ("/sbin/init",)
agent_above(map(Ancestor, programs), {})
print("re" in sys.modules)
agent_above([Ancestor(("/home/pat/.vscode-server/bin/node",))], {})
print("re" in sys.modules)
"""


def test_above_ordinary_programs_nothing_is_imported() -> None:
    """Importing `re` takes 4 ms, as long as the rest of a command in a pipeline."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _ORDINARY, *sys.path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "True"]
