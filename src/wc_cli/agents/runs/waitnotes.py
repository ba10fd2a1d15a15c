"""What a ``wc run`` has not started, and why, for all who show threads: a file of its
process, which `wc_core.attention.runs.waiting` reads."""

from __future__ import annotations

import os

from wc_cli.agents.runs import writing
from wc_cli.ledger.store import durable
from wc_core.attention.runs import waiting
from wc_core.attention.runs.waiting import WaitingThreads
from wc_core.base import processes
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout


class WaitNotes:
    """The notes of this process, in the store of a ``layout``. A failure stops no
    run."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = waiting.path_of(layout, os.getpid())
        self._noted: Mapping[str, str] = {}

    def write(self, reasons: Mapping[str, str]) -> None:
        """Note the reasons, by topic, if they have changed."""
        if reasons == self._noted:
            return
        self._noted = reasons
        pid = os.getpid()
        noted = WaitingThreads(pid, processes.started(pid) or 0, reasons)
        with contextlib.suppress(WcError):
            root = writing.made_folder(self._layout).root
            durable.replace(self._path, noted.to_bytes(), root)

    def remove(self) -> None:
        """Remove them, and those of a ``wc run`` that was killed."""
        for path in waiting.paths(self._layout):
            if path == self._path or not waiting.is_current(path, self._layout):
                with contextlib.suppress(WcError):
                    durable.remove(path, private_layout(self._layout).root)
