"""The threads that a ``wc run`` would start agents for and has not, with what is in the
way: a file for each ``wc run``, ``runs/<process id>.waiting`` in the private
folder."""

from __future__ import annotations

from wc_core.attention.runs import records
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout, read_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 1
_ENDING = ".waiting"
_MAX_BYTES = 1 << 20


class WaitingThreads(NamedTuple):
    """What a ``wc run``, the process ``runner`` that started at ``begin``, has not
    started: why, by topic; empty for a thread that only waits for its turn."""

    runner: int
    begin: int
    reasons: Mapping[str, str]

    def to_bytes(self) -> bytes:
        """Returns the content of its file."""
        fields = {**self._asdict(), "reasons": {**self.reasons}}
        return json.dumps({"version": VERSION} | fields).encode()


def path_of(layout: Layout, runner: int) -> str:
    """Returns the path of the file of a ``wc run``."""
    return f"{private_layout(layout).runs}/{runner}{_ENDING}"


def reasons(layout: Layout) -> dict[str, str]:
    """Returns why agents were not started by those ``wc run`` that run, by topic."""
    return {
        topic: reason
        for path in paths(layout)
        if (waiting := _load(path, layout)) is not None
        for topic, reason in waiting.reasons.items()
    }


def paths(layout: Layout) -> Iterator[str]:
    """Yields the paths of all such files."""
    private = private_layout(layout)
    try:
        names = names_in(private.runs, private.root)
    except WcError:
        return
    yield from (f"{private.runs}/{name}" for name in names if name.endswith(_ENDING))


def is_current(path: str, layout: Layout) -> bool:
    """Returns whether a file is that of a ``wc run`` that runs."""
    return _load(path, layout) is not None


def _load(path: str, layout: Layout) -> WaitingThreads | None:
    """Returns the content of a file; ``None`` if its ``wc run`` has ended, or it cannot
    be read."""
    root = private_layout(layout).root
    return read_fields(path, root, VERSION, _made, _MAX_BYTES)


def _made(fields: dict[str, Any]) -> WaitingThreads | None:
    runner, begin = int(fields["runner"]), int(fields["begin"])
    by_topic = {str(key): str(text) for key, text in fields["reasons"].items()}
    is_running = records.is_process(runner, begin)
    return WaitingThreads(runner, begin, by_topic) if is_running else None
