"""Remembers for a day that a remote takes no claims, or no notes, so that not every
exchange tries it. ``wc claim`` and ``wc release`` always try."""

from __future__ import annotations

import os
import time

from wc_cli.ledger.store.localfiles import LocalFiles
from wc_cli.ledger.sync.wireerrors import DeclinedError
from wc_core.base.files import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

_SECONDS = 24 * 3600
_HINT = "The next wc claim tries again; else after a day."


class Declined:
    """The remembered error of a remote, in a file below ``.local``."""

    def __init__(self, layout: Layout, path: str) -> None:
        self.layout = layout
        self.path = path
        self.name = os.path.relpath(self.path, layout.local)

    @property
    def is_recent(self) -> bool:
        """Whether there was an error in the last day."""
        try:
            return abs(time.time() - os.lstat(self.path).st_mtime) < _SECONDS
        except OSError:
            return False

    def raise_again(self) -> None:
        """Raise the DeclinedError of the last day, if there was one."""
        if self.is_recent:
            text = read_plain(self.path, self.layout.root) or b""
            raise DeclinedError(os.fsdecode(text), _HINT)

    def remember(self, error: DeclinedError) -> None:
        """Remember an error, if the store has been made."""
        if os.path.isdir(self.layout.local):
            # Writing the error again does not change its age.
            self.forget()
            LocalFiles(self.layout).write(self.name, os.fsencode(str(error)))

    def forget(self) -> None:
        """Let the next exchange try again."""
        if os.path.lexists(self.path):
            LocalFiles(self.layout).remove(self.name)
