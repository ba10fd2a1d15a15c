"""The state of a run as that of a loop, in ``.claude/loop-state.json`` of its worktree:
everything that shows loops shows it, see `wc_core.people.activity.loops`."""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.lean import contextlib, json
from wc_core.base.times import rfc3339
from wc_core.people.activity.loops import loop_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.attention.runs.records import RunRecord
    from wc_core.ledger.git.repository import Repository

# Nobody else's file has this.
_WRITER = "wc run"
_IGNORED = "/.claude/loop-state.json"
_MAX_BYTES = 1 << 20


def write(record: RunRecord, title: str, status: str, now_ms: int) -> None:
    """Write the state of a run: ``status`` is a loop's, such as ``running`` or
    ``waiting:human``. Another loop's file stays. A failure stops no run."""
    path = loop_path(record.worktree)
    is_foreign = os.path.lexists(path) and not is_ours(record.worktree)
    if is_foreign or not os.path.isdir(record.worktree):
        return
    fields = {
        "writer": _WRITER,
        "change": record.topic,
        "task": title,
        "status": status,
        "current_iteration": record.tries,
        "started_at": rfc3339(record.started_ms),
        "terminal_pid": record.runner,
    }
    if status.startswith("waiting:"):
        fields["waiting_since"] = rfc3339(now_ms)
    # A link to a folder elsewhere is not followed.
    folder, name = os.path.split(path)
    half = f"{name}.{os.getpid()}"
    with (
        contextlib.suppress(OSError, WcError),
        durable.made_folder_handle(folder, record.worktree, flush=False) as handle,
    ):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(half, dir_fd=handle)  # a process of this number was killed
        durable.write_new(half, json.dumps(fields).encode(), handle)
        os.replace(half, name, src_dir_fd=handle, dst_dir_fd=handle)


def is_ours(worktree: str) -> bool:
    """Return whether `wc run` wrote the file in a worktree."""
    try:
        data = read_plain(loop_path(worktree), worktree, _MAX_BYTES)
        fields = json.loads(data or b"null")
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and fields.get("writer") == _WRITER


def ignore(repository: Repository) -> None:
    """Have git leave the file out of everything, in this clone."""
    path = f"{repository.common}/info/exclude"
    with contextlib.suppress(OSError):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
        if _IGNORED not in text.split("\n"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            start = "" if not text or text.endswith("\n") else "\n"
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"{start}{_IGNORED}\n")
