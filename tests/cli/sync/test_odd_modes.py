"""A push can put links and submodules anywhere: they stop no command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.cli.sync import pushes
from tests.cli.sync.pushes import THREADS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

_COMMIT = "1234567890123456789012345678901234567890"
_GITLINK, _PROGRAM, _LINK = "160000", "100755", "120000"
_PLACES = {
    "a log": f"{THREADS}/other/entries.jsonl",
    "the log of a thread that is here": f"{THREADS}/auth/entries.jsonl",
    "a meta": f"{THREADS}/auth/meta.json",
    "the folder of a thread": f"{THREADS}/other",
    "the folder of a thread that is here": f"{THREADS}/auth",
    "a file beside the threads": "graph/lib",
    "a page": "threads/auth.md",
    "the settings": "config.toml",
    "an ignore file": ".gitignore",
    "the folder for guidance": "guidance/review.md",
}
_CASES = [(m, p) for m in (_GITLINK, _PROGRAM, _LINK) for p in _PLACES.values()]
_COMMANDS = (
    ("list",),
    ("read", "auth", "--peek"),
    ("search", "passkey"),
    ("brief",),
    ("doctor",),
    ("doctor", "--repair", "--dry-run"),
    ("doctor", "--repair"),
    ("doctor",),
    ("say", "auth", "-m", "More"),
    ("sync", "--dry-run"),
    ("sync",),
    ("read", "--commits"),
)


# Each place has one of the modes here, and all of them in the long runs.
@pytest.mark.parametrize(("mode", "place"), _CASES[:: 1 if amounts.is_long() else 3])
def test_what_is_no_plain_file_stops_no_command(
    repo: Repo, tmp_path: Path, mode: str, place: str
) -> None:
    """Nothing of what is here is lost, and what is written afterwards arrives."""
    hub = pushes.new_hub(repo, tmp_path / "hub.git")
    repo.ok("new", "auth", "-m", "Use a passkey")
    repo.ok("sync")
    text = tmp_path / "text"
    text.write_text("" if mode == _PROGRAM else "../../elsewhere")
    blob = repo.machine.git("hash-object", "-w", str(text), cwd=hub)
    pushes.push(hub, {}, [(mode, _COMMIT if mode == _GITLINK else blob, place)])
    repo.ok("sync")
    for words in _COMMANDS:
        done = repo.wc(*words)
        assert "Traceback" not in done.err, (words, done)
        assert "bug" not in done.err, (words, done)
        assert done.code in {0, 9}, (words, done)
    titles = [entry["title"] for entry in repo.entries("auth")]
    assert titles == ["Use a passkey", "More"]
    assert not (repo.store / place).is_symlink()
