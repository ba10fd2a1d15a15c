"""Remembers, for a day, that a remote takes no claims in any form, so that not every
claim has to try. ``wc doctor`` tries at once."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from wc_cli.store.localfiles import LocalFiles
from wc_cli.sync.wireerrors import DeclinedError
from wc_core.files import read_plain

if TYPE_CHECKING:
    from wc_core.layout import Layout

_SECONDS = 24 * 3600
_HINT = "Try again now: wc doctor"


class DeclinedClaims:
    """What is remembered of a remote, by a digest of it."""

    def __init__(self, layout: Layout, digest: str) -> None:
        self.layout = layout
        self.path = layout.declined_claims(digest)
        self.name = os.path.relpath(self.path, layout.local)

    def raise_again(self) -> None:
        """Raise the DeclinedError of the last day, if there was one."""
        try:
            age = abs(time.time() - os.lstat(self.path).st_mtime)
        except OSError:
            return
        text = read_plain(self.path, self.layout.root) or b""
        if age < _SECONDS:
            raise DeclinedError(os.fsdecode(text), _HINT)

    def remember(self, error: DeclinedError) -> None:
        """Remember an error, if the store has been made."""
        if os.path.isdir(self.layout.local):
            # What is written again is as old as it was.
            self.forget()
            LocalFiles(self.layout).write(self.name, os.fsencode(str(error)))

    def forget(self) -> None:
        """Let the next claim try again."""
        if os.path.lexists(self.path):
            LocalFiles(self.layout).remove(self.name)
