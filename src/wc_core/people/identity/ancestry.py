"""Which agent runs us, judged by the programs that started us.

It is used only if no variable names an agent and no terminal is attached: a person's
commands have a terminal, except in pipelines, hooks and scripts. docs/identity.md has
the rule with its reasons; a change to one is a change to both.
"""

from __future__ import annotations

import os

from wc_core.base.agents import PROGRAMS, UNKNOWN
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# They run a script, whose path says more than their own name.
_RUNTIMES = frozenset({"node", "nodejs", "bun", "deno"})
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh", "nu", "pwsh", "tcsh"})
_SCHEDULERS = frozenset({"cron", "crond", "atd", "anacron", "fcron"})
# They adopt programs whose parent has ended, or start whatever they are configured to,
# so that a server of ours among their children says nothing about them.
_ADOPTERS = frozenset({"init", "systemd", "launchd", "tini", "docker-init"}) | {
    *("dumb-init", "catatonit", "conmon", "supervisord", "runsv", "s6-supervise"),
    *("s6-svscan", "tmux", "tmux: server", "screen", "sshd"),
}
_FIRST_PROCESS = 1
# People click in them, and their hooks and tasks belong to people, whatever else they
# run.
_EDITORS = frozenset(
    {"code", "code-insiders", "code-oss", "codium", "vscodium", "cursor", "windsurf"}
    | {"zed", "zed-editor", "electron", "java", "emacs", "vim", "nvim", "hx"}
)
_SERVER = "-server"
_EDITORS_SERVER = re.compile(rf"/(?:\.[a-z]+|code){_SERVER}(?:-[a-z]+)?/")
_PACKAGE = re.compile(r"/node_modules/(@[^/]+/[^/]+|[^@/][^/]*)/")
_TESTS = ("JEST_WORKER_ID", "VITEST", "VITEST_POOL_ID")


def _never() -> bool:
    return False


class Ancestor(NamedTuple):
    """A process above this one.

    - ``words``: its command line
    - ``script``: the path of the script that it runs, see `script_word`
    - ``terminal``: whether it has a terminal
    - ``leads_session``: whether it is the first process of its session
    - ``reads_keys``: returns whether a program reads the keys of that terminal one by
      one, instead of whole lines
    - ``has_server``: returns whether an MCP server of ours is among its children
    - ``pid``: its process id; 0 if unknown
    - ``executable``: the path of its executable; empty if unknown. Programs change the
      name in their command line
    """

    words: tuple[str, ...]
    script: str = ""
    terminal: bool = False
    leads_session: bool = False
    reads_keys: Callable[[], bool] = _never
    has_server: Callable[[], bool] = _never
    pid: int = 0
    executable: str = ""

    @property
    def name(self) -> str:
        """The name of its program."""
        return program_name(self.words)

    @property
    def is_shell(self) -> bool:
        """Whether it is a shell, which clients start commands with."""
        return self.name in _SHELLS


def program_name(words: tuple[str, ...]) -> str:
    """The name of a program by its command line; login shells begin with a dash."""
    return os.path.basename(words[0]).lstrip("-") if words else ""


def script_word(words: tuple[str, ...]) -> str:
    """The word of a command line that is the path of a script; empty if there is
    none."""
    if program_name(words) not in _RUNTIMES:
        return ""
    return next((word for word in words[1:] if not word.startswith("-")), "")


def agent_above(ancestors: Iterable[Ancestor], env: Mapping[str, str]) -> str:
    """The agent among the processes above this one, nearest first: its name, `UNKNOWN`
    for an agent that is not in the table, empty if there is none."""
    guess = not _is_automated(env)
    without_terminal = False
    for process in ancestors:
        known = _known_agent(process)
        if known:
            return known
        if _belongs_to_person(process):
            return ""
        if not guess or process.name in _SHELLS:
            continue
        if _started_server(process) or _reads_keys_of_script(process):
            return UNKNOWN
        if process.name in _RUNTIMES and not process.terminal:
            without_terminal = True
    return UNKNOWN if without_terminal else ""


def session_process(ancestors: Iterable[Ancestor]) -> int:
    """The process above this one whose end is the end of the session: that of the
    agent, otherwise the shell of the terminal. 0 if there is neither.

    Agents start helpers under their own name, which end with each command, so it is the
    farthest process of that agent.
    """
    agent, pid = "", 0
    for process in ancestors:
        known = _known_agent(process)
        if known and agent in {"", known}:
            agent, pid = known, process.pid
        elif not agent and process.name in _SHELLS and _belongs_to_person(process):
            return process.pid
    return pid


def _is_automated(env: Mapping[str, str]) -> bool:
    """Whether a CI or a test runner started us; these run code by people."""
    in_ci = env.get("CI", "").casefold() not in {"", "0", "false", "no"}
    in_tests = env.get("NODE_ENV") == "test" or any(env.get(name) for name in _TESTS)
    return in_ci or in_tests


def _known_agent(process: Ancestor) -> str:
    """The agent in the table that a process belongs to."""
    # Matching takes 4 ms the first time, and most processes run no such script.
    packages = _PACKAGE.findall(f"{process.script}/") if process.script else ()
    executable = "" if process.script else os.path.basename(process.executable)
    names = (process.name, *reversed(packages), executable)
    return next((PROGRAMS[name] for name in names if name in PROGRAMS), "")


def _belongs_to_person(process: Ancestor) -> bool:
    """Whether a process starts commands for a person: it is the shell of a terminal, a
    scheduler, or an editor."""
    if process.name in _SHELLS:
        return process.terminal and process.leads_session
    if process.name in _SCHEDULERS | _EDITORS:
        return True
    paths = "\n".join((*process.words[:1], process.script))
    return _SERVER in paths and _EDITORS_SERVER.search(paths) is not None


def _started_server(process: Ancestor) -> bool:
    """Whether a process started an MCP server of ours, as agents do, and did not merely
    adopt one."""
    if process.pid == _FIRST_PROCESS:
        return False
    # Some are scripts: python3 /usr/bin/supervisord.
    programs = {program_name((word,)) for word in process.words[:2]}
    return not programs & _ADOPTERS and process.has_server()


def _reads_keys_of_script(process: Ancestor) -> bool:
    """Whether a process runs a script that controls a terminal, as agents do."""
    return process.name in _RUNTIMES and process.terminal and process.reads_keys()
