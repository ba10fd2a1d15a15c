"""``bin/wc-statusline`` amid files, input and environment gone wrong.

A copy of it, with no ``wc-cli`` beside it: there is a kept line, and no thread.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.contract import mutants
from wc_core.attention.status.keptlines import LineRequest, encode

if TYPE_CHECKING:
    from random import Random

SCRIPT = Path(__file__).resolve().parents[2] / "bin" / "wc-statusline"
SHELLS = (
    *(["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["mksh"]),
    *(["zsh", "-f"], ["zsh", "--emulate", "sh", "-f"]),
)
# The script gives itself two of the processor's, which may take a while.
SECONDS = 50
_HUGE = 1 << 20
_OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# What the script itself says to a terminal: colours, links, and what isolates text
# that is written from right to left.
_OURS = re.compile(
    r"\033\[(?:1;33|2|31)m|\033\[0m|\033\]8;;[!-~]*\033\\|\u2068(?=[^\u2068]*\u2069)"
    r"|(?<=.)\u2069"
)

_GIT = {
    "app/.git/HEAD": "ref: refs/heads/main\n",
    "app/.git/worktrees/watercooler-app/HEAD": "ref: refs/heads/watercooler/threads\n",
    "app/.git/worktrees/watercooler-app/gitdir": "{home}/store/.git\n",
    "app/.git/worktrees/watercooler-app/commondir": "../..\n",
    "app/.git/worktrees/watercooler-app/watercooler": "{home}/store/.local\n",
    "app/.git/worktrees/fix/HEAD": "ref: refs/heads/fix\n",
    "app/.git/worktrees/fix/gitdir": "{home}/fix/.git\n",
    "app/.git/worktrees/fix/commondir": "../..\n",
    "store/.git": "gitdir: {home}/app/.git/worktrees/watercooler-app\n",
    "fix/.git": "gitdir: {home}/app/.git/worktrees/fix\n",
}
# What the line of the main worktree does not depend on to be one.
_ELSEWHERE = ("app/.git/worktrees/fix/", "fix/", "store/config.toml")


_STAMP, _KEY = "1a2b3c4d", "=main|:0.,||||||||||||"


def _line(home: Path) -> bytes:
    """The kept line of the main worktree."""
    request = LineRequest(_KEY, "", str(home / "app"), folder=str(home / "app"))
    line = "\033[1;33m🎾 you · login · 2 new\033[0m"
    return encode(f"{_STAMP}  main", request, line) or b""


class _Scene(NamedTuple):
    """What is run, and whether there must be a line."""

    words: list[str]
    env: dict[str, str]
    feed: bytes
    says: bool


class Prompt:
    """The script ends, with success, on one line at most, whatever it meets."""

    def __call__(self, random: Random, folder: Path) -> None:
        """One case, in a shell of this machine."""
        home, script = folder / "home", folder / SCRIPT.name
        shutil.rmtree(home, ignore_errors=True)
        shutil.copy(SCRIPT, script)
        victims = self._world(random, home)
        shells = [one for one in SHELLS if shutil.which(one[0])]
        shell = random.choice(shells)
        scene = _scene(random, home)
        if shell == ["mksh"] and not scene.env.get("COLUMNS", "1").isdecimal():
            # mksh itself ends where its own variable is not a number.
            del scene.env["COLUMNS"]
        done = subprocess.run(
            [*shell, str(script), *scene.words],
            cwd=home / "app",
            env=scene.env,
            input=scene.feed,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        told = (done, scene, victims)
        given_up = len(scene.feed) > _HUGE // 2 and done.returncode == -signal.SIGXCPU
        assert done.returncode == 0 or given_up, told
        assert done.stderr == b"", told
        shown = done.stdout.decode(errors="replace")
        assert shown.count("\n") == (1 if shown else 0), told
        assert not _OBEYED.search(_OURS.sub("", shown.removesuffix("\n"))), told
        if scene.says and all(one.startswith(_ELSEWHERE) for one in victims):
            assert shown.strip(), told

    def _world(self, random: Random, home: Path) -> list[str]:
        """A home folder with a repository and its store; what was mutated."""
        texts = {
            name: text.replace("{home}", str(home)).encode()
            for name, text in _GIT.items()
        }
        texts["store/.local/line/stamp"] = f"{_STAMP}\n".encode()
        texts[f"store/.local/line/{_KEY}"] = _line(home)
        victims = random.sample(sorted(texts), random.choice((0, 1, 1, 2, 4)))
        for name, data in texts.items():
            if name in victims:
                data = mutants.mutated(random, data)  # noqa: PLW2901
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        # What others have changed would be newer than the line.
        os.utime(home / f"store/.local/line/{_KEY}")
        if not random.randrange(4):
            victims += _stranger(random, home)
        return victims


def _stranger(random: Random, home: Path) -> list[str]:
    """A file among those of the prompt that nobody of ours would name so."""
    raw = mutants.text(random, 3).encode(errors="replace").replace(b"\0", b"")
    name = os.fsdecode(raw.replace(b"/", b"%")[:200]) or "x"
    name = "x" if name in {".", ".."} else name
    folder = random.choice(("line", "hot", "use"))
    path = home / "store/.local" / folder / name
    if random.randrange(3) and not path.exists():
        path.mkdir(parents=True)
        path /= f"0.{name}"
    path.parent.mkdir(exist_ok=True)
    if not path.is_dir():
        path.write_bytes(mutants.mutated(random, _line(home)))
    return [f"store/.local/{folder}/"]


def _scene(random: Random, home: Path) -> _Scene:
    """Words, environment and input."""
    options = ("--ascii", "--color=always", "--links=page", "--format={holder} {topic}")
    words = [one for one in options if not random.randrange(4)]
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    env[random.choice(("LANG", "LC_ALL"))] = random.choice(("C", "POSIX", "C.UTF-8"))
    says = not {*words} - {"--color=always"}
    for name in (
        *("WATERCOOLER_AGENT", "CLAUDECODE", "NO_COLOR"),
        *("HOME", "COLUMNS", "WATERCOOLER_DIR", "IFS", "CDPATH", "PS4", "OPENCODE"),
        *("AI_AGENT", "WATERCOOLER_SEAT"),
    ):
        if not random.randrange(6):
            raw = mutants.text(random, 4).encode(errors="replace").replace(b"\0", b"")
            env[name] = os.fsdecode(raw)
            # The line is kept for someone else, or another store.
            says = says and name in {"NO_COLOR", "HOME", "IFS", "CDPATH", "PS4"}
    feed = b""
    if not random.randrange(3):
        words.append("--stdin")
        feed = _input(random, home)
        says = False
    return _Scene(words, env, feed, says)


def _input(random: Random, home: Path) -> bytes:
    """What looks like Claude Code's JSON, or does not."""
    if not random.randrange(30):
        unit = random.choice((b"\0", b'"', b"\n", b"{", b"\\", b'{"cwd":'))
        return unit * (_HUGE // len(unit))
    place = {"cwd": "/", "workspace": {"current_dir": str(home / "fix")}, "n": 1.5}
    return mutants.mutated(random, json.dumps(place).encode())
