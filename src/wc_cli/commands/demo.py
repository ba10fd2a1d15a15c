"""``wc demo``: a session of two agents, played on real repositories without an agent.

Creates a throwaway repository with two worktrees, a second machine and separate home
folders, and runs the real commands as processes and the real MCP server over stdio.
Nothing outside the throwaway folder is changed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from contextlib import contextmanager

from wc_cli.agents.launcher import own_program
from wc_cli.run.options import TextOptions, command, flag
from wc_cli.run.output import say
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.programs import own_words
from wc_core.base.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from wc_cli.run.context import Context

_SECONDS = 60
# The exit status with which an idle session's hook starts its next turn.
_WAKES = 2
_KEPT_VARIABLES = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TERM", "TMPDIR")
_PROTOCOL = "2025-11-25"
_ONLY_AGENTS_BRANCHES = """\
#!/bin/sh
while read old new ref; do
  case $ref in refs/heads/claude/*) ;; *) exit 1 ;; esac
done
"""
# Stands in for an agent that works without a terminal: `codex exec PROMPT`.
_STAND_IN = """\
#!/bin/sh
echo 'def export(): ...' > export.py
git add export.py
git commit -q -m 'Export the list'
wc done export -m 'Written and committed'
"""
_CODE = "def login(user):\n    return None\n"


class DemoOptions(TextOptions):
    """Watch two agents in two worktrees pass the ball."""

    all: bool = flag("--all", help="Show all scenes, not only the first six.")
    keep: bool = flag("--keep", help="Keep the throwaway folder to look around.")
    fast: bool = flag("--fast", help="Do not wait for Enter after each scene.")


@command(DemoOptions)
def demo(context: Context, options: DemoOptions) -> None:
    """Play the session."""
    folder = tempfile.mkdtemp(prefix="wc-demo-")
    try:
        story = _Story(folder, context, pauses=_has_viewer() and not options.fast)
        story.tell(is_all=options.all)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if options.keep:
        say(f"\nEverything is in {folder}; the store's HOME is {folder}/home.")
    else:
        say("\nThe throwaway folder is deleted. Your turn: wc new TOPIC -m '…'")
    if not options.all:
        say("Editing, planning, running agents, landing, the cloud: wc demo --all")


def _has_viewer() -> bool:
    """Return whether a person watches the demo and can press Enter."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class _Story:
    """The session's folders and environments, and its steps."""

    def __init__(self, folder: str, context: Context, *, pauses: bool) -> None:
        self.pauses = pauses
        self.scene = 0
        self.look = output_style(context.env)
        self.folder = folder
        self.home = f"{folder}/home"
        self.app = f"{folder}/app"
        self.fix = f"{folder}/app-wt-login"
        self.laptop = f"{folder}/laptop"
        self.session = f"{folder}/session"
        os.mkdir(self.home)
        kept = {k: context.env[k] for k in _KEPT_VARIABLES if k in context.env}
        self.env = {
            **kept,
            "HOME": self.home,
            "WATERCOOLER_USER": "dev",
            "WATERCOOLER_SYNC": "inline",
            "GIT_CONFIG_NOSYSTEM": "1",
            "COLUMNS": "100",
        }
        # Another machine, which shares only the remote with the first.
        self.there = {
            **self.env,
            "HOME": f"{folder}/home-of-laptop",
            "WATERCOOLER_USER": "sam",
        }
        # A session in the cloud, with a hub that takes only its branch.
        self.cloud = {
            **self.env,
            "HOME": f"{folder}/home-of-session",
            "WATERCOOLER_SANDBOX": "demo",
        }

    def tell(self, *, is_all: bool) -> None:
        """Play the scenes in order: how the ball is passed, and the others."""
        self._pass_the_ball(is_all=is_all)
        self._prompts()
        if is_all:
            self._edit_the_same_function()
            self._plan_the_next_pieces()
            self._finish_the_work()
            self._run_an_agent()
            self._land_the_work()
            self._meet_another_machine()
            self._hear_from_the_cloud()

    def _pass_the_ball(self, *, is_all: bool) -> None:
        """Let one agent start a thread and the other answer; with ``is_all``, the
        answer wakes the first."""
        self._title("A repository with two worktrees, an agent in each")
        self._make_repository()
        self._title("Claude Code, in the main worktree, starts a thread for Codex")
        body = "Passwords go. Please add passkeys on your branch."
        words = ["new", "login", "-m", "Log in with a passkey"]
        self._wc("Claude Code", self.app, *words, "--body", body, "--to", "Codex")
        self._title("Every prompt shows whose move it is")
        self._prompts()
        self._title("Codex starts in the other worktree and sees what waits for it")
        self._wc("Codex", self.fix, "brief")
        self._title("It reads the thread through the server, which cannot write")
        self._read_over_mcp("Codex", self.fix, "login")
        self._title("Codex answers; the ball goes back to whoever passed it")
        title = "Passkeys work, please review"
        words = ["say", "login", "-m", title, "--type", "PR"]
        if not is_all:
            self._wc("Codex", self.fix, *words)
            return
        with self._idle_agent("Claude Code", self.app) as idle:
            self._wc("Codex", self.fix, *words)
            # The waiting process has a time limit, which a pause could exceed.
            title = "Claude Code was idle. The ball wakes it; its turn begins with"
            self._title(title, may_pause=False)
            self._show_what_wakes(idle)

    def _finish_the_work(self) -> None:
        """Hand the thread off, and close it."""
        self._title("An entry out of turn is saved, but the ball stays")
        title = "One more thing: the tests are slow"
        self._wc("Codex", self.fix, "say", "login", "-m", title)
        self._title("An explicit handoff")
        note = "Looks good. Please merge it."
        words = ["handoff", "login", "--to", "Codex", "--note", note]
        self._wc("Claude Code", self.app, *words)
        self._prompts()
        self._title(
            "The work is done: the ball goes back to the person who asked, who closes "
            "the thread"
        )
        self._wc("Codex", self.fix, "done", "login", "-m", "Merged")
        self._prompts()
        self._wc("Claude Code", self.app, "done", "login", "-m", "It works")
        self._prompts()
        self._title("The thread that waited for it is ready now")
        self._wc("Codex", self.fix, "ready")
        self._title("Who had the ball when")
        self._wc("Codex", self.fix, "stats", "login")
        self._title("Everything is on a separate branch, entry by entry")
        self._wc("Codex", self.fix, "list")
        log = ["log", "--format=%h %s", "watercooler/threads"]
        self._show(self.app, ["git", *log], ["git", *log], self.env)

    def _run_an_agent(self) -> None:
        """Let ``wc run`` start a stand-in for Codex, which works and passes the ball to
        the person."""
        self._title(
            "Nobody has to open Codex: wc run starts it for its ball, in a worktree of "
            "its own. Here, a script stands in for it"
        )
        programs = f"{self.folder}/bin"
        os.mkdir(programs)
        ours = shlex.join(own_words("wc_cli.run.main", (), self.env))
        self._write_program(f"{programs}/wc", f'#!/bin/sh\nexec {ours} "$@"\n')
        self._write_program(f"{programs}/codex", _STAND_IN)
        self.env["PATH"] = f"{programs}:{self.env['PATH']}"
        cat = ["cat", "bin/codex"]
        self._show(self.folder, cat, cat)
        title = "Export the list"
        self._wc("", self.app, "new", "export", "-m", title, "--to", "Codex")
        self._wc("", self.app, "run", "--once")
        self._title("It has committed its work, and the ball is the person's")
        log = ["git", "log", "--format=%h %s", "main..export"]
        self._show(self.app, log, log)
        self._wc("", self.app, "read", "export", "--new")

    def _land_the_work(self) -> None:
        """Approve what the stand-in has committed, and put it on main."""
        self._title("Approved: wc land puts its branch on main, and closes the thread")
        self._wc("", self.app, "done", "export", "--approve")
        self._wc("", self.app, "land", "export", "--dry-run")
        self._wc("", self.app, "land", "export", "--clean")

    def _write_program(self, path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)  # noqa: S103 - it is run

    @contextmanager
    def _idle_agent(self, agent: str, folder: str) -> Iterator[subprocess.Popen[str]]:
        """A stand-in for an idle agent: the background process that its client runs
        after each turn."""
        hook = ["wait", "--hook", "wake", "--client", "claude"]
        with subprocess.Popen(  # noqa: S603 - our own words
            own_words("wc_cli.run.main", hook, self.env),
            cwd=folder,
            env={**self.env, "WATERCOOLER_AGENT": agent},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            if process.stdin is not None:
                process.stdin.write(json.dumps({"session_id": "demo", "cwd": folder}))
                process.stdin.close()
            try:
                yield process
            finally:
                process.kill()

    def _show_what_wakes(self, idle: subprocess.Popen[str]) -> None:
        """Show the output of the idle agent's hook when it ends."""
        status = idle.wait(_SECONDS)
        words = idle.stderr.read() if idle.stderr is not None else ""
        if status != _WAKES:
            raise WcError(f"The demo failed: nobody was woken ({status}) {words}")
        say(self.look(textwrap.indent(words.rstrip("\n"), "  "), "2"))

    def _plan_the_next_pieces(self) -> None:
        """Create two threads. One waits for the thread, the other for that one."""
        self._title("Threads that wait for another call nobody until they are ready")
        for topic, title, *more in (
            ("logout", "Log out everywhere", "--body", "- [ ] one button"),
            ("docs", "Tell the users"),
        ):
            other = "login" if more else "logout"
            words = ["new", topic, "-m", title, *more, "--blocked-by", other]
            self._wc("Claude Code", self.app, *words, "--to", "anyone")
        self._wc("Codex", self.fix, "ready", "logout")

    def _edit_the_same_function(self) -> None:
        """Let both agents change the same lines, and one of them claim the file."""
        self._title(
            "Both change the same function: the radar reports it before they merge"
        )
        self._replace(self.app, "return None", "return session")
        self._replace(self.fix, "return None", "return passkey")
        self._wc("Claude Code", self.app, "radar")
        self._prompts()
        self._title("Codex claims the file; others are told to wait")
        words = ["claim", "auth.py", "--thread", "login", "-m", "passkeys"]
        self._wc("Codex", self.fix, *words)
        self._wc("Claude Code", self.app, "check", "auth.py", refused=True)
        restore = ["git", "checkout", "-q", "auth.py"]
        self._show(self.app, restore, restore)
        self._wc("Codex", self.fix, "release", "--all")
        self._wc("Codex", self.fix, "radar")

    def _replace(self, folder: str, old: str, new: str) -> None:
        words = ["sed", "-i", f"s/{old}/{new}/", "auth.py"]
        self._prompt_line(folder, " ".join(map(_quoted_word, words)))
        path = f"{folder}/auth.py"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def _meet_another_machine(self) -> None:
        """Let two machines write to one thread while disconnected."""
        self._title("Another machine: git syncs the threads, once you ask for it")
        for words in (
            ("git", "init", "-q", "--bare", "-b", "main", f"{self.folder}/hub.git"),
            ("git", "remote", "add", "origin", f"{self.folder}/hub.git"),
            ("git", "push", "-q", "origin", "main"),
        ):
            subprocess.run(words, cwd=self.app, env=self.env, check=True)  # noqa: S603
        title = "Ship it on Friday?"
        self._wc("Claude Code", self.app, "new", "release", "-m", title)
        self._wc("Claude Code", self.app, "sync")
        os.mkdir(self.there["HOME"])
        ident = ["-c", "user.name=sam", "-c", "user.email=sam@localhost"]
        clone = ["git", "clone", "hub.git", "laptop"]
        self._show(self.folder, clone, [*clone, "-q", *ident], self.there)
        self._wc("Codex", self.laptop, "init")
        self._title("Both write to one thread while they are offline")
        title = "The phone is not tested"
        self._wc("Codex", self.laptop, "ack", "release", "-m", title, apart=True)
        title = "The notes are written"
        self._wc("Claude Code", self.app, "say", "release", "-m", title, apart=True)
        self._title("Both sync: both have every entry, without conflicts")
        self._wc("Claude Code", self.app, "sync")
        self._wc("Codex", self.laptop, "sync")
        self._wc("Claude Code", self.app, "sync")
        self._wc("Codex", self.laptop, "list")
        self._wc("Claude Code", self.app, "list")
        self._wc("Claude Code", self.app, "read", "release", "--commits")

    def _hear_from_the_cloud(self) -> None:
        """Let an agent answer that may push only its own branch."""
        self._title("An agent in the cloud may push only its own branch")
        title = "Write the release notes"
        words = ["handoff", "release", "--to", "Claude Code", "--note", title]
        self._wc("Claude Code", self.app, *words)
        self._wc("Claude Code", self.app, "sync")
        hook = f"{self.folder}/hub.git/hooks/pre-receive"
        os.makedirs(os.path.dirname(hook), exist_ok=True)
        self._write_program(hook, _ONLY_AGENTS_BRANCHES)
        os.mkdir(self.cloud["HOME"])
        clone = ["git", "clone", "hub.git", "session"]
        self._show(self.folder, clone, [*clone, "-q"], self.cloud)
        switch = ["git", "switch", "-c", "claude/notes"]
        self._show(self.session, switch, ["git", "switch", "-q", *switch[2:]])
        self._wc("Claude Code", self.session, "brief")
        self._wc("Claude Code", self.session, "say", "release", "-m", "Notes", "--sync")
        self._title("It pushes its work; the next sync takes the answer from there")
        push = ["git", "push", "origin", "claude/notes"]
        self._show(self.session, push, ["git", "push", "-q", *push[2:]], self.cloud)
        os.remove(hook)
        self._wc("Claude Code", self.app, "sync")
        self._wc("Claude Code", self.app, "read", "release", "--commits")

    def _title(self, text: str, *, may_pause: bool = True) -> None:
        if self.scene and self.pauses and may_pause:
            self._wait_for_enter()
        self.scene += 1
        say(f"\n{self.look(f'# {text}', '1', '36')}")

    def _wait_for_enter(self) -> None:
        """Let the viewer read a scene. At the end of input, continue without pauses."""
        sys.stdout.write(self.look("\nEnter: next scene (all at once: --fast)", "2"))
        sys.stdout.flush()
        self.pauses = bool(sys.stdin.readline())

    def _make_repository(self) -> None:
        os.mkdir(self.app)
        ident = ["-c", "user.name=dev", "-c", "user.email=dev@localhost"]
        start = [*ident, "commit", "--quiet", "-m", "Start"]
        add = ["worktree", "add", "--quiet", "-b", "login", self.fix]
        add_words = ["worktree", "add", "-b", "login", "../app-wt-login"]
        self._show(self.app, ["git", "init"], ["git", "init", "-q", "-b", "main"])
        with open(f"{self.app}/auth.py", "w", encoding="utf-8") as file:
            file.write(_CODE)
        self._show(self.app, ["git", "add", "auth.py"], ["git", "add", "auth.py"])
        self._show(self.app, ["git", "commit", "-m", "Start"], ["git", *start])
        self._show(self.app, ["git", *add_words], ["git", *add])
        for key, value in (("user.name", "dev"), ("user.email", "dev@localhost")):
            words = ["git", "config", key, value]
            subprocess.run(words, cwd=self.app, env=self.env, check=True)  # noqa: S603

    def _wc(
        self,
        agent: str,
        folder: str,
        *words: str,
        refused: bool = False,
        apart: bool = False,
    ) -> None:
        """Run a command as an agent, in its worktree, or as the person if ``agent`` is
        empty; ``apart``: without syncing."""
        machines = {self.laptop: self.there, self.session: self.cloud}
        machine = machines.get(folder, self.env)
        env = {**machine, **({"WATERCOOLER_AGENT": agent} if agent else {})}
        if apart:
            env["WATERCOOLER_SYNC"] = "off"
        real = own_words("wc_cli.run.main", words, env)
        self._show(folder, ["wc", *words], real, env, refused=refused)

    def _prompts(self) -> None:
        """Show the status line of both worktrees, as the prompt script prints it."""
        script = find_script("wc-statusline")
        for agent, folder in (("Claude Code", self.app), ("Codex", self.fix)):
            env = {**self.env, "WATERCOOLER_AGENT": agent}
            self._show(folder, ["wc-statusline"], [script], env)

    def _show(
        self,
        folder: str,
        display: Sequence[str],
        real: Sequence[str],
        env: dict[str, str] | None = None,
        *,
        refused: bool = False,
    ) -> None:
        """Run a real command and show it with its output. It must fail if
        ``refused``."""
        self._prompt_line(folder, " ".join(map(_quoted_word, display)))
        done = subprocess.run(  # noqa: S603 - our own words
            list(real),
            cwd=folder,
            env=env or self.env,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.stdout.strip():
            say(textwrap.indent(done.stdout.rstrip("\n"), "  "))
        if done.stderr.strip():
            say(self.look(textwrap.indent(done.stderr.rstrip("\n"), "  "), "2"))
        if bool(done.returncode) != refused:
            raise WcError(
                f"The demo failed at: {' '.join(display)} ({done.returncode})"
            )

    def _prompt_line(self, folder: str, words: str) -> None:
        place = self.look(f"{os.path.basename(folder)} $", "32")
        say(f"{place} {words}")

    def _read_over_mcp(self, agent: str, folder: str, topic: str) -> None:
        self._prompt_line(folder, f"wc-observe  ← tools/call read_thread {topic}")
        env = {**self.env, "WATERCOOLER_AGENT": agent}
        answer = call_tool(env, folder, "watercooler_v1_read_thread", {"topic": topic})
        say(textwrap.indent(clean(answer).rstrip("\n"), "  "))


def _quoted_word(word: str) -> str:
    plain = all(c.isalnum() or c in "-_./%=~" for c in word)
    return word if plain else f"'{word}'"


def find_script(name: str) -> str:
    """Return the path of one of our scripts: next to the console script, otherwise in
    the checkout. Raises NotFoundError."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = own_program(name) or os.path.join(package, "../../bin", name)
    if os.access(path, os.X_OK) and os.path.isfile(path):
        return os.path.normpath(path)
    raise NotFoundError(
        f"The script {name} is not installed with wc.",
        "Install wc again: uv tool install wc-watercooler",
    )


def call_tool(
    env: dict[str, str], folder: str, tool: str, arguments: dict[str, Any]
) -> str:
    """Return the text that a tool of the real MCP server answers over stdio.

    The JSON-RPC is written by hand because importing an MCP library takes half a
    second.
    """
    hello = {
        "protocolVersion": _PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "wc-demo", "version": "1"},
    }
    call = {"name": tool, "arguments": arguments}
    with subprocess.Popen(  # noqa: S603 - our own words
        own_words("wc_observe.main", (), env),
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            _request_result(server, 1, "initialize", hello)
            _send_message(server, {"method": "notifications/initialized"})
            result = _request_result(server, 2, "tools/call", call)
        finally:
            server.kill()
    return "\n".join(part.get("text", "") for part in result["content"])


def _send_message(server: subprocess.Popen[str], message: dict[str, Any]) -> None:
    if server.stdin is None:
        raise WcError("The server has no standard input.")
    server.stdin.write(f"{json.dumps({'jsonrpc': '2.0', **message})}\n")
    server.stdin.flush()


def _request_result(
    server: subprocess.Popen[str], number: int, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    _send_message(server, {"id": number, "method": method, "params": params})
    for line in server.stdout or ():
        message = json.loads(line)
        if message.get("id") == number:
            if "error" in message:
                raise WcError(f"The server refused {method}: {message['error']}")
            result: dict[str, Any] = message["result"]
            return result
    raise WcError(
        "The server ended without an answer.", "Start it by hand to see why: wc-observe"
    )
