"""Shells, prompts and tmux: where the line that says whose move it is goes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.install.changes import Client

CLIENTS: tuple[Client, ...] = ()
