"""Handles keys that are typed faster than dialogs open.

Textual forwards a key to the widget that has the focus at that moment; it comes back to
the app if no widget wants it. Keys that follow one that opens a dialog would still go
to the board, or to the dialog before its field has the focus.
"""

from __future__ import annotations

import asyncio
from collections import deque

from textual import events
from textual.app import App

TYPE_CHECKING = False
if TYPE_CHECKING:
    from textual.dom import DOMNode

# After this many seconds, a key is handled even if the one before it still is.
_PATIENCE = 3.0


class TypeAheadApp(App[None]):
    """An application in which each key waits until the one before it has been handled,
    and until the screen that it opened is ready for keys. ^C doesn't wait."""

    def __init__(self) -> None:
        super().__init__(ansi_color=True)
        self._typed: deque[events.Event] = deque()
        self._is_typing = False

    async def on_event(self, event: events.Event) -> None:
        """Let a key wait for its turn."""
        is_typed = isinstance(event, events.Key | events.Paste)
        if not is_typed or event.is_forwarded or _interrupts(event):
            await super().on_event(event)
            return
        self._typed.append(event)
        if not self._is_typing:
            self._is_typing = True
            self.run_worker(self._forward_typed())

    async def _forward_typed(self) -> None:
        """Forward the waiting keys one by one."""
        try:
            while self._typed:
                target = self.focused or self.screen
                await super().on_event(self._typed.popleft())
                try:
                    async with asyncio.timeout(_PATIENCE):
                        await _all_handled(target)
                        # The key's effects: a field sends its text, a new screen is
                        # mounted and gives a widget the focus.
                        await _all_handled(self.focused or self.screen)
                except TimeoutError:
                    continue
        finally:
            self._is_typing = False


def _interrupts(event: events.Event) -> bool:
    return isinstance(event, events.Key) and event.key == "ctrl+c"


async def _all_handled(node: DOMNode) -> None:
    """Wait until a node, and then all its ancestors up to the app, have handled their
    messages: the way of a key that nobody stops."""
    handled = asyncio.Event()
    _follow(node, handled)
    await handled.wait()


def _follow(node: DOMNode | None, handled: asyncio.Event) -> None:
    # A node that is closing takes no more messages.
    if node is None or not node.call_later(_follow, node.parent, handled):
        handled.set()
