"""Landing while ``wc run --land`` runs: what is ready is landed by ``wc land``, in a
process of its own, so that a check keeps no agent waiting.
"""

from __future__ import annotations

import os
import signal

from wc_cli.agents.runs.output import RunOutput
from wc_cli.agents.runs.process import AgentProcess
from wc_cli.ledger.store import durable
from wc_core.base.files import read_plain
from wc_core.base.lean import contextlib, json
from wc_core.base.programs import own_words
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.reading.views.rows import ThreadRow

_MAX_BYTES = 1 << 20
_LAST_LINES, _MAX_WORDS = 5, 500


class RunLanding:
    """Lands what is ready, one ``wc land`` at a time, from a ``folder`` of the
    repository."""

    def __init__(self, layout: Layout, env: Mapping[str, str], folder: str) -> None:
        self._layout = layout
        self._env = env
        self._folder = folder
        # The last entry of each thread when it was tried: it is not tried again before
        # someone has written.
        self._tried: dict[str, str] = {}
        self._process: AgentProcess | None = None
        self._is_stopped = False

    @property
    def is_at_work(self) -> bool:
        """Whether a landing has not been looked at since it began."""
        return self._process is not None

    def start(self, rows: Iterable[ThreadRow]) -> None:
        """Land the threads that are ready and were not tried; those whose branch has
        changed since the approval are named. Raises StorageError."""
        if self._process is not None:
            return
        ready = {
            row.name: row.last_id
            for row in rows
            if (row.can_land or row.has_changed)
            and self._tried.get(row.name) != row.last_id
        }
        if not ready:
            return
        self._tried |= ready
        durable.make_folder(self._layout.runs, self._layout.root, flush=False)
        words = own_words("wc_cli.start", ("land", "--all", "--json"), self._env)
        log = self._output.open()
        try:
            started = AgentProcess.start(words, self._folder, self._env, log)
        finally:
            os.close(log)
        started.release()
        self._process = started

    @property
    def _output(self) -> RunOutput:
        path = f"{self._layout.runs}/=landing"
        return RunOutput(path, self._layout.root, self._env)

    def results(self) -> Iterator[Mapping[str, Any]]:
        """Yield what became of threads, as ``wc land --json`` says it, once the landing
        has ended; a landing that was refused has an ``error``, and so has one that
        ended without an answer, unless it was stopped."""
        if self._process is None or not self._process.has_ended:
            return
        status, self._process = self._process.exit_status, None
        data, has_answer = b"", self._is_stopped
        with contextlib.suppress(OSError):
            data = read_plain(self._output.path, self._layout.root, _MAX_BYTES) or b""
        for line in data.splitlines():
            with contextlib.suppress(ValueError, TypeError, LookupError):
                fields = json.loads(line)
                if "error" in fields:
                    has_answer = True
                    yield fields
                if "landed" in fields:
                    has_answer = True
                    yield from fields["landed"]
                    yield from fields.get("skipped", ())
        if not has_answer:
            yield {"error": {"code": "NO_ANSWER", "message": self._ending(status)}}

    def _ending(self, status: int | None) -> str:
        """How a landing ended that gave no answer."""
        ended = (
            f"signal {-status}"
            if status is not None and status < 0
            else f"exit status {status}"
        )
        lines = self._output.last_lines(_LAST_LINES)
        words = f": {one_line(' / '.join(lines), _MAX_WORDS)}" if lines else ""
        return f"wc land ended without an answer ({ended}){words}"

    def stop(self) -> None:
        """Have a landing end; the branches are as they were, or it has landed."""
        if self._process is not None:
            self._is_stopped = True
            self._process.send(signal.SIGINT)
