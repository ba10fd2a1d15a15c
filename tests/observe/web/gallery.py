"""Pictures of every page, at three widths, light and dark, and what axe finds:
``python -m tests.observe.web.gallery FOLDER [--docs]``.

Serves the repository of `tests.observe.web.story` and writes a PNG of each page into
FOLDER. With ``--docs`` it also draws the pictures of the documentation. Exits with 1 if
axe finds a violation, or a page is wider than its window.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.clients import installing
from tests.observe.web import browsers, story
from tests.observe.web.browser import browsing
from tests.observe.web.served import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.observe.web.browser import Page

WIDTHS = ((1440, 900), (900, 900), (390, 844))
THEMES = ("light", "dark")
# The name of each page and its address below the secret. ``~`` is another server.
PAGES = {
    "board": "",
    "board-filtered": "?filter=passkey",
    "inbox": "inbox",
    "threads": "threads",
    "threads-none": "threads?filter=nothing-like-that",
    "thread": "threads/login",
    "thread-blocked": "threads/schema",
    "thread-wide": "threads/webhooks",
    "entry": "threads/login/1",
    "search": "search?q=challenge",
    "search-some": "search?q=challenge+replay+needle",
    "search-narrowed": "search?q=challenge&author=Codex%40review+(pat)",
    "search-form": "search",
    "search-none": "search?q=xylophone",
    "edits": "edits",
    "missing": "threads/logn",
    "empty": "~",
}
DOCS = Path(__file__).resolve().parents[3] / "docs"
_AXE = Path(__file__).parent / "chromium"
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


class Gallery(NamedTuple):
    """A browser's page, the address of the repository, and that of a folder without a
    store."""

    page: Page
    url: str
    empty: str
    axe: str

    def open(self, name: str) -> None:
        """Open a page, and wait until it is live."""
        path = PAGES[name]
        base = self.empty if path == "~" else self.url
        self.page.open(base + path.removeprefix("~"))
        self.page.until("document.querySelector('#live')?.dataset.was === 'live'")

    def violations(self) -> list[dict[str, Any]]:
        """What axe finds on the page that is open: rules, and where."""
        self.page.js(self.axe)
        run = f"axe.run({{runOnly: {json.dumps(_RULES)}}}).then(r => r.violations)"
        return [
            {
                "rule": found["id"],
                "nodes": [node["html"][:160] for node in found["nodes"][:3]],
            }
            for found in self.page.js(run)
        ]

    def too_wide(self) -> int:
        """How many pixels the page is wider than its window."""
        return int(self.page.js("document.documentElement.scrollWidth - innerWidth"))


@contextlib.contextmanager
def gallery(folder: Path) -> Iterator[Gallery]:
    """Serve the story in a browser."""
    program = browsers.found()
    axe = installing.locked("browser", _AXE, browsers.unpacked).folder
    script = (axe / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
    shop, env = story.build(folder / "story")
    nothing = folder / "nothing"
    nothing.mkdir()
    with (
        serving(shop, env, "--port", "0", "--all") as full,
        serving(nothing, env, "--port", "0") as empty,
        browsing(program.path, folder, program.env) as browser,
    ):
        yield Gallery(browser.page(), full.url, empty.url, f"{script};0")


def main() -> None:
    """Take the pictures."""
    pictures = Path(sys.argv[1])
    names = [word for word in sys.argv[2:] if not word.startswith("-")] or [*PAGES]
    pictures.mkdir(parents=True, exist_ok=True)
    problems = []
    with tempfile.TemporaryDirectory() as folder, gallery(Path(folder)) as shown:
        for width, height in WIDTHS:
            for theme in THEMES:
                shown.page.sized(width, height)
                shown.page.prefers(theme)
                for name in names:
                    shown.open(name)
                    shown.page.picture(
                        pictures / f"{name}-{width}-{theme}.png", whole=True
                    )
                    where = f"{name} {width} {theme}"
                    problems += [f"{where}: {found}" for found in shown.violations()]
                    if excess := shown.too_wide():
                        problems.append(f"{where}: {excess} px too wide")
        if "--docs" in sys.argv:
            draw_docs(shown)
    sys.stdout.write("\n".join([*problems, f"{len(problems)} problems\n"]))
    raise SystemExit(bool(problems))


def draw_docs(shown: Gallery) -> None:
    """The pictures in docs/seeing.md."""
    shown.page.prefers("light")
    shown.page.sized(1280, 800)
    for name, file in (("board", "web.png"), ("thread", "web-thread.png")):
        shown.open(name)
        shown.page.picture(DOCS / file)


if __name__ == "__main__":
    main()
