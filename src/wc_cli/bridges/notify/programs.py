"""Runs the programs that notify: without a shell, without input, for a short time."""

from __future__ import annotations

import os

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS = 5


class ProgramEnd(NamedTuple):
    """How a program ended: its exit status, its output, and what went wrong in words
    (empty if nothing did)."""

    code: int
    output: str = ""
    problem: str = ""


def run(words: Sequence[str], env: Mapping[str, str]) -> ProgramEnd:
    """Run a program to its end."""
    import subprocess  # 8 ms, only to notify someone

    name = os.path.basename(words[0])
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no options of others
            words,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ProgramEnd(1, problem=f"{name} did not end in {_SECONDS} s")
    except OSError as error:
        return ProgramEnd(1, problem=f"{name} cannot be run: {error.strerror}")
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        reason = f": {message}" if message else ""
        problem = f"{name} exited with {done.returncode}{reason}"
        return ProgramEnd(done.returncode, problem=problem)
    return ProgramEnd(0, done.stdout.decode(errors="replace"))
