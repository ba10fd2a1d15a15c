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

from wc_cli.agents.launcher import own_program
from wc_cli.run.options import TextOptions, command, flag
from wc_cli.run.output import say
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import WcError
from wc_core.base.programs import own_words
from wc_core.base.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_cli.run.context import Context

_SECONDS = 60
_KEPT_VARIABLES = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TERM", "TMPDIR")
_PROTOCOL = "2025-11-25"
_CALL = 2
_FIRST_SCENES = 6
# Behind each prompt of the story: the home, the person and the agent. The prompt is the
# folder, too; the person works in `app`.
_PLACES = {
    "you": ("home", "dev", ""),
    "app": ("home", "dev", "Claude Code"),
    "app-wt-login": ("home", "dev", "Codex"),
    # Another machine, which shares only the remote with the first.
    "laptop": ("home-of-laptop", "sam", "Codex"),
    # A sandbox in the cloud: the hub takes only its agent's branch.
    "session": ("home-of-session", "dev", "Claude Code"),
}
_GIT_CONFIG = """\
[user]
name = {0}
email = {0}@localhost
[init]
defaultBranch = main
"""
_PROGRAMS = {
    # Stands in for an agent that works without a terminal: `codex exec PROMPT`.
    "codex": """\
#!/bin/sh
echo 'def export(): ...' > export.py
git add export.py
git commit -q -m 'Export the list'
wc done export -m 'Written and committed'
""",
    # The hub's hook, which gets the environment of who pushes.
    "pre-receive": """\
#!/bin/sh
[ -n "$WATERCOOLER_SANDBOX" ] || exit 0
while read old new ref; do
  case $ref in refs/heads/claude/*) ;; *) exit 1 ;; esac
done
""",
}
# Titles, and commands after the place where they run. The line that begins with
# wc-observe is a call of one of its tools; each other one is run as it is shown.
_STORY = """
# A repository with two worktrees, an agent in each
you $ git init -q
you $ echo 'def login(user): return None' > auth.py
you $ git add auth.py
you $ git commit -q -m Start
you $ git worktree add -q -b login ../app-wt-login
# Claude Code, in the main worktree, starts a thread for Codex
app $ wc new login -m 'Log in with a passkey' \
--body 'Passwords go. Please add passkeys on your branch.' --to Codex
# Every prompt shows whose move it is
app $ wc-statusline
app-wt-login $ wc-statusline
# Codex starts in the other worktree and sees what waits for it
app-wt-login $ wc brief
# It reads the thread through the server, which cannot write
app-wt-login $ wc-observe  ← tools/call read_thread login
# Codex answers; the ball goes back to whoever passed it
app-wt-login $ wc say login -m 'Passkeys work, please review' --type PR
app $ wc-statusline
app-wt-login $ wc-statusline
# Claude Code was idle. Its hook waits for the ball, and begins its next turn with (2)
app $ echo '{"session_id": "demo"}' | wc wait --hook wake --client claude || echo "($?)"
# Both change the same function: the radar reports it before they merge
app $ echo 'def login(user): return session' > auth.py
app-wt-login $ echo 'def login(user): return passkey' > auth.py
app $ wc radar
app $ wc-statusline
app-wt-login $ wc-statusline
# Codex claims the file; others are told to wait
app-wt-login $ wc claim auth.py --thread login -m passkeys
app $ wc check auth.py || echo "($?)"
app $ git checkout -q auth.py
app-wt-login $ wc release --all
app-wt-login $ wc radar
# Threads that wait for another call nobody until they are ready
app $ wc new logout -m 'Log out everywhere' --body '- [ ] one button' \
--blocked-by login --to anyone
app $ wc new docs -m 'Tell the users' --blocked-by logout --to anyone
app-wt-login $ wc ready logout
# An entry out of turn is saved, but the ball stays
app-wt-login $ wc say login -m 'One more thing: the tests are slow'
# An explicit handoff
app $ wc handoff login --to Codex --note 'Looks good. Please merge it.'
# The work is done: the ball goes back to the person who asked, who closes the thread
app-wt-login $ wc done login -m Merged
app $ wc done login -m 'It works'
app $ wc-statusline
app-wt-login $ wc-statusline
# The thread that waited for it is ready now
app-wt-login $ wc ready
# Who had the ball when
app-wt-login $ wc stats login
# Everything is on a separate branch, entry by entry
app-wt-login $ wc list
app $ git log --format='%h %s' watercooler/threads
# Nobody has to open Codex: wc run starts it for its ball, in a worktree of its own. \
Here, a script stands in for it
you $ cat ../bin/codex
you $ wc new export -m 'Export the list' --to Codex
you $ wc run --once
# It has committed its work, and the ball is the person's
you $ git log --format='%h %s' main..export
you $ wc read export --new
# Approved: wc land puts its branch on main, and closes the thread
you $ wc done export --approve
you $ wc land export --dry-run
you $ wc land export --clean
# Another machine: git syncs the threads, once you ask for it
you $ git init -q --bare ../hub.git
you $ git remote add origin ../hub.git
you $ git push -q origin main
app $ wc new release -m 'Ship it on Friday?'
app $ wc sync
you $ git clone -q ../hub.git ../laptop
laptop $ wc init
# Both write to one thread while they are offline
laptop $ WATERCOOLER_SYNC=off wc ack release -m 'The phone is not tested'
app $ WATERCOOLER_SYNC=off wc say release -m 'The notes are written'
# Both sync: both have every entry, without conflicts
app $ wc sync
laptop $ wc sync
app $ wc sync
laptop $ wc list
app $ wc list
app $ wc read release --commits
# An agent in the cloud may push only its own branch
app $ wc handoff release --to 'Claude Code' --note 'Write the release notes'
you $ cat ../bin/pre-receive
you $ git -C ../hub.git config core.hooksPath ../bin
you $ git clone -q ../hub.git ../session
session $ git switch -q -c claude/notes
session $ wc brief
session $ wc say release -m Notes --sync
# It pushes its work; the next sync takes the answer from there
session $ git push -q origin claude/notes
app $ wc sync
app $ wc read release --commits
"""


class DemoOptions(TextOptions):
    """Watch two agents in two worktrees pass the ball."""

    all: bool = flag("--all", help="Show all scenes, not only the first six.")
    keep: bool = flag("--keep", help="Keep the throwaway folder to look around.")
    fast: bool = flag("--fast", help="Do not wait for Enter after each scene.")


@command(DemoOptions)
def demo(context: Context, options: DemoOptions) -> None:
    """Play the session."""
    folder = tempfile.mkdtemp(prefix="wc-demo-")
    has_viewer = sys.stdin.isatty() and sys.stdout.isatty()
    scenes = _STORY.split("\n# ")[1:]
    try:
        story = _Story(folder, context, pauses=has_viewer and not options.fast)
        for scene in scenes if options.all else scenes[:_FIRST_SCENES]:
            story.tell(scene)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if options.keep:
        say(f"\nEverything is in {folder}; the store's HOME is {folder}/home.")
    else:
        say("\nThe throwaway folder is deleted. Your turn: wc new TOPIC -m '…'")
    if not options.all:
        say("Editing, planning, running agents, landing, the cloud: wc demo --all")


class _Story:
    """The session's folders, programs and environments."""

    def __init__(self, folder: str, context: Context, *, pauses: bool) -> None:
        self.pauses = pauses
        self.is_begun = False
        self.look = output_style(context.env)
        self.folder = folder
        self.env = {k: context.env[k] for k in _KEPT_VARIABLES if k in context.env}
        checkout = os.path.join(os.path.dirname(__file__), "../../../bin")
        prompt = own_program("wc-statusline") or f"{checkout}/wc-statusline"
        ours = own_words("wc_cli.run.main", (), self.env)
        os.mkdir(f"{folder}/app")
        os.mkdir(f"{folder}/bin")
        for name, text in {
            "wc": f'#!/bin/sh\nexec {shlex.join(ours)} "$@"\n',
            "wc-statusline": f"#!/bin/sh\nexec {shlex.quote(prompt)}\n",
            **_PROGRAMS,
        }.items():
            self._write(f"bin/{name}", text)
        for home, person, _ in _PLACES.values():
            os.makedirs(f"{folder}/{home}", exist_ok=True)
            self._write(f"{home}/.gitconfig", _GIT_CONFIG.format(person))
        self.env |= {
            "PATH": f"{folder}/bin:{self.env.get('PATH', os.defpath)}",
            "WATERCOOLER_SYNC": "inline",
            "GIT_CONFIG_NOSYSTEM": "1",
            "COLUMNS": "100",
        }

    def _write(self, name: str, text: str) -> None:
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
            os.chmod(file.fileno(), 0o755)  # noqa: S103 - programs are run

    def tell(self, scene: str) -> None:
        """Show a title, and its commands with what they print. Raises WcError if one
        of them fails."""
        title, *lines = scene.splitlines()
        if self.is_begun and self.pauses:
            self._wait_for_enter()
        self.is_begun = True
        say(f"\n{self.look(f'# {title}', '1', '36')}")
        for line in lines:
            name, _, words = line.partition(" $ ")
            say(f"{self.look(f'{name} $', '32')} {words}")
            home, _, agent = _PLACES[name]
            env = {
                **self.env,
                "HOME": f"{self.folder}/{home}",
                "WATERCOOLER_AGENT": agent,
                "WATERCOOLER_SANDBOX": "demo" if name == "session" else "",
            }
            folder = f"{self.folder}/{'app' if name == 'you' else name}"
            play = _call_tool if words.startswith("wc-observe ") else _run
            if printed := play(words, folder, env).rstrip():
                say(textwrap.indent(printed, "  "))

    def _wait_for_enter(self) -> None:
        """Let the viewer read a scene. At the end of input, continue without pauses."""
        sys.stdout.write(self.look("\nEnter: next scene (all at once: --fast)", "2"))
        sys.stdout.flush()
        self.pauses = bool(sys.stdin.readline())


def _run(words: str, folder: str, env: dict[str, str]) -> str:
    """Return what a command prints."""
    done = subprocess.run(  # noqa: S603 - our own words
        ["/bin/sh", "-c", words],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise WcError(f"The demo failed at: {words} ({done.returncode}) {done.stdout}")
    return done.stdout


def _call_tool(words: str, folder: str, env: dict[str, str]) -> str:
    """Return the text that a tool of the real MCP server answers over stdio.

    The JSON-RPC is written by hand because importing an MCP library takes half a
    second.
    """
    *_, tool, topic = words.split()
    hello = {
        "protocolVersion": _PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "wc-demo", "version": "1"},
    }
    call = {"name": f"watercooler_v1_{tool}", "arguments": {"topic": topic}}
    messages = (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": _CALL, "method": "tools/call", "params": call},
    )
    texts = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
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
            print(*texts, sep="\n", file=server.stdin, flush=True)
            answers: Iterator[Any] = map(json.loads, server.stdout or ())
            answer: dict[str, Any] = next(
                (one for one in answers if one.get("id") == _CALL), {}
            )
        finally:
            server.kill()
    if "result" not in answer:
        raise WcError(f"The demo failed at: {words} {answer.get('error', '')}")
    return clean("\n".join(p.get("text", "") for p in answer["result"]["content"]))
