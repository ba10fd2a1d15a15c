"""What a reader costs when its input doubles: ``python -m tests.contract.growth``.

No test, as times depend on the machine: half a megabyte of each thing that could
be taken for structure, and a whole one. What costs four times as much is quadratic.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from wc_core.base.text import clean, one_line
from wc_core.ledger.git import config
from wc_core.ledger.threads import codec, folding, projections
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.pages import page

if TYPE_CHECKING:
    from collections.abc import Callable

UNITS = (
    *(
        "<!--",
        "-->",
        "\\",
        "---\n",
        "Entry: a b\n",
        "---\nEntry: a b\n",
        "```\n",
        "~~~ x\n",
    ),
    *(
        "<!-- Entry-ID: x -->\n",
        "<!-- wc {",
        "<!-- wc {} -->\n",
        "Title: x\n",
        " ",
        "\n",
    ),
    *(
        "\x1b[",
        "\x1b]",
        "\x1b]0;x",
        "\x9b0",
        "\x1b ",
        "\r",
        "\u2028",
        "[",
        "{",
        '"',
        '\\"',
    ),
    *(
        '{"entry_id":',
        '{"entry_id":"x"}\n',
        "[a]\n",
        "a=\\\n",
        "b = x ; c\n",
        "\0",
        "é",
    ),
    *("---\nEntry: a\n\n```\n", "\\---\nEntry: x\n", "# x — Thread\n", "\\<!-- wc \n"),
)
SIZE = 1 << 19
_QUADRATIC = 3.4
_LITTLE = 0.3


def _page(text: str) -> None:
    one = Entry("0" * 26, "t", "a", "b", body=text)
    page.parse("t", page.render(folding.fold("t", [one]), [one]))


READERS: dict[str, Callable[[str], object]] = {
    "page": lambda text: page.parse("t", text.encode()),
    "old page": lambda text: page.parse(
        "t", f"# t\n\n---\nEntry: a\n\n{text}".encode()
    ),
    "body": _page,
    "log": lambda text: codec.read_log("t", text.encode()),
    "sorted log": lambda text: codec.partition_lines("t", text.encode()),
    "meta": lambda text: projections.read_meta("t", text.encode()),
    "clean": clean,
    "one line": one_line,
    "git config": lambda text: list(config.parse(text)),
}


def _seconds(read: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    read(text)
    return time.process_time() - begin


def main() -> None:
    """Measure everything; exit 1 if anything is quadratic."""
    worst, bad = 0.0, 0
    for name, read in READERS.items():
        for unit in UNITS:
            text = unit * (SIZE // len(unit))
            once = _seconds(read, text)
            if once < _LITTLE:
                worst = max(worst, once)
                continue
            twice = _seconds(read, text * 2)
            worst = max(worst, once)
            if twice > once * _QUADRATIC:
                bad += 1
                print(f"{name}, {unit!r}: {once:.2f} s, twice as much {twice:.2f} s")
    print(
        f"{len(READERS) * len(UNITS)} pairs, the slowest {worst:.2f} s, {bad} quadratic"
    )
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
