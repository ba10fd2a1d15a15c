"""A stand-in for an agent that is run for one prompt, like ``codex exec``: it does what
the title of its thread says, one word of it after the other.

``standin.py PROMPT``, where PATH has git:

- ``work``: commits a file, ``leave``: leaves one uncommitted
- ``done``, ``ask``: passes the ball, or asks; ``call``: passes it with the `wc` in
  PATH; ``review``: has Claude Code review it, who asks for changes once
- ``idle``: ends with the ball, ``crash``: with an error, ``limited``: with that of a
  rate limit, ``refuse``: with that of a permission, ``die``: by a signal, ``silent``:
  without a word; ``secret``: prints a variable and tokens
- ``hang``: until it is ended; ``wait``: until ``~/go`` exists; ``flood``: prints 10 MB
- ``daemon``: leaves two programs running, one of them in a session of its own
- ``other``: answers another thread
- ``detach``: leaves its branch, ``vanish``: removes its worktree; ``close``: closes
  the thread
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def wc(*words: str) -> None:
    """Run wc in this process: a start takes longer than what it does."""
    from wc_cli.run import main

    assert main.run(words) == 0, words


def main(prompt: str) -> int:
    match = re.search(r"The ball of the thread (\S+) is yours", prompt)
    assert match, prompt
    topic = match[1]
    asked = re.search(r"asked for by .*:\n> (.*)", prompt)
    assert asked, prompt
    Path(os.environ["HOME"], f"prompt-{topic}").write_text(prompt)
    with Path(os.environ["HOME"], "starts").open("a") as file:
        file.write(f"{topic} {os.environ['WATERCOOLER_AGENT']} {Path.cwd().name}\n")
    words = asked[1].split()
    if words != ["silent"]:
        print(f"works on {topic}", flush=True)
    if "review" in words and os.environ["WATERCOOLER_AGENT"] == "Claude Code":
        words = ["approve" if "Changed as asked" in prompt else "changes"]
    for word in words:
        if word in CRASHES:
            return crash(*CRASHES[word])
        ACTS[word](topic)
    return 0


def commit(topic: str, title: str) -> None:
    Path(f"{topic}.txt").write_text(f"{title}\n")
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", title], check=True)


def review(topic: str) -> None:
    title = "Changed as asked" if Path(f"{topic}.txt").exists() else "Please review"
    commit(topic, title)
    wc("say", topic, "-m", title, "--to", "Claude Code", "--force")


def crash(words: str, code: int) -> int:
    print(words, file=sys.stderr)
    return code


def daemon(_: str) -> None:
    inner = subprocess.Popen(["sleep", "600"])
    Path(os.environ["HOME"], "inner").write_text(f"{inner.pid}")
    wait = 'for n in $(seq 600); do [ -e "$HOME/go" ] && break; sleep 0.05; done'
    words = f'{wait}; echo late; touch "$HOME/late"'
    subprocess.Popen(["sh", "-c", words], start_new_session=True)


def wait(_: str) -> None:
    end = time.monotonic() + 30
    while not Path(os.environ["HOME"], "go").exists() and time.monotonic() < end:
        time.sleep(0.02)


def flood(_: str) -> None:
    for number in range(1300):
        print(f"{number} " * 2000)


# In forms that are hidden; none of them was ever valid.
SECRETS = (
    f"the key is {os.environ.get('SERVICE_TOKEN')}",
    f"git clone https://pat:{'sesame'}@example.com/app.git",
    f"Authorization: Bearer {'sesame' * 4}",
    f"ghp_{'sesame1' * 5}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{'sesame' * 9}\n-----END RSA PRIVATE KEY-----",
)

ACTS: dict[str, Callable[[str], object]] = {
    "work": lambda topic: commit(topic, f"Work on {topic}"),
    "leave": lambda _: Path("left.txt").write_text("left\n"),
    "wait": wait,
    "hang": lambda _: time.sleep(600),
    "secret": lambda _: print("\n".join(SECRETS), flush=True),
    "silent": lambda _: None,
    "die": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "flood": flood,
    "daemon": daemon,
    "other": lambda _: wc("ack", "other", "-m", "Wrong thread"),
    "done": lambda topic: wc("done", topic, "-m", "Finished"),
    "call": lambda topic: subprocess.run(
        ["wc", "done", topic, "-m", "Finished"], check=True
    ),
    "ask": lambda topic: wc("ask", topic, "-m", "Which one?", "--to", "Pat"),
    "review": review,
    "changes": lambda topic: wc(
        *("say", topic, "-m", "Not yet", "--request-changes", "--to", "Codex")
    ),
    "approve": lambda topic: wc("say", topic, "--approve", "--to", "Pat"),
    "detach": lambda _: subprocess.run(
        ["git", "checkout", "-q", "--detach"], check=True
    ),
    "vanish": lambda _: shutil.rmtree(Path.cwd()),
    "close": lambda topic: wc("close", topic, "-m", "Closed"),
    "idle": lambda _: print("nothing to do"),
}
CRASHES = {
    "crash": ("it broke", 3),
    "refuse": ("Permission to use Bash has been denied.", 1),
    "limited": ("Error: 429 Too Many Requests", 1),
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
