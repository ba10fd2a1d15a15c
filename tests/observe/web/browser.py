"""A real browser without a window, spoken to by its own protocol.

https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import contextlib
import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from websockets.sync.client import ClientConnection

SECONDS = 30.0
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-default-apps", "--mute-audio"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--hide-scrollbars"),
    # One process less to start, and nobody else's settings.
    *("--no-zygote", "--password-store=basic", "--use-mock-keychain"),
    *("--in-process-gpu", "--renderer-process-limit=1", "--disable-breakpad"),
    *("--remote-debugging-port=0", "--window-size=1280,900"),
)
_CODES = {"/": "Slash", "?": "Slash"}


class Browser:
    """A running browser; `page` opens a page of it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def page(self) -> Page:
        """A new page."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        wanted = {"targetId": target, "flatten": True}
        return Page(self, self.send("Target.attachToTarget", **wanted)["sessionId"])

    def send(self, method: str, session: str = "", /, **params: Any) -> dict[str, Any]:
        """The result of a command."""
        self._number += 1
        told: dict[str, Any] = {
            "id": self._number,
            "method": method,
            "params": params,
        }
        if session:
            told["sessionId"] = session
        self._socket.send(json.dumps(told))
        while True:
            found: dict[str, Any] = json.loads(self._socket.recv(SECONDS))
            if found.get("id") == self._number:
                assert "error" not in found, (method, found)
                return dict(found["result"])
            self.events.append(found)


class Page:
    """One page; ``asked`` are the addresses that it loaded, ``complaints`` what
    went wrong in it."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, /, **params: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **params)

    def _events(self, *methods: str) -> Iterator[dict[str, Any]]:
        for one in self._browser.events:
            if one.get("sessionId") == self._session and one["method"] in methods:
                yield one["params"]

    @property
    def asked(self) -> list[str]:
        return [
            str(one["request"]["url"])
            for one in self._events("Network.requestWillBeSent")
        ]

    @property
    def complaints(self) -> list[str]:
        return [
            json.dumps(one)
            for one in self._events("Runtime.exceptionThrown", "Log.entryAdded")
        ]

    def forgiven(self) -> list[str]:
        """What went wrong so far, which is what was to be seen."""
        found = self.complaints
        self._drop(("Runtime.exceptionThrown", "Log.entryAdded"))
        return found

    def forget(self) -> None:
        """Everything that happened so far."""
        self._browser.events.clear()

    def _drop(self, methods: tuple[str, ...]) -> None:
        events = self._browser.events
        events[:] = [
            one
            for one in events
            if one.get("sessionId") != self._session or one["method"] not in methods
        ]

    def roles(self) -> dict[str, list[str]]:
        """What a screen reader is told: the names of what has each role."""
        self.send("Accessibility.enable")
        found: dict[str, list[str]] = {}
        for node in self.send("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored"):
                role = node["role"]["value"]
                name = str(node.get("name", {}).get("value", ""))
                found.setdefault(role, []).append(" ".join(name.split()))
        self.send("Accessibility.disable")
        return found

    def open(self, url: str) -> None:
        """Load an address, and wait until its script has run."""
        # The answer may come while the page before is still there.
        self.js("window.left = true")
        self.send("Page.navigate", url=url)
        self.until("!window.left && document.readyState === 'complete'")

    def js(self, words: str) -> Any:
        """What an expression comes to."""
        told = {"returnByValue": True, "awaitPromise": True}
        found = self.send("Runtime.evaluate", expression=words, **told)
        assert "exceptionDetails" not in found, (words, found)
        return found["result"].get("value")

    def until(self, words: str, seconds: float = SECONDS) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(AssertionError):
                if self.js(f"Boolean({words})"):
                    return
            time.sleep(0.02)
        raise AssertionError((words, self.js("document.body.innerText")))

    def press(self, key: str) -> None:
        """A key, as a person presses it."""
        told: dict[str, Any] = {"key": key, "code": _CODES.get(key, key)}
        if len(key) == 1:
            told["text"] = key
        if key == "Enter":
            told |= {"text": "\r", "windowsVirtualKeyCode": 13}
        if key == "Tab":
            told |= {"windowsVirtualKeyCode": 9}
        if key == "Escape":
            told |= {"windowsVirtualKeyCode": 27}
        self.send("Input.dispatchKeyEvent", type="keyDown", **told)
        told.pop("text", None)
        self.send("Input.dispatchKeyEvent", type="keyUp", **told)

    def type(self, words: str) -> None:
        self.send("Input.insertText", text=words)

    def sized(self, width: int, height: int) -> None:
        told = {"deviceScaleFactor": 1, "mobile": width < 500}
        wanted = {"width": width, "height": height, **told}
        self.send("Emulation.setDeviceMetricsOverride", **wanted)

    def prefers(self, colours: str) -> None:
        """Light or dark, as the system of whoever looks is."""
        feature = {"name": "prefers-color-scheme", "value": colours}
        self.send("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """What is visible, or the whole page, as a PNG."""
        wanted = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            wanted["clip"] = {**size, "x": 0, "y": 0, "scale": 1}
        data = self.send("Page.captureScreenshot", **wanted)["data"]
        path.write_bytes(base64.b64decode(data))


@contextlib.contextmanager
def browsing(program: str, folder: Path, env: Mapping[str, str]) -> Iterator[Browser]:
    """A browser with a new folder for all that it keeps."""
    profile = folder / "profile"
    profile.mkdir()
    told = folder / "browser.log"
    with (
        told.open("w") as log,
        subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            env={**env, "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            with connect(_address(process, profile, told), max_size=None) as socket:
                browser = Browser(socket)
                yield browser
                with contextlib.suppress(Exception):
                    browser.send("Browser.close")
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()


def _address(process: subprocess.Popen[bytes], profile: Path, told: Path) -> str:
    end = time.monotonic() + SECONDS
    noted = profile / "DevToolsActivePort"
    while time.monotonic() < end and process.poll() is None:
        lines = noted.read_text().splitlines() if noted.is_file() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.02)
    raise AssertionError(told.read_text())
