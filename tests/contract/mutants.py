"""Bytes that something happened to, and text nobody would write in good faith."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wc_core.base import ulid
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.model import Ball, Base, Entry
from wc_core.ledger.threads.pages import page as markdown

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
START_MS = 1_767_225_600_000

# Pieces that mean something to one of our readers, or to a terminal.
PIECES = (
    *("\x00", "\x07", "\x1b", "\x1b[31m", "\x1b[2J\x1b[H", "\x1b]0;owned\x07"),
    *("\x1b]8;;http://example.org\x1b\\", "\x1b]52;c;cm0gLXJm\x07", "\x1bP1$r", "\x9c"),
    *("\x7f", "\x85", "\x9b31m", "\x9dx\x9c", "\u202e", "\u2066", "\u2069", "\u200f"),
    *("\u2028", "\u2029", "\ufeff", "\U000e0041", "\ud800", "\udcff", "a\u0301" * 30),
    *("\r", "\r\n", "\n", "\n\n", "\t", " ", "  \n", "\v", "\f", "\x1c", "\x1e"),
    *("\\", "\\" * 9, '"', "'", "`", "$(id)", "%", "%2E%2E", "%00", "..", "../", "/"),
    *("{", "}", "[", "]", "[" * 120, "{}", "null", "true", ":", ",", "{" * 3),
    *("9" * 30, "1e999", "-1", "NaN", "Infinity", "9" * 5000, "\\ud800", "\\u0000"),
    *("\n---\n", "\n---\nEntry: ", "Entry: Boss 2026-01-01T00:00:00Z\n", "\\---\n"),
    *(
        "<!--",
        "-->",
        "\n<!-- Entry-ID: ",
        " -->\n",
        "\n<!-- wc {",
        "\n<!-- wc closed {",
    ),
    *("Role: ", "Type: ", "Title: ", "Status: ", "Ball: ", "# x — Thread\n", "```\n"),
    *('"entry_id":', '"body":', '"ball":', '"status":"CLOSED"', '"parents":', '"wc":'),
    *("[include]\npath=", "[user]\nname=", "ref: refs/heads/", "gitdir: ", "[core]"),
    *(
        "ß",
        "ẞ",
        "İ",
        "\u0131",
        "ﬁ",
        "e\u0301",
        "é",
        "K",
        "日本",
        "🎾",
        "ǅ",
        "ς",
        "\u0345",
    ),
)
_RAW = (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5", b"\x80", b"\xe2\x80", b"\xc2")


def text(random: Random, most: int = 8) -> str:
    """A few pieces and ordinary letters; it may have lone surrogates."""
    return "".join(
        random.choice(PIECES) if random.random() < 0.6 else _letters(random)
        for _ in range(random.randint(0, most))
    )


def _letters(random: Random) -> str:
    return "".join(random.choice("abc XYZ-_.019é") for _ in range(random.randint(1, 9)))


def plain(random: Random, most: int = 8) -> str:
    """The same without what no UTF-8 can hold."""
    return text(random, most).encode(errors="ignore").decode()


def entry(random: Random, step: int) -> Entry:
    """An entry as a hostile tool would write it."""

    def some(value: Any, nothing: Any) -> Any:
        return value if random.randrange(3) else nothing

    at = (START_MS + step * 1000) << ulid.RANDOM_BITS
    ball = Ball(some(plain(random) or "x", None))
    base = Base(plain(random), plain(random), some(plain(random), None), plain(random))
    return Entry(
        id=some(ulid.encode(at + random.randrange(9)), plain(random) or "x"),
        topic="t",
        agent=plain(random),
        at=some("2026-01-01T12:00:00Z", plain(random)),
        title=plain(random),
        body=plain(random, 30),
        role=some("", plain(random)),
        type=some("Note", plain(random)),
        action=some("say", plain(random)),
        ball=some(None, ball),
        status=some(None, plain(random) or "x"),
        parents=some(None, tuple(plain(random) for _ in range(2))),
        base=some(None, base),
        key=plain(random),
        reason=plain(random),
        code_branch=plain(random),
        extra=some({}, {f"x{plain(random)}": [plain(random), {"k": None}]}),
    )


def entries(random: Random, most: int = 6) -> list[Entry]:
    """A thread of such entries."""
    return [entry(random, step) for step in range(random.randint(1, most))]


def log(random: Random) -> bytes:
    """A log: ours, or a piece of a real one."""
    if real_logs() and random.randrange(3) == 0:
        lines = random.choice(real_logs())
        start = random.randrange(len(lines))
        return b"".join(lines[start : start + random.randint(1, 8)])
    made = entries(random)
    return b"".join(codec.to_line(one, index) for index, one in enumerate(made))


def page(random: Random) -> bytes:
    """A page: ours, an older tool's, or nothing but pieces of pages."""
    kind = random.randrange(4)
    if kind == 0:
        return text(random, 60).encode(errors="replace")
    if kind == 1 and real_pages():
        return random.choice(real_pages())
    made = entries(random)
    if kind == 2:
        blocks = [f"---\nEntry: {one.agent} {one.at}\n\n{one.body}\n" for one in made]
        return "\n".join(["# t — Thread", "Status: open", "", *blocks]).encode()
    return markdown.render(folding.fold("t", made), made)


@functools.cache
def real_logs() -> list[list[bytes]]:
    """The logs of real stores; none where they are not at hand."""
    bundle = DATA / "real-threads.bundle"
    if not bundle.is_file():
        return []
    with tempfile.TemporaryDirectory() as folder:
        words = ["git", "clone", "-q", "--branch", "sample", str(bundle), "store"]
        subprocess.run(words, cwd=folder, check=True, env=dict(os.environ))
        found = sorted(Path(folder).glob("store/graph/**/entries.jsonl"))
        logs = [one.read_bytes().splitlines(keepends=True) for one in found]
    return [[line for line in one if len(line) < 1 << 16] for one in logs if one]


@functools.cache
def real_pages() -> list[bytes]:
    """Pages of the markdown age."""
    found = (one.read_bytes() for one in sorted(DATA.glob("old-markdown/*.md")))
    return [one for one in found if len(one) < 1 << 15]


# --- what happens to bytes ---------------------------------------------------


def _flip(random: Random, data: bytearray, at: int) -> None:
    data[at] ^= 1 << random.randrange(8)


def _cut(random: Random, data: bytearray, at: int) -> None:
    del data[at : at + random.randint(1, 40)]


def _truncate(_: Random, data: bytearray, at: int) -> None:
    del data[at:]


def _repeat(random: Random, data: bytearray, at: int) -> None:
    data[at:at] = data[at : at + random.randint(1, 200)] * random.randint(1, 4)


def _insert(random: Random, data: bytearray, at: int) -> None:
    piece = random.choice(PIECES).encode(errors="surrogatepass")
    data[at:at] = random.choice((piece, random.choice(_RAW), random.randbytes(4)))


def _overwrite(random: Random, data: bytearray, at: int) -> None:
    piece = random.choice(PIECES).encode(errors="replace")
    data[at : at + len(piece)] = piece


def _splice(random: Random, data: bytearray, at: int) -> None:
    other = random.randrange(len(data))
    data[at:at] = data[other : other + random.randint(1, 300)]


def _lines(random: Random, data: bytearray, _: int) -> None:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    line = lines[one]
    lines[one] = random.choice((lines[other], bytearray(), line * 2, line[::-1]))
    data[:] = b"\n".join(map(bytes, lines))


def _number(random: Random, data: bytearray, at: int) -> None:
    """The next digit becomes a number of another size."""
    digit = next((n for n in range(at, len(data)) if 48 <= data[n] <= 57), -1)
    if digit >= 0:
        data[digit : digit + 1] = random.choice((b"-1", b"1e999", b"9" * 25, b"0.5"))


_HAPPENINGS: tuple[Callable[[Random, bytearray, int], None], ...] = (
    *(_flip, _cut, _truncate, _repeat, _insert, _overwrite, _splice, _lines, _number),
)


def mutated(random: Random, data: bytes) -> bytes:
    """``data`` after one accident or several; now and then something else
    altogether."""
    if random.randrange(40) == 0:
        return random.randbytes(random.randint(0, 300))
    result = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        if not result:
            result += b"\n"
        random.choice(_HAPPENINGS)(random, result, random.randrange(len(result)))
    return bytes(result)


def as_json(random: Random, value: Any) -> bytes:
    """JSON of a value, mutated."""
    return mutated(random, json.dumps(value, indent=random.choice((None, 1))).encode())
