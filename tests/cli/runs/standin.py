"""A stand-in for an agent that is run for one prompt, like ``codex exec``: it does what
the title of its thread says, one word of it after the other.

``standin.py PROMPT``, where PATH has `wc` and git:

- ``work``: commits a file, ``leave``: leaves one uncommitted
- ``done``, ``ask``: passes the ball, or asks; ``review``: has Claude Code review it,
  who asks for changes once
- ``idle``: ends with the ball, ``crash``: with an error, ``limited``: with that of a
  rate limit, ``secret``: prints a variable
- ``hang``: until it is ended; ``nap``: for two seconds
- ``other``: answers another thread
- ``detach``: leaves its branch, ``vanish``: removes its worktree; ``close``: closes
  the thread
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def wc(*words: str) -> None:
    subprocess.run(["wc", *words], check=True)


def main(prompt: str) -> int:
    match = re.search(r"The ball of the thread (\S+) is yours", prompt)
    assert match, prompt
    topic = match[1]
    print(f"works on {topic}", flush=True)
    asked = re.search(r"asked for by .*:\n> (.*)", prompt)
    assert asked, prompt
    Path(os.environ["HOME"], f"prompt-{topic}").write_text(prompt)
    with Path(os.environ["HOME"], "starts").open("a") as file:
        file.write(f"{topic} {os.environ['WATERCOOLER_AGENT']} {Path.cwd().name}\n")
    words = asked[1].split()
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


ACTS: dict[str, Callable[[str], object]] = {
    "work": lambda topic: commit(topic, f"Work on {topic}"),
    "leave": lambda _: Path("left.txt").write_text("left\n"),
    "nap": lambda _: time.sleep(2),
    "hang": lambda _: time.sleep(600),
    "secret": lambda _: print(f"the key is {os.environ['SERVICE_TOKEN']}"),
    "other": lambda _: wc("ack", "other", "-m", "Wrong thread"),
    "done": lambda topic: wc("done", topic, "-m", "Finished"),
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
    "limited": ("Error: 429 Too Many Requests", 1),
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
