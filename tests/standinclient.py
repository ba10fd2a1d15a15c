"""A client that can be woken, as Claude Code is: it runs a hook when a turn ends, and
takes what the hook says as its next prompt when it exits with 2.

Run as a program: ``standinclient.py INPUT WORD…`` runs the words as such a hook, with
the text INPUT as its input, and prints as JSON its exit status and what it said.
"""

from __future__ import annotations

import json
import subprocess
import sys


def main(text: str, *words: str) -> None:
    hook = subprocess.run(
        words,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    print(json.dumps([hook.returncode, hook.stdout, hook.stderr]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
