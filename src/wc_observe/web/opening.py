"""``wc-observe web --open``: the one program that is ever started, by whoever
asks for it, before anything is served.

The browser's words are seen by every user of the machine, so they have no
secret in them: a ticket instead, which opens the page once.
"""

from __future__ import annotations

import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_in_browser(url: str, env: Mapping[str, str]) -> str:
    """Show an address in the browser; returns what to say where there is no
    screen, or no browser, to do it with."""
    screen = (
        sys.platform == "darwin" or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    )
    if not screen and not env.get("BROWSER"):
        # Else a browser in letters would take over the terminal.
        return "There is no screen here: open the address yourself."
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return "There is no browser here: open the address yourself."
    # One that stays until it is closed must not keep us from serving.
    threading.Thread(target=found.open, args=(url,), daemon=True).start()
    return ""
