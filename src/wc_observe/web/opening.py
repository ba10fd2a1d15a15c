"""``wc-observe web --open``: starts the browser, the only program that it ever runs.

The browser starts before anything is served. Every user of the machine can see its
command line, so that contains a ticket that works once instead of the secret.
"""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

from wc_core.base.programs import absolute_path

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_in_browser(url: str, env: Mapping[str, str]) -> str:
    """Opens an address in the browser. Returns a message if there is no screen or
    no browser, else an empty string."""
    screen = (
        sys.platform == "darwin" or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    )
    if not screen and not env.get("BROWSER"):
        # Otherwise a text browser would take over the terminal.
        return "There is no screen: open the address yourself."
    os.environ["PATH"] = absolute_path(env)
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return "No browser was found: open the address yourself."
    # Some browsers block until they are closed; the server must not wait for that.
    threading.Thread(target=browser.open, args=(url,), daemon=True).start()
    return ""
