"""What anyone who may push the branch of the threads can put there with git alone."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from wc_core.base.layout import BRANCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tests.conftest import Machine, Repo

THREADS = "graph/baseline/threads"
_PERSON = "x <x@example.org> 1767225600 +0000"


def new_hub(repo: Repo, path: Path) -> Path:
    """A bare repository with a person's code, as their remote."""
    repo.machine.git("init", "-q", "--bare", "-b", "main", str(path), cwd=path.parent)
    repo.git("remote", "add", "origin", str(path))
    repo.git("push", "-q", "origin", "HEAD:main")
    return path


def clone(machine: Machine, hub: Path, name: str) -> Path:
    """Another clone of the hub, without a store. Returns its folder."""
    path = machine.root / name
    machine.git("clone", "-q", str(hub), str(path), cwd=machine.root)
    return path


def push(
    hub: Path,
    files: Mapping[str, Iterable[bytes]],
    items: Iterable[tuple[str, str, str]] = (),
) -> str:
    """Put a commit on the hub's branch of the threads, with these files, each in
    pieces, and ``items``: each a mode, an object, and a path. Returns the commit."""
    words = ["git", "-C", str(hub), "fast-import", "--quiet", "--done"]
    ref = f"refs/heads/{BRANCH}"
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        write = process.stdin.write
        write(f"commit {ref}\ncommitter {_PERSON}\ndata 1\nx\n".encode())
        write(f"from {ref}^0\n".encode())
        for path, pieces in files.items():
            write(f"M 100644 inline {path}\ndata <<END-OF-FILE\n".encode())
            for piece in pieces:
                write(piece)
            write(b"\nEND-OF-FILE\n\n")
        for mode, name, path in items:
            write(f"M {mode} {name} {path}\n".encode())
        write(b"\ndone\n")
    assert process.returncode == 0
    done = subprocess.run(
        ["git", "-C", str(hub), "rev-parse", ref], capture_output=True, check=True
    )
    return done.stdout.decode().strip()
