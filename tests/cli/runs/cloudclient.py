"""A stand-in for clients that start sessions in the cloud: it prints what Claude Code
2.1.332 and Codex 0.171 print, and its sessions really clone the remote.

``cloudclient.py PROGRAM ARGUMENT…``, where PROGRAM is ``claude`` or ``codex``. The
title of the thread says what goes wrong: ``refused``, ``silent`` (no session is named),
``hang``, ``stays`` (it does not end by itself), ``echo`` (it shows its prompt). `work`
is what then happens in the cloud.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

NOT_SIGNED_IN = (
    "Not signed in. Please run 'codex login' to sign in with ChatGPT, then re-run "
    "'codex cloud'."
)
NO_TERMINAL = "Error: --cloud requires an interactive terminal."


def cloud() -> Path:
    return Path(os.environ["HOME"], "cloud")


def git(*words: str, cwd: Path | str = ".") -> str:
    done = subprocess.run(
        ["git", *words], cwd=cwd, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def main(program: str, words: list[str]) -> int:
    cloud().mkdir(exist_ok=True)
    if program == "codex":
        return codex(words)
    if words[0] != "--cloud":
        return 2
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(NO_TERMINAL, file=sys.stderr)
        return 1
    branch = git("branch", "--show-current")
    return start("claude", words[1], branch, git("remote", "get-url", "origin"))


def codex(words: list[str]) -> int:
    with Path("error.log").open("a") as log:
        log.write("[now] startup: base_url=…\n")
    if words[:2] == ["cloud", "diff"]:
        path = cloud() / f"{words[2]}.diff"
        if not path.exists():
            text = f"Error: No diff available for task {words[2]}; it may still be"
            print(f"{text} running.", file=sys.stderr)
            return 1
        sys.stdout.buffer.write(path.read_bytes())
        return 0
    assert words[:3] == ["cloud", "exec", "--env"], words
    assert words[4] == "--branch", words
    hub = (cloud() / "hub").read_text()
    return start("codex", words[6], words[5], hub, environment=words[3])


def start(
    program: str, prompt: str, branch: str, hub: str, environment: str = ""
) -> int:
    topic = re.search(r"The ball of the thread (\S+) is yours", prompt)
    asked = re.search(r"asked for by .*:\n> (.*)", prompt)
    assert topic, prompt
    assert asked, prompt
    acts = asked[1].split()
    if "echo" in acts:
        print(prompt, flush=True)
    if "refused" in acts:
        print(NOT_SIGNED_IN, file=sys.stderr)
        return 1
    if "silent" in acts:
        print("Created.")
        return 0
    if "hang" in acts:
        time.sleep(600)
    number = len([*cloud().glob("*.json")]) + 1
    session = f"{'session_01' if program == 'claude' else 'task_e_'}{number:04}"
    fields = {"topic": topic[1], "prompt": prompt, "branch": branch, "hub": hub}
    fields |= {"program": program, "environment": environment}
    (cloud() / f"{session}.json").write_text(json.dumps(fields))
    if program == "codex":
        print(f"https://chatgpt.com/codex/tasks/{session}", flush=True)
    else:
        print(f"\x1b[2mCreated cloud session:\x1b[22m {asked[1]}")
        print(f"View: https://claude.ai/code/{session}?from=cli&m=0")
        print(f"Resume with: claude --teleport {session}", flush=True)
    if "stays" in acts:
        time.sleep(600)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
