"""What is taken for a target is what a real shell changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests import amounts
from wc_core.edits.guard import shell

BASH = shutil.which("bash")
DEPTH = 4
NAMES = ("a", "./b", "src/a", "../b", "'a'", '"src/b"', "$x", "src/$y")
# All of these succeed, wherever they are run.
WRITES = (
    *("echo 1 > {}", "echo 1 >> {}", "tee {} < /dev/null", "sed -i s/^/1/ {}", ">{}"),
    *("rm -f {}", "mv -f {} ./c", "mv {} src", "cat {} >& ./c", "touch {} 2>&1"),
)
MOVES = ("cd src", "cd ..", "cd $d", "cd .", "true")
QUOTED = (
    "echo 'rm a'",
    'echo "echo 1 > a"',
    "cat <<'E'\necho 1 > a\nE\n",
    "[[ b > a ]]",
)
FORMS = (
    *("( {} )", "{{ {}; }}", "if {}; then :; fi", "if true; then {}; fi"),
    *("for i in 1 2; do {}; done", "case 1 in 1) {};; esac", "f() {{ {}; }}"),
    *("x=(echo 1 \\> a); {}", "! ! {}", "eval '{}'", "case 2 in (1) {};; esac"),
)
JOINED = ("{}; {}", "{} && {}", "{} | {}", "{} & {}", "{}\n{}")


def _simple() -> st.SearchStrategy[str]:
    write = st.builds(str.format, st.sampled_from(WRITES), st.sampled_from(NAMES))
    return write | st.sampled_from(MOVES) | st.sampled_from(QUOTED)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    wrapped = st.builds(str.format, st.sampled_from(FORMS), inner)
    return wrapped | st.builds(str.format, st.sampled_from(JOINED), inner, inner)


def _tree(top: Path) -> Path:
    """Nested folders with files; the one in the middle."""
    folder = top
    for _ in range(2 * DEPTH):
        folder /= "src"
        folder.mkdir()
        for name in ("a", "b"):
            (folder / name).write_text(f"{len(folder.parts)}{name}\n")
    return top.joinpath(*["src"] * DEPTH)


def _contents(top: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in top.rglob("*") if path.is_file()}


@pytest.mark.skipif(BASH is None, reason="NO BASH")
@settings(max_examples=amounts.examples(60), deadline=None)
@given(command=st.recursive(_simple(), _larger, max_leaves=6))
def test_targets_are_really_changed(command: str) -> None:
    assert BASH is not None
    with tempfile.TemporaryDirectory() as root:
        top = Path(os.path.realpath(root))
        cwd = _tree(top)
        before = _contents(top)
        targets = shell.targets(command, str(cwd))
        env = {"PATH": os.environ["PATH"], "x": "a", "y": "b", "d": "src"}
        script = f"{command}\nwait"
        done = subprocess.run(
            [BASH, "-c", script],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=30,
        )
        if done.stderr:  # a part of it failed, so the rest may not have run
            return
        after = _contents(top)
        changed = {
            path
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)
        }
        event(f"targets: {min(len(targets), 3)}")
        assert set(targets) <= changed, done
